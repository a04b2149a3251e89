// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that only move elements: out of what stands where, into what stands where.
#include <map>
#include <numeric>
#include <string_view>

#include "graph/history/move.h"

namespace leapp::graph {

std::optional<std::size_t> axis_of(std::int64_t dim, std::size_t rank) {
  if (dim < 0) dim += static_cast<std::int64_t>(rank);
  return dim < 0 || at(dim) >= rank ? std::nullopt : std::optional(at(dim));
}

std::optional<Integers> places_of(const Strided& view, std::int64_t size) {
  Integers places;
  Integers index(view.size.size(), 0);
  for (std::int64_t left = element_count(view.size); left > 0; --left) {
    const std::int64_t place = std::inner_product(index.begin(), index.end(), view.stride.begin(), view.offset);
    if (place < 0 || place >= size) return std::nullopt;
    places.push_back(place);
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < view.size[i]) break;
      index[i] = 0;
    }
  }
  return places;
}

std::optional<Elements> broadcast(const Move& move, const Value* value, const Shape& shape) {
  const auto view = apply(row_major(value->shape()), {.kind = ViewStep::Kind::kExpand, .list = shape});
  const Elements& from = move.elements(value);
  const auto places = view ? places_of(*view, std::ssize(from)) : std::nullopt;
  if (!places) return std::nullopt;
  Elements result;
  for (const std::int64_t place : *places) result.push_back(from[at(place)]);
  return result;
}

namespace {

bool keep_order(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr || !move.same_dtype(self)) return false;
  move.result = move.elements(self);
  return std::ssize(move.result) == element_count(move.shape());
}

bool copy(Move& move) {
  const Value* source = move.tensor("src");
  if (source == nullptr || !move.same_dtype(source)) return false;
  auto found = broadcast(move, source, move.shape());
  if (!found || std::ssize(*found) != element_count(move.shape())) return false;
  move.result = std::move(*found);
  return true;
}

bool repeat(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr) return false;
  Shape shape = self->shape();
  const Shape& wanted = move.shape();
  if (wanted.size() < shape.size() || element_count(shape) == 0) return false;
  shape.insert(shape.begin(), wanted.size() - shape.size(), 1);
  const Elements& from = move.elements(self);
  for (std::int64_t flat = 0; flat < element_count(wanted); ++flat) {
    std::int64_t rest = flat;
    std::int64_t place = 0;
    std::int64_t width = 1;
    for (std::size_t i = wanted.size(); i-- > 0;) {
      place += rest % wanted[i] % shape[i] * width;
      rest /= wanted[i];
      width *= shape[i];
    }
    move.result.push_back(from[at(place)]);
  }
  return true;
}

using MoveFunction = bool (*)(Move&);

const std::map<std::string_view, MoveFunction>& table() {
  static const std::map<std::string_view, MoveFunction> kTable{
      {"aten::_to_copy", keep_order},
      {"aten::_unsafe_view", keep_order},
      {"aten::alias", keep_order},
      {"aten::as_strided", read_view},
      {"aten::as_strided_scatter", write_view},
      {"aten::atleast_2d", keep_order},
      {"aten::broadcast_to", read_view},
      {"aten::cat", join},
      {"aten::chunk", read_piece},
      {"aten::clone", keep_order},
      {"aten::column_stack", join},
      {"aten::concat", join},
      {"aten::concatenate", join},
      {"aten::constant_pad_nd", pad},
      {"aten::contiguous", keep_order},
      {"aten::copy", copy},
      {"aten::detach", keep_order},
      {"aten::diagonal", read_view},
      {"aten::diagonal_scatter", write_view},
      {"aten::dstack", join},
      {"aten::expand", read_view},
      {"aten::expand_as", read_view},
      {"aten::flatten", keep_order},
      {"aten::flip", flip},
      {"aten::hstack", join},
      {"aten::index", take_indexed},
      {"aten::index_copy", put_indexed},
      {"aten::index_put", put_indexed},
      {"aten::index_select", take_indexed},
      {"aten::lift_fresh_copy", keep_order},
      {"aten::mT", read_view},
      {"aten::moveaxis", read_view},
      {"aten::movedim", read_view},
      {"aten::narrow", read_view},
      {"aten::numpy_T", read_view},
      {"aten::pad", pad},
      {"aten::permute", read_view},
      {"aten::ravel", keep_order},
      {"aten::repeat", repeat},
      {"aten::reshape", keep_order},
      {"aten::reshape_as", keep_order},
      {"aten::roll", roll},
      {"aten::row_stack", join},
      {"aten::select", read_view},
      {"aten::select_scatter", write_view},
      {"aten::slice", read_view},
      {"aten::slice_scatter", write_view},
      {"aten::split", read_piece},
      {"aten::split_with_sizes", read_piece},
      {"aten::squeeze", keep_order},
      {"aten::stack", join},
      {"aten::swapaxes", read_view},
      {"aten::swapdims", read_view},
      {"aten::t", read_view},
      {"aten::tensor_split", read_piece},
      {"aten::tile", repeat},
      {"aten::to", keep_order},
      {"aten::transpose", read_view},
      {"aten::type_as", keep_order},
      {"aten::unbind", read_piece},
      {"aten::unflatten", keep_order},
      {"aten::unsqueeze", keep_order},
      {"aten::view", keep_order},
      {"aten::view_as", keep_order},
      {"aten::vstack", join},
      {"aten::where", choose},
  };
  return kTable;
}

}  // namespace

bool may_move(const Node& node) { return table().contains(node.op()); }

bool moved(const Value& made, const OriginsOf& of, Elements& result) {
  const auto found = table().find(made.producer()->op());
  if (found == table().end()) return false;
  Move move(made, of, result);
  return found->second(move) && std::ssize(result) == element_count(made.shape());
}

}  // namespace leapp::graph
