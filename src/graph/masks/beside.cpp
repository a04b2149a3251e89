// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Constants, and ordinary values that were made with as many rows as were chosen: zeros(len(ids), 3), goal.expand(k,
// 3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "base/text.h"
#include "graph/masks/handlers.h"

namespace leapp::graph::masks {
namespace {

template <typename T>
std::shared_ptr<const void> bytes_of(std::vector<T> numbers) {
  auto kept = std::make_shared<std::vector<T>>(std::move(numbers));
  return std::shared_ptr<const void>(kept, kept->data());
}

// An infinity is the largest there is.
template <typename T>
std::shared_ptr<const void> whole(double value) {
  if (!std::isinf(value)) return bytes_of<T>({static_cast<T>(value)});
  return bytes_of<T>({value > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest()});
}

std::shared_ptr<const void> single(double value, DType dtype) {
  const auto real = static_cast<float>(value);
  switch (dtype) {
    case DType::kFloat64:
      return bytes_of<double>({value});
    case DType::kFloat16:
      return bytes_of<std::uint16_t>({narrow_float16(real)});
    case DType::kBFloat16:
      return bytes_of<std::uint16_t>({narrow_bfloat16(real)});
    case DType::kInt8:
      return whole<std::int8_t>(value);
    case DType::kInt16:
      return whole<std::int16_t>(value);
    case DType::kInt32:
      return whole<std::int32_t>(value);
    case DType::kInt64:
      return whole<std::int64_t>(value);
    case DType::kUInt8:
      return whole<std::uint8_t>(value);
    case DType::kBool:
      return bytes_of<std::uint8_t>({static_cast<std::uint8_t>(value > 0 ? 1 : 0)});
    case DType::kComplex64:
      return bytes_of<float>({real, 0});
    case DType::kComplex128:
      return bytes_of<double>({value, 0});
    default:
      return bytes_of<float>({real});
  }
}

bool has_single(DType dtype) {
  switch (dtype) {
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
    case DType::kComplex32:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
      return false;
    default:
      return true;
  }
}

/// One row along `dim`, where all are the same.
std::optional<Constant> one_row(const Constant& constant, std::int64_t dim) {
  const Shape& shape = constant.type.shape;
  const auto split = shape.begin() + dim;
  const auto outer = static_cast<std::size_t>(element_count(Shape(shape.begin(), split)));
  const auto rows = static_cast<std::size_t>(*split);
  const std::size_t inner =
      static_cast<std::size_t>(element_count(Shape(split + 1, shape.end()))) * dtype_size(constant.type.dtype);
  const auto bytes = constant.bytes();
  if (bytes.empty()) return std::nullopt;
  std::vector<std::byte> kept;
  for (std::size_t block = 0; block < outer; ++block) {
    const auto first = bytes.subspan(block * rows * inner, inner);
    for (std::size_t row = 1; row < rows; ++row) {
      const auto other = bytes.subspan((block * rows + row) * inner, inner);
      if (!std::equal(first.begin(), first.end(), other.begin())) return std::nullopt;
    }
    kept.insert(kept.end(), first.begin(), first.end());
  }
  return Constant{{constant.type.dtype, with_rows(shape, dim, 1)}, bytes_of(std::move(kept))};
}

/// 0, 1, 2, ... in so many rows that it is no coincidence.
bool counts_rows(const Value& value) {
  const Node* made = value.producer();
  if (made != nullptr && made->op() == "aten::arange" && made->inputs().empty()) {
    const Attribute* start = made->find("start");
    const auto* from = start != nullptr ? std::get_if<std::int64_t>(start) : nullptr;
    return (start == nullptr || (from != nullptr && *from == 0)) && integer(*made, "step", 1) == 1;
  }
  if (value.kind() != ValueKind::kConstant || value.dtype() != DType::kInt64) return false;
  if (value.shape().size() != 1 || value.shape()[0] < 2) return false;
  for (std::int64_t i = 0; i < value.shape()[0]; ++i) {
    std::int64_t number = 0;
    std::memcpy(&number, value.constant().bytes().data() + static_cast<std::size_t>(i) * sizeof(number),
                sizeof(number));
    if (number != i) return false;
  }
  return true;
}

bool is_fill(const Node& node) {
  return node.op() == "aten::full" || node.op() == "aten::zeros" || node.op() == "aten::ones";
}

/// Random numbers, each for itself: of a size, or for each element of a tensor.
bool draws_elements(const Node& node) {
  return node.is_random() && node.results().size() == 1 &&
         (is_elementwise_aten(node.op()) || (node.inputs().empty() && list(node, "size") != nullptr));
}

bool is_drawn(const Value& value, int depth = 8) {
  const Node* made = value.producer();
  if (made == nullptr || depth == 0) return false;
  if (draws_elements(*made)) return true;
  const auto drawn = [&](const Value* input) { return is_drawn(*input, depth - 1); };
  if (!is_elementwise_aten(made->op())) return false;
  const std::vector<Value*> inputs = made->inputs();
  return std::any_of(inputs.begin(), inputs.end(), drawn);
}

/// Along `dim`, or without a dimension for it: assigning to rows takes one that is 1 away.
bool is_one_drawn_row(Value* value, std::int64_t dim) {
  if (dim >= 0) return size_at(value, dim) == 1 && is_drawn(*value);
  const Node* made = value->producer();
  const Value* longer = made != nullptr && made->op() == "aten::reshape" ? tensor(*made, "self") : nullptr;
  return longer != nullptr && longer->shape().size() > value->shape().size() && is_drawn(*longer);
}

}  // namespace

Value* Rewriter::number(double value, DType dtype) {
  if (!has_single(dtype)) return cast(number(value, DType::kFloat32), dtype);
  return graph_.add_constant({{dtype, {}}, single(value, dtype)});
}

Value* Rewriter::integers(const std::vector<std::int64_t>& numbers, Shape shape) {
  return graph_.add_constant({{DType::kInt64, std::move(shape)}, bytes_of(numbers)});
}

Result<Value*> Rewriter::one_row_of(Value* value, std::int64_t dim, RowSpace& space) {
  if (space.length == 1 && rows(value) == nullptr && is_one_drawn_row(value, dim))
    return unimplemented(
        "it combines its one row with one row of random numbers, which may be for all rows or for each");
  if (dim < 0 || size_at(value, dim) == 1) return value;
  if (counts_rows(*value)) return cast(rank(space), value->dtype());
  if (value->kind() == ValueKind::kConstant) {
    if (auto row = one_row(value->constant(), dim)) return graph_.add_constant(std::move(*row));
  }
  Node* made = value->producer();
  if (made != nullptr && rows(value) == nullptr && draws_elements(*made)) return drawn_for_all(*made, dim, space);
  const bool known = made != nullptr && made->results().size() == 1 && !made->is_random() && rows(value) == nullptr;
  const TensorType type = {value->dtype(), with_rows(value->shape(), dim, 1)};
  if (known && is_fill(*made)) {
    std::vector<Argument> arguments = made->arguments();
    masks::set(arguments, "size", type.shape);
    return emit(made->op(), made->overload(), std::move(arguments), type);
  }
  if (known && made->op() == "aten::expand") {
    Value* self = tensor(*made, "self");
    const std::int64_t inside = dim - (rank_of(value) - rank_of(self));
    if (inside < 0 || size_at(self, inside) == 1) return expand(self, type.shape);
  }
  if (known && made->op() == "aten::repeat") {
    Value* self = tensor(*made, "self");
    const Dims* repeats = list(*made, "repeats");
    const std::int64_t inside = dim - (rank_of(value) - rank_of(self));
    if (repeats != nullptr && (inside < 0 || size_at(self, inside) == 1))
      return emit("aten::repeat", "", {{"self", self}, {"repeats", with_rows(*repeats, dim, 1)}}, type);
  }
  if (known && is_elementwise_aten(made->op())) {
    std::vector<Argument> arguments = made->arguments();
    std::int64_t most = 1;
    for (Argument& argument : arguments) {
      auto* operand = std::get_if<Value*>(&argument.value);
      if (operand == nullptr || *operand == nullptr) continue;
      LEAPP_ASSIGN_OR_RETURN(*operand, one_row_of(*operand, dim - (rank_of(value) - rank_of(*operand)), space));
      const std::int64_t inside = dim - (rank_of(value) - rank_of(*operand));
      if (inside >= 0) most = std::max(most, size_at(*operand, inside));
    }
    return emit(made->op(), made->overload(), std::move(arguments), {type.dtype, with_rows(type.shape, dim, most)});
  }
  return unimplemented(fmt::format("it combines its rows with {}, which has as many in the first call",
                                   type_text(value->dtype(), value->shape())));
}

/// Every row has numbers of its own, those that do not count too.
Result<Value*> Rewriter::drawn_for_all(const Node& drawn, std::int64_t dim, RowSpace& space) {
  const Value& value = *drawn.result();
  NodeSpec spec;
  spec.op = drawn.op();
  spec.overload = drawn.overload();
  spec.arguments = drawn.arguments();
  spec.location = drawn.location();
  spec.random = true;
  spec.results = {{value.dtype(), with_rows(value.shape(), dim, space.count)}};
  for (Argument& argument : spec.arguments) {
    auto* operand = std::get_if<Value*>(&argument.value);
    if (operand == nullptr || *operand == nullptr) continue;
    const std::int64_t inside = dim - (rank_of(&value) - rank_of(*operand));
    LEAPP_ASSIGN_OR_RETURN(*operand, one_row_of(*operand, inside, space));
    if (inside >= 0) *operand = expand(*operand, with_rows((*operand)->shape(), inside, space.count));
  }
  if (drawn.inputs().empty()) masks::set(spec.arguments, "size", spec.results[0].shape);
  return graph_.insert_before(at_, std::move(spec))->result();
}

Result<Value*> Rewriter::beside(Value* value, std::int64_t dim, RowSpace& space) {
  if (dim < 0 || size_at(value, dim) == 1) return one_row_of(value, dim, space);
  if (size_at(value, dim) != space.length) {
    return unimplemented(
        fmt::format("it combines {} rows with {}", space.length, type_text(value->dtype(), value->shape())));
  }
  return one_row_of(value, dim, space);
}

Result<Value*> Rewriter::all_beside(Value* value, std::int64_t dim, RowSpace& space) {
  if (dim < 0) return value;
  if (size_at(value, dim) != space.length) {
    return unimplemented(
        fmt::format("it combines {} rows with {}", space.length, type_text(value->dtype(), value->shape())));
  }
  LEAPP_ASSIGN_OR_RETURN(Value * one, one_row_of(value, dim, space));
  return expand(one, with_rows(one->shape(), dim, space.count));
}

}  // namespace leapp::graph::masks
