// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "engine/native/memory.h"
#include "engine/native/op_table.h"
#include "engine/native/program.h"
#include "engine/native/scalar/copy.h"
#include "engine/native/work.h"

namespace leapp::native {
namespace {

constexpr int kDeepest = 32;
/// What may be worked out when loading: more would be a model that blows up.
constexpr std::size_t kLargestFolded = std::size_t{1} << 30U;
/// Work (work.h) on constants when loading: some passes over all that the model has, and this for short ones. The rest
/// is done in each step: a few bytes can ask for hours, and who only looks at a model does not wait for them.
constexpr std::int64_t kMostSteps = 1 << 16;  // of recurrent layers: each is a call, which has a kilobyte
constexpr double kFoldingWork = 0x1p28;
constexpr double kFoldingWorkPerByte = 16;

std::string full_name(const onnx::NodeView& node) {
  const bool own = node.domain.empty() || node.domain == "ai.onnx";
  return own ? std::string(node.op_type) : fmt::format("{}::{}", node.domain, node.op_type);
}

std::string first_result(const onnx::NodeView& node) {
  for (const std::string_view output : node.outputs) {
    if (!output.empty()) return std::string(output);
  }
  return "";
}

engine::TensorInfo info_of(const onnx::ValueInfoView& view) {
  engine::TensorInfo info{std::string(view.name), std::nullopt, view.dims};
  if (view.elem_type) info.dtype = onnx::dtype_of(*view.elem_type);
  return info;
}

}  // namespace

// --- the node ---------------------------------------------------------------------------------------------------

const std::optional<ValueId>* Lowering::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return &found->second;
  }
  return nullptr;
}

void Lowering::define(std::string_view name, std::optional<ValueId> id) {
  if (name.empty()) return;
  scopes_.back().names.insert_or_assign(std::string(name), id);
  if (id && plan_.values[*id].name.empty()) plan_.values[*id].name = std::string(name);
}

// What the constructor of a handler's refusal cannot know: the names were checked before the handler was asked.
ValueId Lowering::input(std::size_t i) const {
  if (!has_input(i)) refuse(fmt::format("input {} is missing", i));
  const auto* found = find(node_->inputs[i]);
  if (found == nullptr) refuse(fmt::format("nothing makes its input {}", quote(node_->inputs[i])));
  return found->value();
}

void Lowering::bind(std::size_t i, ValueId id) {
  if (bound_.size() <= i) bound_.resize(i + 1);
  bound_[i] = id;
}

void Lowering::add(KernelCall call) {
  // A kernel walks along the other axes all the same, and they may be as long as they like.
  bool writes = !call.blocks.empty();
  for (const Operand& operand : call.operands) {
    const bool result = operand.access == Access::kWrite || operand.access == Access::kUpdate;
    writes = writes || (result && plan_.values[operand.value].bytes > 0);
  }
  if (!writes) return;
  call.node = node_text_;
  if (node_ != nullptr) call.source = std::string(node_->doc_string);
  block_->push_back(std::move(call));
}

void Lowering::add_steps(std::int64_t steps) {
  steps_ += steps;
  if (steps_ > kMostSteps) refuse(fmt::format("more than {} steps of recurrent layers", kMostSteps));
}

// --- nodes ------------------------------------------------------------------------------------------------------

void Lowering::note_uncovered(const onnx::NodeView& node, std::string why) {
  const std::string port = first_result(node);
  uncovered_.push_back({full_name(node), node.name.empty() ? port : std::string(node.name), port, std::move(why)});
  for (const std::string_view output : node.outputs) define(output, std::nullopt);
}

