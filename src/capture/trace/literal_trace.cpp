// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/literal_trace.h"

#include <fmt/format.h>

#include <cstring>

#include "base/hash.h"
#include "capture/hook/op_info.h"
#include "capture/trace/value_key.h"
#include "graph/text.h"
#include "torch_types/tensors.h"

namespace leapp::capture {
namespace {

/// Known by how it was computed.
class ComputedContent : public Content {
 public:
  ComputedContent(ValueType type, std::uint64_t hash, std::string text)
      : type_(std::move(type)), hash_(hash), text_(std::move(text)) {}
  [[nodiscard]] ValueType type() const override { return type_; }
  [[nodiscard]] std::uint64_t hash() const override { return hash_; }
  [[nodiscard]] std::string text() const override { return text_; }

 private:
  ValueType type_;
  std::uint64_t hash_;
  std::string text_;
};

std::uint64_t mix_content(std::uint64_t seed, std::uint64_t value) {
  return leapp::content_hash(std::as_bytes(std::span(&value, 1)), seed);
}

/// The elements at `place` of bytes that begin at byte 0, densely.
void gather(std::span<const std::byte> bytes, const Geometry& place, std::size_t dim, std::int64_t offset,
            std::vector<std::byte>& out) {
  if (dim == place.sizes.size()) {
    const auto first = static_cast<std::size_t>(offset);
    const auto item = static_cast<std::size_t>(place.item_size());
    const std::span<const std::byte> element = bytes.subspan(first, item);
    out.insert(out.end(), element.begin(), element.end());
    return;
  }
  for (std::int64_t i = 0; i < place.sizes[dim]; ++i)
    gather(bytes, place, dim + 1, offset + i * place.strides[dim] * place.item_size(), out);
}

graph::Constant constant_with(const ValueType& type, std::vector<std::byte> bytes) {
  auto shared = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {to_graph_type(type), std::shared_ptr<const void>(shared, shared->data()), false};
}

}  // namespace

graph::TensorType to_graph_type(const ValueType& type) {
  // Types without a counterpart occur only as unused results.
  return {to_dtype(type.dtype).value_or(DType::kFloat32), graph::Shape(type.sizes.begin(), type.sizes.end())};
}

ValueType to_value_type(const graph::TensorType& type) {
  return {to_scalar_type(type.dtype), c10::DimVector(type.shape.begin(), type.shape.end())};
}

Geometry dense_geometry(const ValueType& type) {
  Geometry geometry;
  geometry.dtype = type.dtype;
  geometry.sizes = type.sizes;
  geometry.strides.resize(type.sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = type.sizes.size(); i-- > 0;) {
    geometry.strides[i] = stride;
    stride *= type.sizes[i];
  }
  return geometry;
}

ValueType LiteralContent::type() const { return to_value_type(constant_.type); }
std::uint64_t LiteralContent::hash() const { return leapp::content_hash(constant_.bytes()); }

std::string LiteralContent::text() const {
  graph::Graph alone;
  alone.add_constant(constant_, "c");
  const std::string text = graph::print(alone);
  const std::size_t begin = text.find(" [") + 1;
  return begin == 0 ? "[...]" : text.substr(begin, text.find(']', begin) + 1 - begin);
}

ValueType LiteralCell::type() const { return to_value_type(constant.type); }
std::uint64_t LiteralCell::hash() const { return leapp::content_hash(constant.bytes()); }
ContentPtr LiteralCell::copy() const { return std::make_shared<LiteralContent>(constant); }

bool LiteralCell::is_same_memory(const ConstantCell& other) const {
  const auto memory = home.lock();
  return by_reference && other.by_reference && memory && memory == other.home.lock() && place == other.place;
}

LiteralMemory::LiteralMemory(std::string name, graph::Constant before)
    : Memory(static_cast<std::int64_t>(before.byte_size())), name_(std::move(name)), before_(std::move(before)) {
  note_shape(dense_geometry(to_value_type(before_.type)));
}

void LiteralMemory::set(const MemoryState& state) {
  layers_.clear();
  for (const Layer& layer : state.layers) layers_.push_back(layer);
  use_ = {};
  for (const Geometry& place : state.writes) use_.note_write(place);
  for (const Geometry& place : state.inputs) use_.note_input(place);
  alive_ = state.alive;
}

ContentPtr LiteralMemory::content_before(const Geometry& place) const {
  std::vector<std::byte> bytes;
  gather(before_.bytes(), place, 0, place.byte_offset, bytes);
  return std::make_shared<LiteralContent>(constant_with({place.dtype, place.sizes}, std::move(bytes)));
}

std::shared_ptr<ConstantCell> LiteralMemory::cell_before(at::ScalarType dtype, std::int64_t count) {
  auto cell = std::make_shared<LiteralCell>();
  const std::span<const std::byte> bytes = before_.bytes();
  cell->constant = constant_with({dtype, {count}}, std::vector<std::byte>(bytes.begin(), bytes.end()));
  return cell;
}

ContentPtr LiteralEvaluator::value_of(const ValuePtr& value) {
  if (value->kind == TracedKind::kConstant) return value->cell->copy();
  const TraceOp& op = *value->op;
  const std::string name = op.info->qualified_name();
  std::uint64_t hash = leapp::content_hash(std::as_bytes(std::span(name.data(), name.size())), value->index);
  for (const TraceArgument& argument : op.arguments) {
    if (argument.kind == TraceArgument::Kind::kAttribute) hash = mix_content(hash, hash_attribute(argument.attribute));
  }
  for_each_operand(op, [&](const ValuePtr& operand) { hash = mix_content(hash, value_of(operand)->hash()); });
  return std::make_shared<ComputedContent>(value->type, hash, fmt::format("[what {} gives]", name));
}

}  // namespace leapp::capture
