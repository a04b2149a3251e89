// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/recording_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include "engine/native/scalar/numbers.h"

namespace leapp::runtime {
namespace {

constexpr std::size_t kLargestMessage = (std::size_t{1} << 31U) - 64;

// Wire types and field types of the encoding.
constexpr unsigned kVarint = 0;
constexpr unsigned kFixed64 = 1;
constexpr unsigned kLengthDelimited = 2;
constexpr unsigned kFixed32 = 5;
enum class FieldType : std::uint8_t {
  kDouble = 1,
  kFloat = 2,
  kUint64 = 4,
  kFixed32 = 7,
  kBool = 8,
  kBytes = 12,
  kEnum = 14,
  kSfixed32 = 15,
  kSfixed64 = 16
};
constexpr std::uint64_t kOptional = 1;
constexpr std::uint64_t kRepeated = 3;

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) to.push_back(static_cast<char>(value | 0x80U));
  to.push_back(static_cast<char>(value));
}

void put_tag(std::string& to, std::uint64_t field, unsigned wire) { put_varint(to, field << 3U | wire); }

void put_number(std::string& to, std::uint64_t field, std::uint64_t value) {
  put_tag(to, field, kVarint);
  put_varint(to, value);
}

void put_bytes(std::string& to, std::uint64_t field, std::string_view bytes) {
  put_tag(to, field, kLengthDelimited);
  put_varint(to, bytes.size());
  to += bytes;
}

/// False when there is no whole number.
bool take_varint(std::string_view& from, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Where a port's dtype goes.
struct Wire {
  FieldType type = FieldType::kFloat;
  std::size_t width = 4;
  bool as_it_is = false;  ///< in memory as in a message
};

Wire wire_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return {FieldType::kFloat, 4, true};
    case DType::kFloat64:
      return {FieldType::kDouble, 8, true};
    case DType::kInt8:
    case DType::kInt16:
      return {FieldType::kSfixed32, 4, false};
    case DType::kInt32:
      return {FieldType::kSfixed32, 4, true};
    case DType::kInt64:
      return {FieldType::kSfixed64, 8, true};
    case DType::kUInt8:
      return {FieldType::kFixed32, 4, false};
    case DType::kBool:
      return {FieldType::kBool, 1, false};
    default:
      return {FieldType::kFloat, 4, false};
  }
}

unsigned wire_type(FieldType type, std::size_t width) {
  return type == FieldType::kBool ? kVarint : width == 8 ? kFixed64 : kFixed32;
}

// Bits, not numbers: what is not a number keeps all of its own.
std::uint32_t float_bits_of_half(std::uint16_t half) {
  if ((half & 0x7c00U) == 0x7c00U) return (half & 0x8000U) << 16U | 0x7f800000U | (half & 0x3ffU) << 13U;
  const float wide = native::widen(native::Half{half});
  std::uint32_t bits = 0;
  std::memcpy(&bits, &wide, sizeof bits);
  return bits;
}

std::uint16_t half_of_float_bits(std::uint32_t bits) {
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  if ((bits & 0x7f800000U) == 0x7f800000U) {
    return static_cast<std::uint16_t>(sign | 0x7c00U | (bits >> 13U & 0x3ffU));
  }
  float wide = 0;
  std::memcpy(&wide, &bits, sizeof wide);
  return native::to_half(wide).bits;
}

template <typename Element>
Element load(const std::byte* from) {
  Element element{};
  std::memcpy(&element, from, sizeof element);
  return element;
}

/// The bits of one element as they stand in a message; at most eight bytes.
std::uint64_t to_wire(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat16:
      return float_bits_of_half(load<std::uint16_t>(element));
    case DType::kBFloat16:
      return std::uint64_t{load<std::uint16_t>(element)} << 16U;
    case DType::kInt8:
      return static_cast<std::uint32_t>(std::int32_t{load<std::int8_t>(element)});
    case DType::kInt16:
      return static_cast<std::uint32_t>(std::int32_t{load<std::int16_t>(element)});
    case DType::kUInt8:
      return load<std::uint8_t>(element);
    case DType::kBool:
      return load<std::uint8_t>(element) != 0 ? 1 : 0;
    default:
      return dtype_size(dtype) == 8 ? load<std::uint64_t>(element) : load<std::uint32_t>(element);
  }
}

void from_wire(DType dtype, std::uint64_t bits, std::byte* element) {
  if (dtype == DType::kFloat16) {
    bits = half_of_float_bits(static_cast<std::uint32_t>(bits));
  } else if (dtype == DType::kBFloat16) {
    bits >>= 16U;
  }
  std::memcpy(element, &bits, dtype_size(dtype));
}