void Lowering::lower_node(const onnx::NodeView& node) {
  ++operators_[full_name(node)];
  const bool own = node.domain.empty() || node.domain == "ai.onnx";
  const LowerEntry* entry = own ? find_lowering(node.op_type) : nullptr;
  if (entry == nullptr) return note_uncovered(node, "no such operator in this engine");
  bool unknown = false;
  for (const std::string_view name : node.inputs) {
    const auto* found = name.empty() ? nullptr : find(name);
    unknown = unknown || (found != nullptr && !found->has_value());
  }
  if (unknown) {  // of which the node that makes it was told already
    for (const std::string_view output : node.outputs) define(output, std::nullopt);
    return;
  }
  const onnx::NodeView* outer_node = std::exchange(node_, &node);
  const LowerEntry* outer_entry = std::exchange(entry_, entry);
  auto outer_bound = std::exchange(bound_, {});
  std::string outer_text = std::exchange(
      node_text_,
      fmt::format("{} {}", full_name(node), quote(node.name.empty() ? first_result(node) : std::string(node.name))));
  const std::size_t calls = block_->size();
  try {
    if (foldable(node)) {
      fold(node);
    } else {
      entry->handler(*this);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      if (i >= bound_.size() || !bound_[i]) refuse(fmt::format("its result {} is not made here", i));
      define(node.outputs[i], bound_[i]);
    }
  } catch (const Refused& refused) {
    block_->resize(calls);
    note_uncovered(node, refused.why);
  }
  node_ = outer_node;
  entry_ = outer_entry;
  bound_ = std::move(outer_bound);
  node_text_ = std::move(outer_text);
}

Status Lowering::lower_nodes(const onnx::GraphView& graph) {
  for (const onnx::Encoded bytes : graph.nodes) {
    LEAPP_ASSIGN_OR_RETURN(const onnx::NodeView node, onnx::read_node(bytes));
    lower_node(node);
  }
  return {};
}

// --- constants --------------------------------------------------------------------------------------------------

ValueId Lowering::read_constant(onnx::Encoded tensor) {
  auto read = onnx::read_tensor(tensor);
  if (!read.ok()) refuse(read.status().message());
  onnx::TensorContents& contents = read.value();
  if (!contents.dtype) refuse(fmt::format("{} is of a type that is not a number", quote(contents.name)));
  if (contents.external) refuse(fmt::format("the data of {} lies in another file", quote(contents.name)));
  return constant(*contents.dtype, contents.dims, std::move(contents.bytes));
}

void Lowering::add_initializers(const onnx::GraphView& graph, const std::function<bool(std::string_view)>& skip) {
  for (const onnx::NamedView& initializer : graph.initializers) {
    if (skip(initializer.name)) continue;
    try {
      define(initializer.name, read_constant(initializer.bytes));
    } catch (const Refused& refused) {
      uncovered_.push_back({"initializer", std::string(initializer.name), std::string(initializer.name), refused.why});
      define(initializer.name, std::nullopt);
    }
  }
  for (const onnx::NamedView& sparse : graph.sparse_initializers) {
    uncovered_.push_back({"sparse initializer", std::string(sparse.name), std::string(sparse.name),
                          "sparse tensors are not read by this engine"});
    define(sparse.name, std::nullopt);
  }
}

bool Lowering::foldable(const onnx::NodeView& node) const {
  if (!entry_->fold) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](std::string_view name) {
    const auto* found = name.empty() ? nullptr : find(name);
    return name.empty() || (found != nullptr && found->has_value() && is_constant(**found));
  });
}

void Lowering::fold(const onnx::NodeView&) {
  Block calls;
  Block* outer = std::exchange(block_, &calls);
  const std::size_t first_new = plan_.values.size();
  try {
    entry_->handler(*this);
  } catch (...) {
    block_ = outer;
    throw;
  }
  block_ = outer;
  std::vector<ValueId> results;
  for (const auto& result : bound_) {
    if (result) results.push_back(*result);
  }
  const double work = work_of(plan_, calls);
  if (work > folding_left_) {
    std::move(calls.begin(), calls.end(), std::back_inserter(*block_));
    return;
  }
  folding_left_ -= work;
  run_now(calls, first_new, results);
}

