// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Arguments, results and errors; the nodes are in builder_nodes.cpp and builder_shape.cpp.
#include "emit/onnx/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace leapp::onnx_ops {
namespace {

std::optional<Scalar> scalar_of(const graph::Attribute& attribute) {
  if (const auto* value = std::get_if<bool>(&attribute)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&attribute)) return *value;
  if (const auto* value = std::get_if<double>(&attribute)) return *value;
  if (const auto* value = std::get_if<graph::Complex>(&attribute)) return *value;
  return std::nullopt;
}

}  // namespace

std::string location_text(const graph::SourceLocation& location) {
  return location.file.empty() ? std::string() : fmt::format("{}:{}", location.file, location.line);
}

std::string OpBuilder::where_from() const {
  const std::string line = location_text(node_.location());
  return line.empty() ? node_.qualified_name() : fmt::format("{} at {}", node_.qualified_name(), line);
}

void OpBuilder::refuse(const std::string& why) {
  if (status_.ok()) status_ = unimplemented(fmt::format("{}: {}", where_from(), why));
}

void OpBuilder::fault(const std::string& what) {
  if (status_.ok()) status_ = internal_error(fmt::format("{}: {}", where_from(), what));
}

const graph::Attribute* OpBuilder::argument(std::string_view name) {
  const graph::Attribute* found = node_.find(name);
  if (found == nullptr) fault(fmt::format("expected an argument '{}', found none of that name", name));
  return found;
}

bool OpBuilder::has(std::string_view name) const {
  const graph::Attribute* found = node_.find(name);
  return found != nullptr && !std::holds_alternative<std::monostate>(*found);
}

Tensor OpBuilder::placeholder(TensorType type) {
  // Zero bytes by reference to nothing would not do: a placeholder never reaches a model, but handlers compute on it.
  return model_.add_node({"Identity", {}, {}, {std::move(type)}, ""})[0];
}

OpBuilder::OpBuilder(ModelBuilder& model, Values& values, const graph::Node& node, std::string_view onnx_op, Part part)
    : model_(model), values_(values), node_(node), onnx_op_(onnx_op), part_(part) {
  for (const auto& result : node.results()) {
    result_types_.push_back({part_dtype(result->dtype()), result->shape()});
  }
}

/// The parts of a complex constant: of every pair of numbers one each.
void OpBuilder::split_constant(const graph::Value* value) {
  if (values_.contains(value) || value->kind() != graph::ValueKind::kConstant) return;
  const DType dtype = part_dtype(value->dtype());
  const auto bytes = value->constant().bytes();
  std::vector<Scalar> real;
  std::vector<Scalar> imaginary;
  for (std::size_t i = 0; i < static_cast<std::size_t>(graph::element_count(value->shape())); ++i) {
    real.push_back(read_number(dtype, bytes, 2 * i));
    imaginary.push_back(read_number(dtype, bytes, 2 * i + 1));
  }
  values_.tensors.emplace(value, constant(real, {dtype, value->shape()}));
  values_.imaginary.emplace(value, constant(imaginary, {dtype, value->shape()}));
}

Tensor OpBuilder::lookup(const graph::Value* value) {
  if (is_complex(value->dtype())) {
    const TensorType type{part_dtype(value->dtype()), value->shape()};
    if (part_ == Part::kWhole) {
      refuse(fmt::format("ONNX has no {} arithmetic", dtype_name(value->dtype())));
      return placeholder(type);
    }
    split_constant(value);
    const auto& parts = part_ == Part::kReal ? values_.tensors : values_.imaginary;
    const auto part = parts.find(value);
    if (part == parts.end()) fault(fmt::format("%{} has no parts", value->name()));
    return part == parts.end() ? placeholder(type) : part->second;
  }
  const auto found = values_.tensors.find(value);
  if (found != values_.tensors.end()) return found->second;
  if (values_.padded.contains(value)) {
    refuse("takes a packed sequence whose lengths depend on an input; pad it first (pad_packed_sequence)");
    return placeholder(value->type());
  }
  if (value->kind() != graph::ValueKind::kConstant) {
    fault(fmt::format("%{} is used before it is defined", value->name()));
    return placeholder(value->type());
  }
  if (!onnx::data_type_of(value->dtype())) {
    refuse(fmt::format("ONNX has no {} arithmetic", dtype_name(value->dtype())));
    return placeholder(value->type());
  }
  const Tensor tensor = model_.add_constant(value->constant(), value->name());
  values_.tensors.emplace(value, tensor);
  return tensor;
}

