// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "bundle/files/safetensors.h"
#include "bundle/files/safetensors_file.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

constexpr std::size_t kHighestTensorRank = 64;

struct Entry {
  TensorRange tensor;
  std::optional<DType> dtype;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

/// Follows the header's JSON as it is parsed: no tree is built, and each key is seen, also a second one of its name.
/// Levels: 1 the file, 2 a tensor (or the metadata), 3 its shape or its offsets.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> entries;
  std::string problem;

  bool start_object(std::size_t /*elements*/) override {
    if (level_ == 0 || (level_ == 1 && !field_open_)) {
      ++level_;
      return true;
    }
    return fail("an object where none is expected");
  }

  bool end_object() override {
    if (level_ == 2 && !metadata_ && !complete(entries.back())) return false;
    --level_;
    metadata_ = false;
    return true;
  }

  bool key(std::string& name) override {
    if (level_ == 1) {
      if (!names_.insert(name).second) return fail(fmt::format("{} occurs twice", quote_brief(name)));
      metadata_ = name == "__metadata__";
      fields_.clear();
      if (names_.size() > kMostTensors) return fail(fmt::format("expected at most {} tensors", kMostTensors));
      if (!metadata_) entries.push_back({{.name = name}, {}, {}, {}});
      return true;
    }
    if (!fields_.insert(name).second) return fail(fmt::format("{} occurs twice", quote_brief(name)));
    field_ = name;
    if (metadata_ || name == "dtype" || name == "shape" || name == "data_offsets") return true;
    return fail(fmt::format("unknown field {}", quote_brief(name)));
  }

  bool string(std::string& value) override {
    if (level_ != 2 || field_open_) return fail("a string where none is expected");
    if (metadata_) return true;
    if (field_ != "dtype") return fail(fmt::format("{} is a string", field_));
    entries.back().dtype = parse_safetensors_dtype(value);
    return entries.back().dtype ? true : fail(fmt::format("unknown dtype {}", quote_brief(value)));
  }

  bool start_array(std::size_t /*elements*/) override {
    if (level_ != 2 || metadata_ || field_open_) return fail("a list where none is expected");
    if (field_ == "dtype") return fail("dtype is a list");
    (field_ == "shape" ? entries.back().shape : entries.back().offsets).emplace();
    field_open_ = true;
    return true;
  }

  bool end_array() override {
    field_open_ = false;
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (!field_open_) return fail("a number where none is expected");
    auto& list = field_ == "shape" ? entries.back().shape : entries.back().offsets;
    if (list->size() >= kHighestTensorRank)
      return fail(fmt::format("{} has more than {} entries", field_, kHighestTensorRank));
    list->push_back(value);
    return true;
  }

  bool null() override { return fail("a null where none is expected"); }
  bool boolean(bool /*value*/) override { return fail("a boolean where none is expected"); }
  bool number_integer(std::int64_t /*value*/) override { return fail("a negative number"); }
  bool number_float(double /*value*/, const std::string& text) override { return fail("a fraction: " + text); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return fail("binary data"); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return fail(fmt::format("not JSON at byte {}", position));
  }

 private:
  bool complete(Entry& entry) {
    if (!entry.dtype || !entry.shape || !entry.offsets) return fail("expected dtype, shape and data_offsets");
    if (entry.offsets->size() != 2) return fail("expected two data_offsets");
    entry.tensor.dtype = *entry.dtype;
    for (const std::uint64_t extent : *entry.shape) {
      if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return fail("an extent overflows");
      entry.tensor.shape.push_back(static_cast<std::int64_t>(extent));
    }
    return true;
  }

  bool fail(const std::string& message) {
    const bool inside = level_ >= 2 && !metadata_ && !entries.empty();
    problem = inside ? fmt::format("{}: {}", quote_brief(entries.back().tensor.name), message) : message;
    return false;
  }

  int level_ = 0;
  bool metadata_ = false;
  bool field_open_ = false;
  std::string field_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> fields_;
};

std::optional<std::uint64_t> byte_count(const TensorRange& tensor) {
  std::uint64_t count = dtype_size(tensor.dtype);
  for (const std::int64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count)) return std::nullopt;
  }
  return count;
}

// Sorts by offset and gives each its place; together they must be all of the data.
Status place(std::vector<Entry>& entries, std::uint64_t data_size) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return *a.offsets < *b.offsets; });
  std::uint64_t end = 0;
  for (Entry& entry : entries) {
    const std::uint64_t from = (*entry.offsets)[0];
    const std::uint64_t to = (*entry.offsets)[1];
    const std::string name = quote_brief(entry.tensor.name);
    if (from > to || to > data_size) {
      return data_loss(
          fmt::format("{}: data_offsets [{},{}] do not lie in the {} bytes of data", name, from, to, data_size));
    }
    if (from != end) {
      return data_loss(
          fmt::format("{}: expected its data at {}, where the one before ends, found {}", name, end, from));
    }
    if (byte_count(entry.tensor) != to - from) {
      return data_loss(fmt::format("{}: {} bytes do not make a {}", name, to - from,
                                   type_text(entry.tensor.dtype, entry.tensor.shape)));
    }
    entry.tensor.offset = from;
    entry.tensor.size = to - from;
    end = to;
  }
  if (end != data_size) return data_loss(fmt::format("{} bytes at the end belong to no tensor", data_size - end));
  return {};
}

}  // namespace

Result<std::uint64_t> safetensors_header_size(std::span<const std::byte> start, std::uint64_t file_size) {
  std::uint64_t length = 0;
  if (start.size() < sizeof length) return data_loss("not a safetensors file: shorter than 8 bytes");
  std::memcpy(&length, start.data(), sizeof length);
  if (length > kLargestHeader) {
    return data_loss(fmt::format("expected a header of at most {} bytes, found {}", kLargestHeader, length));
  }
  if (length > file_size - sizeof length) {
    return data_loss(fmt::format("the header says it has {} bytes, the file has {}", length, file_size));
  }
  return length;
}

Result<std::vector<TensorRange>> parse_safetensors_header(std::string_view header, std::uint64_t data_size) {
  if (!header.starts_with('{') || !is_utf8(header))
    return data_loss("expected a header that is a JSON object in UTF-8");
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(header.begin(), header.end(), &reader)) return data_loss("header: " + reader.problem);
  LEAPP_RETURN_IF_ERROR(place(reader.entries, data_size));
  std::vector<TensorRange> tensors;
  tensors.reserve(reader.entries.size());
  for (Entry& entry : reader.entries) tensors.push_back(std::move(entry.tensor));
  return tensors;
}

Result<std::vector<StoredTensor>> parse_safetensors(std::span<const std::byte> file) {
  LEAPP_ASSIGN_OR_RETURN(const std::uint64_t length, safetensors_header_size(file, file.size()));
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + kSafetensorsStart, length);
  const std::span<const std::byte> data = file.subspan(kSafetensorsStart + length);
  LEAPP_ASSIGN_OR_RETURN(std::vector<TensorRange> ranges, parse_safetensors_header(header, data.size()));
  std::vector<StoredTensor> tensors;
  tensors.reserve(ranges.size());
  for (TensorRange& range : ranges) {
    tensors.push_back(
        {std::move(range.name), range.dtype, std::move(range.shape), data.subspan(range.offset, range.size)});
  }
  return tensors;
}

}  // namespace leapp::bundle