void Lowering::run_now(const Block& calls, std::size_t first_new, const std::vector<ValueId>& results) {
  std::map<ValueId, std::shared_ptr<AlignedMemory>> memory;
  const auto memory_of = [&](ValueId root) {
    std::shared_ptr<AlignedMemory>& block = memory[root];
    if (!block) {
      const PlanValue& value = plan_.values[root];
      folded_bytes_ += value.bytes;
      if (folded_bytes_ > most_folded_bytes_) refuse("working out constants takes too much memory");
      block = std::make_shared<AlignedMemory>(value.bytes);
      if (value.constant && value.bytes > 0) std::memcpy(block->data(), value.constant->view.data(), value.bytes);
    }
    return block;
  };
  const AddressOf address = [&](ValueId id) {
    const Plan::Root root = plan_.root(id);
    return memory_of(root.value)->data() + root.offset;
  };
  Program program(calls, address);
  if (!program.run()) refuse(program.failed()->kernel->fault);
  for (const ValueId id : results) {
    if (id < first_new || is_constant(id)) continue;
    const Plan::Root root = plan_.root(id);
    const auto block = memory_of(root.value);
    PlanValue& value = plan_.values[id];
    value.constant = onnx::Bytes{block, {block->data() + root.offset, value.bytes}};
    value.view_of = kNoValue;
  }
  // Memory that only this work needed is given back; what the results hold stays counted.
  for (const auto& [root, block] : memory) {
    if (block.use_count() == 1) folded_bytes_ -= plan_.values[root].bytes;
  }
}

// --- graphs -----------------------------------------------------------------------------------------------------

std::vector<ValueId> Lowering::graph_results(const onnx::GraphView& graph) const {
  std::vector<ValueId> results;
  for (const onnx::ValueInfoView& output : graph.outputs) {
    const auto* found = find(output.name);
    if (found == nullptr) refuse(fmt::format("nothing makes the result {} of its inner graph", quote(output.name)));
    if (!found->has_value()) refuse("a node inside is not covered");
    results.push_back(**found);
  }
  return results;
}

std::vector<ValueId> Lowering::inline_graph(onnx::Encoded bytes, std::span<const ValueId> inputs) {
  if (depth_ >= kDeepest) refuse("graphs are nested too deep");
  auto read = onnx::read_graph(bytes);
  if (!read.ok()) refuse(read.status().message());
  const onnx::GraphView& graph = read.value();
  if (graph.inputs.size() != inputs.size()) {
    refuse(fmt::format("its inner graph takes {} inputs, expected {}", graph.inputs.size(), inputs.size()));
  }
  struct Level {
    Lowering& b;
    explicit Level(Lowering& lowering) : b(lowering) {
      ++b.depth_;
      b.scopes_.emplace_back();
    }
    ~Level() {
      --b.depth_;
      b.scopes_.pop_back();
    }
  };
  const Level level(*this);
  for (std::size_t i = 0; i < inputs.size(); ++i) define(graph.inputs[i].name, inputs[i]);
  add_initializers(graph, [](std::string_view) { return false; });
  if (const Status status = lower_nodes(graph); !status.ok()) refuse(status.message());
  return graph_results(graph);
}

Block Lowering::lower_graph(onnx::Encoded graph, std::span<const ValueId> inputs,
                            const std::function<void(const std::vector<ValueId>&)>& finish) {
  Block calls;
  struct Current {
    Lowering& b;
    Block* outer;
    Current(Lowering& lowering, Block* block) : b(lowering), outer(std::exchange(lowering.block_, block)) {}
    ~Current() { b.block_ = outer; }
  };
  const Current current(*this, &calls);
  finish(inline_graph(graph, inputs));
  return calls;
}

// The root of a result is written where the caller wants it, if it is whole and nobody else's; else it is copied.
void Lowering::bind_outputs(const onnx::GraphView& graph) {
  for (std::size_t port = 0; port < graph.outputs.size(); ++port) {
    const std::string_view name = graph.outputs[port].name;
    const auto* found = find(name);
    if (found == nullptr || !found->has_value()) {
      if (found == nullptr) uncovered_.push_back({"output", std::string(name), std::string(name), "nothing makes it"});
      continue;
    }
    const Plan::Root root = plan_.root(**found);
    PlanValue& holder = plan_.values[root.value];
    const bool whole = root.offset == 0 && holder.bytes == plan_.values[**found].bytes;
    if (whole && !holder.input && !holder.output && !holder.constant) {
      holder.output = static_cast<std::uint32_t>(port);
      continue;
    }
    node_text_ = fmt::format("output {}", quote(name));
    const ValueId copy = make_like(**found);
    plan_.values[copy].name = std::string(name);
    plan_.values[copy].output = static_cast<std::uint32_t>(port);
    copy_bytes(*this, **found, copy);
  }
}

