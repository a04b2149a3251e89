// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_proto/constants.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/reader.h"

namespace leapp::onnx {

/// Whether a name is in a table of names.
template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Extents, which are checked for nothing: what a product of them is too large for an integer is not for a double.
using Extents = std::vector<double>;

/// The extents of the tensors of a graph, as far as they follow from those of its inputs and weights by operators that
/// can make a tensor grow, or hand it on. Of all others nothing is known: this is for refusing what grows without end.
class KnownShapes {
 public:
  static constexpr std::size_t kMostAxes = 64;

  explicit KnownShapes(const KnownShapes* around = nullptr) : around_(around) {}

  /// Null: it is not known.
  [[nodiscard]] const Extents* find(std::string_view name) const;
  [[nodiscard]] const Extents* input(const NodeView& node, std::size_t index) const;

  /// What the model says of an input, where it says all.
  void add_input(const ValueInfoView& input);
  void add_initializer(const NamedView& tensor);
  /// The first result of a node.
  void add_result(const NodeView& node, const KnownValues& values);
  /// An input of a body is not what something around it of the same name is.
  void hide(std::string_view name) { shapes_[name] = std::nullopt; }

 private:
  [[nodiscard]] std::optional<Extents> result_of(const NodeView& node, const KnownValues& values) const;
  [[nodiscard]] std::optional<Extents> broadcast(const NodeView& node) const;
  [[nodiscard]] std::optional<Extents> joined(const NodeView& node) const;
  [[nodiscard]] std::optional<Extents> product(const NodeView& node) const;

  const KnownShapes* around_;
  std::unordered_map<std::string_view, std::optional<Extents>> shapes_;
};

/// Elements of a tensor with these extents; 0 when one is zero or negative.
[[nodiscard]] double elements_of(const Extents& extents);

/// An attribute that is a number; `otherwise` where there is none.
[[nodiscard]] std::int64_t integer_of(const NodeView& node, std::string_view name, std::int64_t otherwise);
/// An attribute that is a list of numbers; empty where there is none.
[[nodiscard]] std::vector<double> integers_of(const NodeView& node, std::string_view name);

}  // namespace leapp::onnx
