// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace leapp::bundle {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and so are tensors in memory");

constexpr std::size_t kAlignment = 8;

constexpr std::array<std::pair<DType, std::string_view>, 16> kNames{{
    {DType::kFloat16, "F16"},
    {DType::kFloat32, "F32"},
    {DType::kFloat64, "F64"},
    {DType::kBFloat16, "BF16"},
    {DType::kInt8, "I8"},
    {DType::kInt16, "I16"},
    {DType::kInt32, "I32"},
    {DType::kInt64, "I64"},
    {DType::kUInt8, "U8"},
    {DType::kBool, "BOOL"},
    {DType::kUInt16, "U16"},
    {DType::kUInt32, "U32"},
    {DType::kUInt64, "U64"},
    {DType::kComplex64, "C64"},
    {DType::kFloat8E4M3FN, "F8_E4M3"},
    {DType::kFloat8E5M2, "F8_E5M2"},
}};

std::optional<std::uint64_t> byte_count(const TensorEntry& entry) {
  std::uint64_t count = dtype_size(entry.dtype);
  for (const std::int64_t extent : entry.shape) {
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count)) return std::nullopt;
  }
  return count;
}

Status check(const TensorEntry& entry) {
  if (entry.name == "__metadata__" || !is_utf8(entry.name)) {
    return invalid_argument(fmt::format("{} cannot be the name of a tensor in a safetensors file", quote(entry.name)));
  }
  if (!safetensors_dtype(entry.dtype)) {
    return invalid_argument(
        fmt::format("{}: safetensors files cannot hold {}", quote(entry.name), dtype_name(entry.dtype)));
  }
  if (byte_count(entry) != entry.bytes.size()) {
    return invalid_argument(fmt::format("{}: {} bytes do not make a {}", quote(entry.name), entry.bytes.size(),
                                        type_text(entry.dtype, entry.shape)));
  }
  return {};
}

/// As JSON with sorted keys. Not made of JSON objects: their destructor asks for memory, and ends the process when
/// there is none.
std::string header_text(const std::vector<const TensorEntry*>& in_order) {
  std::map<std::string_view, std::string> parts;
  std::size_t offset = 0;
  for (const TensorEntry* entry : in_order) {
    const std::size_t end = offset + entry->bytes.size();
    parts[entry->name] =
        fmt::format(R"({}:{{"data_offsets":[{},{}],"dtype":"{}","shape":[{}]}})", nlohmann::json(entry->name).dump(),
                    offset, end, *safetensors_dtype(entry->dtype), fmt::join(entry->shape, ","));
    offset = end;
  }
  std::string text = "{";
  for (const auto& [name, part] : parts) text += (text.size() > 1 ? "," : "") + part;
  text += '}';
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace

std::optional<std::string_view> safetensors_dtype(DType dtype) {
  const auto* row = std::find_if(kNames.begin(), kNames.end(), [&](const auto& name) { return name.first == dtype; });
  return row == kNames.end() ? std::nullopt : std::optional(row->second);
}

std::optional<DType> parse_safetensors_dtype(std::string_view name) {
  const auto* row = std::find_if(kNames.begin(), kNames.end(), [&](const auto& pair) { return pair.second == name; });
  return row == kNames.end() ? std::nullopt : std::optional(row->first);
}

Result<std::vector<std::byte>> safetensors_bytes(std::span<const TensorEntry> entries) {
  std::vector<const TensorEntry*> in_order;
  std::size_t data_size = 0;
  for (const TensorEntry& entry : entries) {
    LEAPP_RETURN_IF_ERROR(check(entry));
    in_order.push_back(&entry);
    data_size += entry.bytes.size();
  }
  const auto by_name = [](const TensorEntry* a, const TensorEntry* b) { return a->name < b->name; };
  std::sort(in_order.begin(), in_order.end(), by_name);
  const auto twice = std::adjacent_find(in_order.begin(), in_order.end(),
                                        [](const auto* a, const auto* b) { return a->name == b->name; });
  if (twice != in_order.end()) return invalid_argument(fmt::format("{} occurs twice", quote((*twice)->name)));
  std::stable_sort(in_order.begin(), in_order.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return dtype_size(a->dtype) > dtype_size(b->dtype);
  });

  const std::string header = header_text(in_order);
  const auto length = std::bit_cast<std::array<std::byte, 8>>(std::uint64_t{header.size()});
  const auto header_bytes = std::as_bytes(std::span(header));
  std::vector<std::byte> file(length.size() + header.size() + data_size);
  auto at = std::copy(length.begin(), length.end(), file.begin());
  at = std::copy(header_bytes.begin(), header_bytes.end(), at);
  for (const TensorEntry* entry : in_order) at = std::copy(entry->bytes.begin(), entry->bytes.end(), at);
  return file;
}

}  // namespace leapp::bundle