Result<LoweringResult> lower(const LoweringRequest& request) {
  LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView model, onnx::read_model(request.model));
  LoweringResult result;
  Lowering b;
  b.block_ = &b.plan_.calls;
  b.scopes_.emplace_back();
  b.most_folded_bytes_ =
      request.memory_limit == 0 ? kLargestFolded : std::min<std::size_t>(kLargestFolded, request.memory_limit);
  b.most_made_bytes_ = request.memory_limit == 0 ? kLargestMemory : request.memory_limit;
  b.folding_left_ = kFoldingWork + kFoldingWorkPerByte * static_cast<double>(request.model.size());
  for (const onnx::OperatorSet& set : model.opset_imports) {
    if (set.domain.empty()) b.opset_ = set.version;
  }
  std::unordered_map<std::string_view, const engine::TensorInfo*> given;
  for (const engine::TensorInfo& info : request.inputs) given.emplace(info.name, &info);
  std::unordered_set<std::string_view> initializers;
  for (const onnx::NamedView& one : model.graph.initializers) initializers.insert(one.name);
  try {
    std::unordered_set<std::string_view> overridden;
    for (const onnx::ValueInfoView& input : model.graph.inputs) {
      engine::TensorInfo info = info_of(input);
      const auto found = given.find(input.name);
      const engine::TensorInfo* const bound = found == given.end() ? nullptr : found->second;
      if (initializers.contains(input.name)) {
        if (bound == nullptr) continue;
        overridden.insert(input.name);
      }
      if (bound != nullptr && bound->shape && (!info.shape || info.shape->size() == bound->shape->size())) {
        if (!info.shape) info.shape = bound->shape;
        for (std::size_t i = 0; i < info.shape->size(); ++i) {
          if ((*info.shape)[i] < 0) (*info.shape)[i] = (*bound->shape)[i];
        }
      }
      const bool fixed = info.dtype && info.shape &&
                         std::all_of(info.shape->begin(), info.shape->end(), [](std::int64_t e) { return e >= 0; });
      result.inputs.push_back(info);
      if (!fixed) {
        b.uncovered_.push_back({"input", info.name, info.name, "its type or shape is not fixed"});
        b.define(info.name, std::nullopt);
        continue;
      }
      const ValueId id = b.make(*info.dtype, *info.shape);
      b.plan_.values[id].input = static_cast<std::uint32_t>(result.inputs.size() - 1);
      b.define(info.name, id);
    }
    b.add_initializers(model.graph, [&](std::string_view name) { return overridden.contains(name); });
    LEAPP_RETURN_IF_ERROR(b.lower_nodes(model.graph));
    for (const onnx::ValueInfoView& output : model.graph.outputs) {
      engine::TensorInfo info = info_of(output);
      if (const auto* found = b.find(output.name); found != nullptr && found->has_value()) {
        info.dtype = b.dtype(**found);
        info.shape = b.shape(**found);
      }
      result.outputs.push_back(std::move(info));
    }
    b.bind_outputs(model.graph);
  } catch (const Refused& refused) {
    b.uncovered_.push_back({"model", "", "", refused.why});
  }
  if (!model.functions.empty()) {
    b.uncovered_.push_back({"function", std::string(model.functions.front().name), "", "the model defines functions"});
  }
  for (const auto& [name, id] : b.scopes_.front().names) {
    if (id) result.names.emplace(name, *id);
  }
  result.plan = std::move(b.plan_);
  result.operators = std::move(b.operators_);
  result.uncovered = std::move(b.uncovered_);
  return result;
}

}  // namespace leapp::native