struct Field {
  std::string name;
  std::uint64_t number = 0;
  FieldType type = FieldType::kFloat;
  std::uint64_t label = kOptional;
  std::string type_name;
};

// descriptor.proto: FieldDescriptorProto, DescriptorProto, FileDescriptorProto, FileDescriptorSet.
std::string field_text(const Field& field) {
  std::string text;
  put_bytes(text, 1, field.name);
  put_number(text, 3, field.number);
  put_number(text, 4, field.label);
  put_number(text, 5, static_cast<std::uint64_t>(field.type));
  if (!field.type_name.empty()) put_bytes(text, 6, field.type_name);
  put_bytes(text, 10, field.name);
  return text;
}

std::string file_set(const std::string& name, const std::vector<Field>& fields, std::string_view enum_text = {}) {
  std::string message;
  put_bytes(message, 1, name);
  for (const Field& field : fields) put_bytes(message, 2, field_text(field));
  if (!enum_text.empty()) put_bytes(message, 4, enum_text);
  std::string file;
  put_bytes(file, 1, fmt::format("leapp/{}.proto", name));
  put_bytes(file, 2, "leapp");
  put_bytes(file, 4, message);
  put_bytes(file, 12, "proto3");
  std::string set;
  put_bytes(set, 1, file);
  return set;
}

std::string enum_of_results() {
  std::string text;
  put_bytes(text, 1, "Result");
  constexpr std::array<const char*, 4> kNames{"OK", "FAILED", "NOT_PREPARED", "REFUSED"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    std::string value;
    put_bytes(value, 1, kNames[i]);
    put_number(value, 2, i);
    put_bytes(text, 2, value);
  }
  return text;
}

constexpr std::array<std::pair<const char*, std::uint64_t StepInfo::*>, 10> kStepFields{{
    {"number", &StepInfo::number},
    {"result", &StepInfo::result},
    {"dropped", &StepInfo::dropped},
    {"begin_ns", &StepInfo::begin},
    {"end_ns", &StepInfo::end},
    {"deadline_ns", &StepInfo::deadline},
    {"woken_ns", &StepInfo::woken},
    {"input_ns", &StepInfo::input},
    {"guard_events", &StepInfo::guard_events},
    {"guards_changed", &StepInfo::guards_changed},
}};

Status no_message(const char* what, std::size_t expected, std::size_t found) {
  return data_loss(
      fmt::format("expected a message with {} ({} bytes), found {} bytes of something else", what, expected, found));
}

}  // namespace

PortCodec::PortCodec(DType dtype, std::size_t elements, std::vector<std::string> fields, bool has_fields)
    : dtype_(dtype), elements_(elements), has_fields_(has_fields), fields_(std::move(fields)) {
  const Wire wire = wire_of(dtype);
  if (has_fields) {
    std::string tag;
    for (std::size_t i = 0; i < elements; ++i) put_tag(tag, i + 1, wire_type(wire.type, wire.width));
    size_ = tag.size() + elements * wire.width;
    return;
  }
  put_tag(prefix_, 1, kLengthDelimited);
  put_varint(prefix_, elements * wire.width);
  size_ = prefix_.size() + elements * wire.width;
}

Result<PortCodec> PortCodec::make(DType dtype, std::size_t elements) {
  if (elements > kLargestMessage / wire_of(dtype).width) {
    return invalid_argument(fmt::format("expected at most {} bytes in a message, found {} elements of {}",
                                        kLargestMessage, elements, dtype_name(dtype)));
  }
  return PortCodec(dtype, elements, {}, false);
}

PortCodec PortCodec::make(DType dtype, std::vector<std::string> fields) {
  const std::size_t count = fields.size();
  return {dtype, count, std::move(fields), true};
}

Result<PortCodec> PortCodec::make_fields(DType dtype, std::size_t count) {
  if (count > kMostFields) {
    return invalid_argument(fmt::format("expected at most {} fields in a message, found {}", kMostFields, count));
  }
  return PortCodec(dtype, count, {}, true);
}

void PortCodec::encode(const std::byte* values, std::string& to) const {
  const Wire wire = wire_of(dtype_);
  const std::size_t step = dtype_size(dtype_);
  if (!has_fields_ && wire.as_it_is) {
    to += prefix_;
    to.append(reinterpret_cast<const char*>(values), bytes());
    return;
  }
  to += prefix_;
  for (std::size_t i = 0; i < elements_; ++i) {
    if (has_fields_) put_tag(to, i + 1, wire_type(wire.type, wire.width));
    const std::uint64_t bits = to_wire(dtype_, values + i * step);
    to.append(reinterpret_cast<const char*>(&bits), wire.width);
  }
}