/// Beside complex tensors in a list, real ones have zeros as their other parts.
Tensor OpBuilder::lookup_in_list(const graph::Value* value) {
  if (value == nullptr) return Tensor{};
  const bool real = is_floating(value->dtype()) && part_ == Part::kImaginary;
  return real ? full(0.0, value->type()) : lookup(value);
}

bool OpBuilder::is_complex_argument(std::string_view name) const {
  const graph::Attribute* found = node_.find(name);
  if (found == nullptr) return false;
  if (const auto* value = std::get_if<graph::Value*>(found)) return is_complex((*value)->dtype());
  return std::holds_alternative<graph::Complex>(*found);
}

ComplexTensor OpBuilder::complex(std::string_view name, std::optional<DType> dtype) {
  ComplexTensor found;
  if (is_number(name)) {
    const Scalar value = scalar(name);
    const auto* pair = std::get_if<graph::Complex>(&value);
    const DType number = dtype.value_or(DType::kFloat32);
    if (pair == nullptr) return {constant(value, number), constant(0.0, number)};
    return {constant(pair->real(), number), constant(pair->imag(), number)};
  }
  if (is_complex_argument(name)) {
    const graph::Value* value = std::get<graph::Value*>(*node_.find(name));
    split_constant(value);
    found = {values_.tensors.at(value), values_.imaginary.at(value)};
  } else {
    found.real = tensor(name);
    found.imaginary = full(0.0, found.real.type());
  }
  if (!dtype) return found;
  return {cast(found.real, *dtype), cast(found.imaginary, *dtype)};
}

std::vector<ComplexTensor> OpBuilder::complex_list(std::string_view name, DType dtype) {
  std::vector<ComplexTensor> list;
  const graph::Attribute* found = argument(name);
  const auto* values = found != nullptr ? std::get_if<std::vector<graph::Value*>>(found) : nullptr;
  if (values == nullptr) return list;
  for (const graph::Value* value : *values) {
    if (!is_complex(value->dtype())) {
      list.push_back({cast(lookup(value), dtype), {}});
      continue;
    }
    split_constant(value);
    list.push_back({cast(values_.tensors.at(value), dtype), cast(values_.imaginary.at(value), dtype)});
  }
  return list;
}

const PaddedSequence* OpBuilder::padded(std::string_view name) const {
  const graph::Attribute* found = node_.find(name);
  const auto* value = found != nullptr ? std::get_if<graph::Value*>(found) : nullptr;
  const auto known = value != nullptr ? values_.padded.find(*value) : values_.padded.end();
  return known != values_.padded.end() ? &known->second : nullptr;
}

Tensor OpBuilder::tensor(std::string_view name) {
  const graph::Attribute* found = argument(name);
  if (found != nullptr) {
    if (const auto* value = std::get_if<graph::Value*>(found)) return lookup(*value);
    if (const auto number = scalar_of(*found)) return constant(*number, number_dtype(*number));
    fault(fmt::format("argument '{}': expected a tensor", name));
  }
  return placeholder({});
}

Tensor OpBuilder::optional_tensor(std::string_view name) { return has(name) ? tensor(name) : Tensor{}; }

Tensors OpBuilder::tensors(std::string_view name) {
  Tensors list;
  const graph::Attribute* found = argument(name);
  if (found == nullptr) return list;
  const auto* values = std::get_if<std::vector<graph::Value*>>(found);
  if (values == nullptr) {
    fault(fmt::format("argument '{}': expected a list of tensors", name));
    return list;
  }
  for (const graph::Value* value : *values) list.push_back(lookup_in_list(value));
  return list;
}

bool OpBuilder::is_number(std::string_view name) const {
  const graph::Attribute* found = node_.find(name);
  return found != nullptr && scalar_of(*found).has_value();
}

Tensor OpBuilder::operand(std::string_view name, DType dtype) {
  return is_number(name) ? constant(scalar(name), dtype) : cast(tensor(name), dtype);
}

