// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/attributes.h"

#include <ATen/core/List.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <sstream>
#include <utility>
#include <vector>

#include "torch_types/tensors.h"

namespace leapp::capture {
namespace {

template <typename T>
std::string text_of(const T& thing) {
  std::ostringstream text;
  text << thing;
  return text.str();
}

graph::Attribute scalar(const c10::IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (!value.isComplexDouble()) throw UnknownArgument(value);
  return graph::Complex(value.toComplexDouble().real(), value.toComplexDouble().imag());
}

DType dtype_of(const c10::IValue& value) {
  const auto scalar_type = static_cast<at::ScalarType>(value.toInt());
  const auto known = to_dtype(scalar_type);
  return known ? *known : throw UnknownDtype(scalar_type);
}

graph::Attribute list(const c10::IValue& value, const c10::Type& element) {
  const auto items = value.toListRef();
  const auto collect = [&]<typename T>(auto get) {
    std::vector<T> result;
    for (const c10::IValue& item : items) result.push_back(get(item));
    return result;
  };
  switch (element.kind()) {
    case c10::TypeKind::BoolType:
      return collect.operator()<bool>([](const auto& item) { return item.toBool(); });
    case c10::TypeKind::FloatType:
      return collect.operator()<double>([](const auto& item) { return item.toDouble(); });
    case c10::TypeKind::StringType:
      return collect.operator()<std::string>([](const auto& item) { return item.toStringRef(); });
    case c10::TypeKind::NumberType:
      return collect.operator()<graph::Scalar>([](const c10::IValue& item) {
        return std::visit(
            [](const auto& number) -> graph::Scalar {
              if constexpr (std::is_constructible_v<graph::Scalar, decltype(number)>) return number;
              return std::int64_t{0};
            },
            scalar(item));
      });
    case c10::TypeKind::ScalarTypeType:
      return collect.operator()<DType>([](const auto& item) { return dtype_of(item); });
    default:
      return collect.operator()<std::int64_t>([](const auto& item) { return item.toInt(); });
  }
}

}  // namespace

graph::Attribute to_attribute(const c10::IValue& value, c10::TypePtr type) {
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  if (value.isNone()) return std::monostate{};
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return graph::Device{value.toDevice().str()};
  if (value.isList()) {
    const auto element = type->cast<c10::ListType>();
    return list(value, element ? *element->getElementType() : *c10::IntType::get());
  }
  if (value.isInt()) {
    switch (type->kind()) {
      case c10::TypeKind::ScalarTypeType:
        return dtype_of(value);
      case c10::TypeKind::LayoutType: {
        std::string name = text_of(static_cast<at::Layout>(value.toInt()));
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
        return graph::Layout{name};
      }
      case c10::TypeKind::MemoryFormatType: {
        switch (static_cast<at::MemoryFormat>(value.toInt())) {
          case at::MemoryFormat::Contiguous:
            return graph::MemoryFormat{"contiguous_format"};
          case at::MemoryFormat::ChannelsLast:
            return graph::MemoryFormat{"channels_last"};
          case at::MemoryFormat::ChannelsLast3d:
            return graph::MemoryFormat{"channels_last_3d"};
          default:
            return graph::MemoryFormat{"preserve_format"};
        }
      }
      case c10::TypeKind::FloatType:
        return static_cast<double>(value.toInt());
      default:
        break;
    }
  }
  return scalar(value);
}

namespace {

constexpr std::array<std::pair<const char*, at::MemoryFormat>, 4> kMemoryFormats = {{
    {"contiguous_format", at::MemoryFormat::Contiguous},
    {"preserve_format", at::MemoryFormat::Preserve},
    {"channels_last", at::MemoryFormat::ChannelsLast},
    {"channels_last_3d", at::MemoryFormat::ChannelsLast3d},
}};

// One overload for each thing an attribute can hold.
struct ToIValue {
  c10::IValue operator()(std::monostate) const { return {}; }
  c10::IValue operator()(bool flag) const { return flag; }
  c10::IValue operator()(std::int64_t number) const { return number; }
  c10::IValue operator()(double number) const { return number; }
  c10::IValue operator()(const graph::Complex& number) const {
    return c10::complex<double>(number.real(), number.imag());
  }
  c10::IValue operator()(const std::string& text) const { return text; }
  c10::IValue operator()(DType dtype) const { return static_cast<std::int64_t>(to_scalar_type(dtype)); }
  c10::IValue operator()(const graph::Device& device) const { return c10::Device(device.name); }
  c10::IValue operator()(const graph::Layout& layout) const {
    for (const at::Layout known : {at::kStrided, at::kSparse, at::kSparseCsr, at::kMkldnn, at::kSparseCsc,
                                   at::kSparseBsr, at::kSparseBsc, at::kJagged}) {
      std::string name = text_of(known);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      if (name == layout.name) return static_cast<std::int64_t>(known);
    }
    TORCH_CHECK(false, "torch has no layout '", layout.name, "'");
  }
  c10::IValue operator()(const graph::MemoryFormat& format) const {
    for (const auto& [name, known] : kMemoryFormats) {
      if (name == format.name) return static_cast<std::int64_t>(known);
    }
    TORCH_CHECK(false, "torch has no memory format '", format.name, "'");
  }
  c10::IValue operator()(const std::vector<bool>& list) const {
    c10::List<bool> items;
    for (const bool item : list) items.push_back(item);
    return items;
  }
  c10::IValue operator()(const std::vector<std::int64_t>& list) const { return c10::List<std::int64_t>(list); }
  c10::IValue operator()(const std::vector<double>& list) const { return c10::List<double>(list); }
  c10::IValue operator()(const std::vector<std::string>& list) const {
    c10::List<std::string> items;
    for (const std::string& item : list) items.push_back(item);
    return items;
  }
  c10::IValue operator()(const std::vector<DType>& list) const {
    c10::List<std::int64_t> items;
    for (const DType item : list) items.push_back(static_cast<std::int64_t>(to_scalar_type(item)));
    return items;
  }
  c10::IValue operator()(const std::vector<graph::Scalar>& list) const {
    c10::impl::GenericList items(c10::NumberType::get());
    for (const graph::Scalar& item : list) items.push_back(std::visit(*this, item));
    return items;
  }
  c10::IValue operator()(graph::Value*) const { return {}; }
  c10::IValue operator()(const std::vector<graph::Value*>&) const { return {}; }
  c10::IValue operator()(const graph::GraphPtr&) const { return {}; }
};

}  // namespace

c10::IValue to_ivalue(const graph::Attribute& attribute) { return std::visit(ToIValue(), attribute); }

}  // namespace leapp::capture