Status PortCodec::decode(std::string_view message, std::byte* values) const {
  const Status wrong = no_message("the values of the port", size_, message.size());
  if (message.size() != size_ || !message.starts_with(prefix_)) return wrong;
  message.remove_prefix(prefix_.size());
  const Wire wire = wire_of(dtype_);
  const std::size_t step = dtype_size(dtype_);
  if (!has_fields_ && wire.as_it_is) {
    if (!message.empty()) std::memcpy(values, message.data(), message.size());
    return {};
  }
  for (std::size_t i = 0; i < elements_; ++i) {
    std::uint64_t tag = 0;
    if (has_fields_ && (!take_varint(message, tag) || tag != ((i + 1) << 3U | wire_type(wire.type, wire.width)))) {
      return wrong;
    }
    if (message.size() < wire.width) return wrong;
    std::uint64_t bits = 0;
    std::memcpy(&bits, message.data(), wire.width);
    if (dtype_ == DType::kBool && bits > 1) return wrong;
    message.remove_prefix(wire.width);
    from_wire(dtype_, bits, values + i * step);
  }
  return message.empty() ? Status() : wrong;
}

std::string PortCodec::descriptor(const std::string& name) const {
  const FieldType type = wire_of(dtype_).type;
  if (!has_fields_) return file_set(name, {{"values", 1, type, kRepeated, ""}});
  std::vector<Field> fields;
  for (std::size_t i = 0; i < fields_.size(); ++i) fields.push_back({fields_[i], i + 1, type, kOptional, ""});
  return file_set(name, fields);
}

void encode(const StepInfo& info, std::string& to) {
  for (std::size_t i = 0; i < kStepFields.size(); ++i) {
    if (const std::uint64_t value = info.*kStepFields[i].second; value != 0) put_number(to, i + 1, value);
  }
}

Result<StepInfo> decode_step(std::string_view message) {
  StepInfo info;
  while (!message.empty()) {
    std::uint64_t tag = 0;
    std::uint64_t value = 0;
    if (!take_varint(message, tag) || !take_varint(message, value) || tag % 8 != kVarint || tag / 8 == 0 ||
        tag / 8 > kStepFields.size()) {
      return data_loss("expected a message about a step (leapp.Step), found something else");
    }
    info.*kStepFields[tag / 8 - 1].second = value;
  }
  return info;
}

std::string step_descriptor() {
  std::vector<Field> fields;
  for (std::size_t i = 0; i < kStepFields.size(); ++i) {
    fields.push_back({kStepFields[i].first, i + 1, FieldType::kUint64, kOptional, ""});
  }
  fields[1].type = FieldType::kEnum;
  fields[1].type_name = ".leapp.Step.Result";
  fields.back().type = FieldType::kBool;
  return file_set("Step", fields, enum_of_results());
}

void encode_memory(std::string_view memory, std::string& to) { put_bytes(to, 1, memory); }

Result<std::string_view> decode_memory(std::string_view message) {
  std::string_view rest = message;
  std::uint64_t tag = 0;
  std::uint64_t size = 0;
  if (!take_varint(rest, tag) || !take_varint(rest, size) || tag != (1U << 3U | kLengthDelimited) ||
      size != rest.size()) {
    return no_message("what the guards remember", 0, message.size());
  }
  return rest;
}

std::string memory_descriptor() { return file_set("GuardMemory", {{"memory", 1, FieldType::kBytes, kOptional, ""}}); }

std::string identifier(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    made.push_back(byte < 0x80 && std::isalnum(byte) != 0 ? c : '_');
  }
  if (made.empty() || std::isdigit(static_cast<unsigned char>(made.front())) != 0) made.insert(0, "e");
  return made;
}

std::vector<std::string> field_names(const std::vector<std::string>& names) {
  std::vector<std::string> fields;
  std::set<std::string> seen;  // without underscores and in small letters, as the encoding's JSON form sees them
  for (const std::string& name : names) {
    std::string bare;
    fields.push_back(identifier(name));
    for (const char c : fields.back()) {
      if (c != '_') bare.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
    if (!seen.insert(bare).second) return {};
  }
  return fields;
}

}  // namespace leapp::runtime
