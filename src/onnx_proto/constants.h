// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "leapp/base/dtype.h"
#include "onnx_proto/contents.h"

namespace leapp::onnx {

/// A small tensor whose numbers are known without running anything: a shape, a number of rounds.
struct KnownValue {
  std::vector<double> numbers;
  std::optional<DType> dtype;
};

/// The known values of a graph and of those around it.
class KnownValues {
 public:
  static constexpr std::size_t kMostElements = 64;

  explicit KnownValues(const KnownValues* around = nullptr) : around_(around) {}

  [[nodiscard]] const KnownValue* find(std::string_view name) const;
  /// That of a node's input; null also when the node has no such input.
  [[nodiscard]] const KnownValue* input(const NodeView& node, std::size_t index) const;

  void add(std::string_view name, KnownValue value) { values_[name] = std::move(value); }
  void add_initializer(const NamedView& tensor);
  /// The value of a node that computes one from known values: Constant, Identity, casts, sums, products, shapes put
  /// together.
  void add_result(const NodeView& node);
  /// An input of the graph is not what something around it of the same name is.
  void hide(std::string_view name) { values_[name] = std::nullopt; }

 private:
  [[nodiscard]] std::optional<KnownValue> result_of(const NodeView& node) const;

  const KnownValues* around_;
  std::unordered_map<std::string_view, std::optional<KnownValue>> values_;
};

/// A number that a node has as an attribute.
[[nodiscard]] std::optional<KnownValue> constant_of(const NodeView& node);

}  // namespace leapp::onnx
