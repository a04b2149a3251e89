// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/masks/dense_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "graph/masks/handlers.h"
#include "graph/masks/sources.h"
#include "graph/passes/dead_code.h"

namespace leapp::graph {
namespace {

using masks::Rewriter;
using masks::RowSpace;

/// Their first operand is what they change; the others have no say in the shape.
constexpr std::array<std::string_view, 8> kWrites = {"aten::index_put",      "aten::index_copy", "aten::index_add",
                                                     "aten::index_fill",     "aten::scatter",    "aten::scatter_add",
                                                     "aten::masked_scatter", "aten::masked_fill"};

bool writes(const Node& node) { return std::find(kWrites.begin(), kWrites.end(), node.op()) != kWrites.end(); }

/// Values as many as a mask is true, written where it is.
bool puts_as_many_as_a_mask_chooses(const Node& node) {
  if (node.op() != "aten::index_put") return false;
  const std::vector<Value*> indices = masks::tensors(node, "indices");
  const Value* values = masks::tensor(node, "values");
  if (indices.size() != 1 || !masks::is_mask(indices[0]) || indices[0]->kind() == ValueKind::kConstant) return false;
  const std::int64_t after = masks::rank_of(masks::tensor(node, "self")) - masks::rank_of(indices[0]);
  const std::int64_t dim = masks::rank_of(values) - 1 - after;
  return dim >= 0 && masks::size_at(values, dim) != 1;
}

class DenseRows {
 public:
  explicit DenseRows(Graph& graph) : graph_(graph), writer_(graph) {}

  bool run(std::vector<DataLength>* found) {
    for (auto position = graph_.nodes().begin(); position != graph_.nodes().end(); ++position) visit(position->get());
    for (const Output& output : graph_.outputs()) {
      const masks::MaskedRows* of = writer_.rows(output.value);
      if (of != nullptr) writer_.give_up(*of->space, fmt::format("its rows are the output '{}'", output.name), {});
    }
    report(found);
    const bool changed = writer_.finish();
    // What was written for nothing is no change.
    eliminate_dead_code(graph_);
    return changed;
  }

 private:
  void visit(Node* node) {
    const bool source = masks::depends_on_data(*node);
    if (source) sources_.push_back(node);
    const std::vector<RowSpace*> spaces = writer_.spaces_of(*node);
    const bool lost =
        std::any_of(spaces.begin(), spaces.end(), [&](const RowSpace* s) { return writer_.given_up(*s); });
    if (lost) return give_up(spaces, *node, "other rows that it works on have none");
    if (!source && spaces.empty() && !puts_as_many_as_a_mask_chooses(*node)) return;
    writer_.set_node(node);
    const Status done = written(*node, spaces.size());
    if (done.ok()) return note_spaces(*node, spaces);
    failed_[node] = done.message();
    give_up(spaces, *node, done.message());
  }

  Status written(const Node& node, std::size_t spaces) {
    const masks::MaskFunction handler = masks::find_handler(node);
    if (handler == nullptr) return unimplemented("nothing is known about what it does to rows");
    const bool mixes = handler == masks::read_rows || handler == masks::write_rows;
    if (spaces > 1 && !mixes) return unimplemented("it combines rows that different masks chose");
    for (const Value* input : node.inputs()) {
      const masks::MaskedRows* of = writer_.rows(input);
      const bool written = node.op() == "aten::index_put" && input == masks::tensor(node, "values");
      if (of != nullptr && of->dropped && !written) return unimplemented("its shape mixes rows with other dimensions");
    }
    return handler(writer_);
  }

  /// Spaces that meet in an operator hold or fall together.
  void note_spaces(const Node& node, const std::vector<RowSpace*>& spaces) {
    for (const auto& result : node.results()) {
      const masks::MaskedRows* of = writer_.rows(result.get());
      if (of != nullptr && masks::depends_on_data(node)) made_[&node] = of->space;
    }
    for (std::size_t i = 1; i < spaces.size(); ++i) writer_.join_groups(*spaces[0], *spaces[i]);
  }

  void give_up(const std::vector<RowSpace*>& spaces, const Node& node, const std::string& why) {
    for (const RowSpace* space : spaces)
      writer_.give_up(*space, fmt::format("{}: {}", node.qualified_name(), why), node.location());
  }

  void report(std::vector<DataLength>* found) const {
    for (const Node* source : sources_) {
      if (found == nullptr) break;
      DataLength length{source->qualified_name(), source->location(), 0, "", {}};
      const auto made = made_.find(source);
      if (const auto failed = failed_.find(source); failed != failed_.end()) {
        length.why = failed->second;
        length.there = source->location();
      } else if (made != made_.end()) {
        length.length = made->second->length;
        if (const Rewriter::Failure* failure = writer_.failure(*made->second)) {
          length.why = failure->why;
          length.there = failure->where;
        }
      } else {
        length.why = "other rows that it works on have no dense form";
        length.there = source->location();
      }
      found->push_back(std::move(length));
    }
  }

  Graph& graph_;
  Rewriter writer_;
  std::vector<const Node*> sources_;
  std::unordered_map<const Node*, const RowSpace*> made_;
  std::unordered_map<const Node*, std::string> failed_;
};

}  // namespace

bool has_data_lengths(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) {
    return masks::depends_on_data(*node) || puts_as_many_as_a_mask_chooses(*node);
  });
}

bool write_rows_densely(Graph& graph, std::vector<DataLength>* found) {
  return has_data_lengths(graph) && DenseRows(graph).run(found);
}

std::vector<const Node*> outputs_of_data_length(const Graph& graph) {
  std::unordered_map<const Value*, const Node*> because;
  for (const auto& node : graph.nodes()) {
    const Node* source = masks::depends_on_data(*node) ? node.get() : nullptr;
    // A shape that depends on data reaches whatever has the same shape.
    const std::vector<Value*> inputs = node->inputs();
    for (std::size_t i = 0; source == nullptr && i < inputs.size(); ++i) {
      const auto known = because.find(inputs[i]);
      if (known == because.end() || (i > 0 && writes(*node))) continue;
      const bool same = std::any_of(node->results().begin(), node->results().end(),
                                    [&](const auto& result) { return result->shape() == inputs[i]->shape(); });
      if (same) source = known->second;
    }
    for (const auto& result : node->results()) {
      if (source != nullptr) because[result.get()] = source;
    }
  }
  std::vector<const Node*> found;
  for (const Output& output : graph.outputs()) {
    const auto known = because.find(output.value);
    found.push_back(known == because.end() ? nullptr : known->second);
  }
  return found;
}

}  // namespace leapp::graph
