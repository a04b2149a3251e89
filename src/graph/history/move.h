// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the operators that move elements have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/history/origins.h"
#include "graph/passes/strided.h"

namespace leapp::graph {

using Integers = std::vector<std::int64_t>;

/// A node's arguments and the elements of its operands.
class Move {
 public:
  Move(const Value& made, const OriginsOf& of, Elements& result)
      : made(made), node(*made.producer()), result(result), of_(of) {}

  [[nodiscard]] const Value* tensor(std::string_view name) const {
    const Attribute* found = node.find(name);
    const auto* value = found == nullptr ? nullptr : std::get_if<Value*>(found);
    return value == nullptr ? nullptr : *value;
  }
  [[nodiscard]] const Elements& elements(const Value* value) const { return of_.at(value); }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const {
    const Attribute* found = node.find(name);
    const auto* number = found == nullptr ? nullptr : std::get_if<std::int64_t>(found);
    return number == nullptr ? otherwise : *number;
  }
  [[nodiscard]] Integers integers(std::string_view name) const {
    const Attribute* found = node.find(name);
    if (found == nullptr) return {};
    if (const auto* list = std::get_if<Integers>(found)) return *list;
    const auto* number = std::get_if<std::int64_t>(found);
    return number == nullptr ? Integers() : Integers{*number};
  }
  [[nodiscard]] const Shape& shape() const { return made.shape(); }
  [[nodiscard]] bool same_dtype(const Value* value) const { return value->dtype() == made.dtype(); }
  /// False for an argument that is a tensor where a number may stand.
  [[nodiscard]] bool is_integer(std::string_view name) const {
    const Attribute* found = node.find(name);
    return found != nullptr && std::get_if<std::int64_t>(found) != nullptr;
  }

  const Value& made;
  const Node& node;
  Elements& result;

 private:
  const OriginsOf& of_;
};

[[nodiscard]] inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// -1 is the last one. Nothing when there is no such axis.
[[nodiscard]] std::optional<std::size_t> axis_of(std::int64_t dim, std::size_t rank);

/// The places of a view's elements, in its order. Nothing when one of them is not in a storage of `size` elements.
[[nodiscard]] std::optional<Integers> places_of(const Strided& view, std::int64_t size);

/// The elements of `value`, broadcast to `shape`.
[[nodiscard]] std::optional<Elements> broadcast(const Move& move, const Value* value, const Shape& shape);

/// A shape cut at an axis: `outer` blocks of `extent` rows of `inner` elements.
struct FrameRows {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;

  FrameRows(const Shape& shape, std::size_t axis) : extent(shape[axis]) {
    for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  }
};

/// Row p of the result is row `source(p)` of `from`; below zero: a number. `shapes`: of `from` and of the result.
void take_rows(const Elements& from, std::pair<FrameRows, FrameRows> shapes,
               const std::function<std::int64_t(std::int64_t)>& source, Elements& result);

// Each adds the elements of a result. False: it cannot be said.
bool read_view(Move& move);   ///< slice, select, permute, expand, ...
bool read_piece(Move& move);  ///< split, chunk, unbind
bool write_view(Move& move);  ///< slice_scatter and its kin
bool join(Move& move);        ///< cat, stack, ...
bool roll(Move& move);
bool flip(Move& move);
bool pad(Move& move);
bool take_indexed(Move& move);  ///< rows at a constant index
bool put_indexed(Move& move);
bool choose(Move& move);  ///< where a constant says so

}  // namespace leapp::graph
