// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "base/text.h"
#include "engine/native/lowering.h"
#include "engine/native/memory.h"
#include "engine/native/program.h"
#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

/// Constants that are read as numbers (axes, shapes, limits) are short.
constexpr std::size_t kMostNumbers = 1U << 20U;
constexpr double kWorkPerByte = 0.25;  // each element of a constant that is made is looked at once

template <typename To>
std::vector<To> read_as(DType dtype, std::span<const std::byte> bytes) {
  std::vector<To> numbers;
  const bool known = visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::size_t count = bytes.size() / sizeof(T);
    numbers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(convert<To>(element<T>(bytes, i)));
  });
  if (!known) refuse(fmt::format("{} is not a type of number here", dtype_name(dtype)));
  return numbers;
}

}  // namespace

void refuse(std::string why) { throw Refused{std::move(why)}; }

std::int64_t product(std::span<const std::int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t normal_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) refuse(fmt::format("axis {} of a tensor with {} dimensions", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

// --- attributes -------------------------------------------------------------------------------------------------

const onnx::AttributeProto* Lowering::attribute(std::string_view name) const {
  const auto& all = node_->attributes;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const onnx::AttributeProto& a) { return a.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool Lowering::has_attr(std::string_view name) const { return attribute(name) != nullptr; }

template <typename T>
static const T& get(const onnx::AttributeProto& attribute) {
  const T* value = std::get_if<T>(&attribute.value);
  if (value == nullptr) refuse(fmt::format("the attribute {} is of another type", quote(attribute.name)));
  return *value;
}

std::int64_t Lowering::attr_int(std::string_view name, std::int64_t otherwise) const {
  const onnx::AttributeProto* found = attribute(name);
  return found == nullptr ? otherwise : get<std::int64_t>(*found);
}

float Lowering::attr_float(std::string_view name, float otherwise) const {
  const onnx::AttributeProto* found = attribute(name);
  return found == nullptr ? otherwise : get<float>(*found);
}

std::string Lowering::attr_string(std::string_view name, std::string_view otherwise) const {
  const onnx::AttributeProto* found = attribute(name);
  return found == nullptr ? std::string(otherwise) : get<std::string>(*found);
}

std::optional<std::vector<std::int64_t>> Lowering::attr_ints(std::string_view name) const {
  const onnx::AttributeProto* found = attribute(name);
  if (found == nullptr) return std::nullopt;
  return get<std::vector<std::int64_t>>(*found);
}

std::optional<std::vector<float>> Lowering::attr_floats(std::string_view name) const {
  const onnx::AttributeProto* found = attribute(name);
  if (found == nullptr) return std::nullopt;
  return get<std::vector<float>>(*found);
}

std::vector<std::string> Lowering::attr_strings(std::string_view name) const {
  const onnx::AttributeProto* found = attribute(name);
  return found == nullptr ? std::vector<std::string>{} : get<std::vector<std::string>>(*found);
}

ValueId Lowering::attr_tensor(std::string_view name) {
  for (const onnx::NamedView& tensor : node_->tensors) {
    if (tensor.name == name) return read_constant(tensor.bytes);
  }
  return kNoValue;
}

std::optional<onnx::Encoded> Lowering::attr_graph(std::string_view name) const {
  for (std::size_t i = 0; i < node_->graphs.size(); ++i) {
    if (node_->graph_attributes[i] == name) return node_->graphs[i];
  }
  return std::nullopt;
}

// --- values -----------------------------------------------------------------------------------------------------

std::int64_t Lowering::elements(ValueId id) const { return product(shape(id)); }

std::vector<std::int64_t> Lowering::ints(ValueId id, std::string_view what) const {
  if (!is_constant(id)) refuse(fmt::format("{} depends on data", what));
  if (bytes(id).size() > kMostNumbers * 8) refuse(fmt::format("{} is too long", what));
  return read_as<std::int64_t>(dtype(id), bytes(id));
}

std::int64_t Lowering::one_int(ValueId id, std::string_view what) const {
  const std::vector<std::int64_t> found = ints(id, what);
  if (found.size() != 1) refuse(fmt::format("{} is not one number", what));
  return found.front();
}

double Lowering::one_number(ValueId id, std::string_view what) const {
  const std::vector<double> found = numbers(id, what);
  if (found.size() != 1) refuse(fmt::format("{} is not one number", what));
  return found.front();
}

std::vector<double> Lowering::numbers(ValueId id, std::string_view what) const {
  if (!is_constant(id)) refuse(fmt::format("{} depends on data", what));
  if (bytes(id).size() > kMostNumbers * 8) refuse(fmt::format("{} is too long", what));
  return read_as<double>(dtype(id), bytes(id));
}

void Lowering::expect_room(std::uint64_t bytes) const {
  if (bytes > most_made_bytes_ - made_bytes_) refuse("constants that take too much memory");
  if (static_cast<double>(bytes) * kWorkPerByte > folding_left_) refuse("constants that take too long to make");
}

void Lowering::count_made(std::uint64_t bytes) {
  expect_room(bytes);
  made_bytes_ += bytes;
  folding_left_ -= static_cast<double>(bytes) * kWorkPerByte;
}

ValueId Lowering::make(DType dtype, Shape shape) {
  const auto size = engine::buffer_size(dtype, shape);
  // The extents one by one too: strides are products of some of them, also where another one is 0.
  std::int64_t extents = 1;
  bool fits = size && *size <= kLargestMemory;
  for (const std::int64_t extent : shape) {
    fits = fits && extent >= 0 && !__builtin_mul_overflow(extents, std::max<std::int64_t>(extent, 1), &extents) &&
           extents <= static_cast<std::int64_t>(kLargestMemory);
  }
  if (!fits) refuse(fmt::format("a value of type {} is too large", type_text(dtype, shape)));
  PlanValue value;
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.bytes = *size;
  plan_.values.push_back(std::move(value));
  return static_cast<ValueId>(plan_.values.size() - 1);
}

ValueId Lowering::constant(DType dtype, Shape shape, onnx::Bytes bytes) {
  const ValueId id = make(dtype, std::move(shape));
  if (plan_.values[id].bytes != bytes.view.size()) refuse("a constant whose size is not that of its type");
  if (bytes.owner) count_made(bytes.view.size());
  plan_.values[id].constant = std::move(bytes);
  return id;
}

const std::byte* Lowering::aligned_bytes(ValueId id) {
  const std::size_t size = value(id).bytes;
  if (size > aligned_size_) {
    aligned_ = AlignedMemory();
    aligned_size_ = 0;
    aligned_ = AlignedMemory(size);
    aligned_size_ = size;
  }
  if (size > 0) std::memcpy(aligned_.data(), bytes(id).data(), size);
  return aligned_.data();
}

ValueId Lowering::constant_bytes(std::size_t size, const std::function<void(std::byte*)>& fill) {
  count_made(size);
  const ValueId id = make_bytes(size);
  const auto memory = std::make_shared<AlignedMemory>(size);
  fill(memory->data());
  plan_.values[id].constant = onnx::Bytes{memory, {memory->data(), size}};
  return id;
}

ValueId Lowering::constant_ints(const std::vector<std::int64_t>& numbers) {
  return constant(DType::kInt64, {static_cast<std::int64_t>(numbers.size())},
                  onnx::Bytes::copy_of(std::as_bytes(std::span(numbers))));
}

ValueId Lowering::constant_float(float number) {
  return constant(DType::kFloat32, {}, onnx::Bytes::copy_of(std::as_bytes(std::span(&number, 1))));
}

ValueId Lowering::view(ValueId of, DType dtype, Shape shape, std::uint64_t offset) {
  const ValueId id = make(dtype, std::move(shape));
  PlanValue& value = plan_.values[id];
  const PlanValue& whole = plan_.values[of];
  if (offset + value.bytes > whole.bytes) refuse("a view that does not fit");
  if (whole.constant) {
    value.constant = onnx::Bytes{whole.constant->owner, whole.constant->view.subspan(offset, value.bytes)};
  } else {
    const Plan::Root root = plan_.root(of);  // so that nobody walks through views of views
    value.view_of = root.value;
    value.view_offset = root.offset + offset;
  }
  return id;
}

}  // namespace leapp::native
