// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/pointwise/signs_cancel.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace leapp::onnx_ops {
namespace {

constexpr auto kProducts = std::to_array<std::string_view>(
    {"aten::bmm", "aten::dot", "aten::einsum", "aten::linalg_matmul", "aten::matmul", "aten::mm", "aten::mul.Tensor"});
constexpr auto kWithoutSign = std::to_array<std::string_view>({"aten::abs", "aten::square"});

bool is_one_of(std::span<const std::string_view> names, const graph::Node& node) {
  return std::find(names.begin(), names.end(), node.qualified_name()) != names.end();
}

/// Every node that the values lead to, near ones first.
std::vector<const graph::Node*> reached_from(std::vector<const graph::Value*> values) {
  std::vector<const graph::Node*> nodes;
  std::unordered_set<const graph::Node*> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const graph::Node* user : values[i]->users()) {
      if (!seen.insert(user).second) continue;
      nodes.push_back(user);
      for (const auto& result : user->results()) values.push_back(result.get());
    }
  }
  return nodes;
}

/// Whether each value has the signs, as far as it is decided.
class Signed {
 public:
  Signed(std::vector<const graph::Node*> reached, const std::vector<const graph::Value*>& from)
      : open_(std::move(reached)) {
    for (const graph::Value* value : from) known_[value] = true;
    inside_.insert(open_.begin(), open_.end());
  }

  /// Decides the nodes whose inputs all are, until none is left.
  void spread() {
    while (!open_.empty()) {
      const auto before = open_.size();
      std::erase_if(open_, [&](const graph::Node* node) { return decide(*node); });
      if (open_.size() == before) return;  // cannot be: the graph has no cycles
    }
  }

  [[nodiscard]] bool reach_output() const {
    return std::any_of(known_.begin(), known_.end(),
                       [](const auto& entry) { return entry.second && entry.first->is_output(); });
  }

 private:
  bool decide(const graph::Node& node) {
    int count = 0;
    for (const graph::Value* input : node.inputs()) {
      const auto found = known_.find(input);
      if (found != known_.end()) count += found->second ? 1 : 0;
      if (found == known_.end() && input->producer() != nullptr && inside_.contains(input->producer())) return false;
    }
    const bool cancel = is_one_of(kWithoutSign, node) || (count > 1 && is_one_of(kProducts, node));
    for (const auto& result : node.results()) known_[result.get()] = count > 0 && !cancel;
    return true;
  }

  std::vector<const graph::Node*> open_;
  std::unordered_set<const graph::Node*> inside_;
  std::unordered_map<const graph::Value*, bool> known_;
};

}  // namespace

bool signs_cancel(const graph::Node& node, const std::vector<std::size_t>& results) {
  std::vector<const graph::Value*> from;
  for (const std::size_t index : results) from.push_back(node.result(index));
  Signed values(reached_from(from), from);
  values.spread();
  return !values.reach_output();
}

}  // namespace leapp::onnx_ops