Scalar OpBuilder::scalar(std::string_view name) {
  const graph::Attribute* found = argument(name);
  if (found == nullptr) return std::int64_t{0};
  if (const auto number = scalar_of(*found)) return *number;
  if (const auto* value = std::get_if<graph::Value*>(found)) {
    // Scalars that were read from a constant tensor.
    const auto known = known_values(lookup(*value));
    if (known && known->size() == 1) return known->front();
    refuse(fmt::format("argument '{}' is a tensor; ONNX needs a number that is known when exporting", name));
    return std::int64_t{0};
  }
  fault(fmt::format("argument '{}': expected a number", name));
  return std::int64_t{0};
}

std::int64_t OpBuilder::integer(std::string_view name) { return to_int64(scalar(name)); }
double OpBuilder::number(std::string_view name) { return to_double(scalar(name)); }
bool OpBuilder::flag(std::string_view name) { return to_double(scalar(name)) != 0; }

std::string OpBuilder::text(std::string_view name) {
  const graph::Attribute* found = argument(name);
  const auto* value = found == nullptr ? nullptr : std::get_if<std::string>(found);
  if (value == nullptr) fault(fmt::format("argument '{}': expected a string", name));
  return value == nullptr ? std::string() : *value;
}

Ints OpBuilder::integers(std::string_view name) {
  const graph::Attribute* found = argument(name);
  if (found == nullptr) return {};
  if (const auto* list = std::get_if<Ints>(found)) return *list;
  if (const auto* one = std::get_if<std::int64_t>(found)) return {*one};
  if (std::holds_alternative<std::monostate>(*found)) return {};
  // A list without elements has no type of its own.
  if (const auto* values = std::get_if<std::vector<graph::Value*>>(found); values != nullptr && values->empty()) {
    return {};
  }
  fault(fmt::format("argument '{}': expected a list of integers", name));
  return {};
}

std::optional<DType> OpBuilder::dtype(std::string_view name) {
  if (!has(name)) return std::nullopt;
  const auto* value = std::get_if<DType>(node_.find(name));
  if (value == nullptr) {
    fault(fmt::format("argument '{}': expected a dtype", name));
    return std::nullopt;
  }
  return *value;
}

DType OpBuilder::promoted(std::initializer_list<std::string_view> names) {
  std::vector<PromotedOperand> operands;
  for (const std::string_view name : names) {
    if (is_number(name)) {
      operands.push_back({number_dtype(scalar(name)), true, true});
    } else if (has(name)) {
      const Tensor value = tensor(name);
      operands.push_back({value.dtype, value.shape.empty(), false});
    }
  }
  return result_type(operands);
}

std::optional<std::vector<Scalar>> OpBuilder::known_values(const Tensor& value) const {
  const graph::Constant* found = model_.constant(value);
  if (found == nullptr) return std::nullopt;
  std::vector<Scalar> numbers;
  const auto bytes = found->bytes();
  const auto count = static_cast<std::size_t>(value.elements());
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(read_number(value.dtype, bytes, i));
  return numbers;
}

bool OpBuilder::has_type_of(std::size_t index, const Tensor& value) {
  const TensorType& expected = result(index);
  if (value.type() == expected) return true;
  fault(fmt::format("result {} came out as {}, the graph says {}", index, type_text(value.dtype, value.shape),
                    type_text(expected.dtype, expected.shape)));
  return false;
}

void OpBuilder::bind(std::size_t index, const Tensor& value) {
  if (!ok() || !has_type_of(index, value)) return;
  auto& parts =
      part_ == Part::kImaginary && is_complex(node_.result(index)->dtype()) ? values_.imaginary : values_.tensors;
  parts.insert_or_assign(node_.result(index), value);
}

void OpBuilder::bind(std::size_t index, const ComplexTensor& value) {
  if (!ok() || !has_type_of(index, value.real) || !has_type_of(index, value.imaginary)) return;
  values_.tensors.insert_or_assign(node_.result(index), value.real);
  values_.imaginary.insert_or_assign(node_.result(index), value.imaginary);
}

void OpBuilder::bind(std::size_t index, PaddedSequence value) {
  if (ok()) values_.padded.insert_or_assign(node_.result(index), std::move(value));
}

}  // namespace leapp::onnx_ops
