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
#include "bundle/safetensors.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

constexpr std::uint64_t kLargestHeader = 100'000'000;
constexpr std::size_t kHighestRank = 64;

struct Entry {
  StoredTensor tensor;
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
    return fail("an object where none belongs");
  }

  bool end_object() override {
    if (level_ == 2 && !metadata_ && !complete(entries.back())) return false;
    --level_;
    metadata_ = false;
    return true;
  }

  bool key(std::string& name) override {
    if (level_ == 1) {
      if (!names_.insert(name).second) return fail(fmt::format("{} occurs twice", quote(name)));
      metadata_ = name == "__metadata__";
      fields_.clear();
      if (!metadata_) entries.push_back({{.name = name}, {}, {}, {}});
      return true;
    }
    if (!fields_.insert(name).second) return fail(fmt::format("{} occurs twice", quote(name)));
    field_ = name;
    if (metadata_ || name == "dtype" || name == "shape" || name == "data_offsets") return true;
    return fail(fmt::format("unknown field {}", quote(name)));
  }

  bool string(std::string& value) override {
    if (level_ != 2 || field_open_) return fail("a string where none belongs");
    if (metadata_) return true;
    if (field_ != "dtype") return fail(fmt::format("{} is a string", field_));
    entries.back().dtype = parse_safetensors_dtype(value);
    return entries.back().dtype ? true : fail(fmt::format("unknown dtype {}", quote(value)));
  }

  bool start_array(std::size_t /*elements*/) override {
    if (level_ != 2 || metadata_ || field_open_) return fail("a list where none belongs");
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
    if (!field_open_) return fail("a number where none belongs");
    auto& list = field_ == "shape" ? entries.back().shape : entries.back().offsets;
    if (list->size() >= kHighestRank) return fail(fmt::format("{} has more than {} entries", field_, kHighestRank));
    list->push_back(value);
    return true;
  }

  bool null() override { return fail("a null where none belongs"); }
  bool boolean(bool /*value*/) override { return fail("a boolean where none belongs"); }
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
    problem = inside ? fmt::format("{}: {}", quote(entries.back().tensor.name), message) : message;
    return false;
  }

  int level_ = 0;
  bool metadata_ = false;
  bool field_open_ = false;
  std::string field_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> fields_;
};

std::optional<std::uint64_t> byte_count(const StoredTensor& tensor) {
  std::uint64_t count = dtype_size(tensor.dtype);
  for (const std::int64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count)) return std::nullopt;
  }
  return count;
}

// Sorts by offset and gives each its bytes; together they must be all of `data`.
Status place(std::vector<Entry>& entries, std::span<const std::byte> data) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return *a.offsets < *b.offsets; });
  std::uint64_t end = 0;
  for (Entry& entry : entries) {
    const std::uint64_t from = (*entry.offsets)[0];
    const std::uint64_t to = (*entry.offsets)[1];
    const std::string name = quote(entry.tensor.name);
    if (from > to || to > data.size()) {
      return data_loss(
          fmt::format("{}: data_offsets [{},{}] do not lie in the {} bytes of data", name, from, to, data.size()));
    }
    if (from != end) {
      return data_loss(
          fmt::format("{}: expected its data at {}, where the one before ends, found {}", name, end, from));
    }
    if (byte_count(entry.tensor) != to - from) {
      return data_loss(fmt::format("{}: {} bytes do not make a {}", name, to - from,
                                   type_text(entry.tensor.dtype, entry.tensor.shape)));
    }
    entry.tensor.bytes = data.subspan(from, to - from);
    end = to;
  }
  if (end != data.size()) return data_loss(fmt::format("{} bytes at the end belong to no tensor", data.size() - end));
  return {};
}

}  // namespace

Result<std::vector<StoredTensor>> parse_safetensors(std::span<const std::byte> file) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length) return data_loss("not a safetensors file: shorter than 8 bytes");
  std::memcpy(&length, file.data(), sizeof length);
  if (length > kLargestHeader) {
    return data_loss(fmt::format("expected a header of at most {} bytes, found {}", kLargestHeader, length));
  }
  if (length > file.size() - sizeof length) {
    return data_loss(fmt::format("the header says it has {} bytes, the file has {}", length, file.size()));
  }
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + sizeof length, length);
  if (!header.starts_with('{') || !is_utf8(header))
    return data_loss("expected a header that is a JSON object in UTF-8");

  HeaderReader reader;
  if (!nlohmann::json::sax_parse(header.begin(), header.end(), &reader)) return data_loss("header: " + reader.problem);
  LEAPP_RETURN_IF_ERROR(place(reader.entries, file.subspan(sizeof length + length)));
  std::vector<StoredTensor> tensors;
  tensors.reserve(reader.entries.size());
  for (Entry& entry : reader.entries) tensors.push_back(std::move(entry.tensor));
  return tensors;
}

}  // namespace leapp::bundle
