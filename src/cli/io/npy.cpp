// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/io/zip.h"

namespace leapp::cli {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kHighestRank = 64;
constexpr std::size_t kAlignment = 64;

constexpr std::array<std::pair<std::string_view, DType>, 12> kCodes{{
    {"f2", DType::kFloat16},
    {"f4", DType::kFloat32},
    {"f8", DType::kFloat64},
    {"i1", DType::kInt8},
    {"i2", DType::kInt16},
    {"i4", DType::kInt32},
    {"i8", DType::kInt64},
    {"u1", DType::kUInt8},
    {"u2", DType::kUInt16},
    {"u4", DType::kUInt32},
    {"u8", DType::kUInt64},
    {"b1", DType::kBool},
}};

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

/// The header is a Python dict in one line. Only what NumPy writes there is understood.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<Header> parse() {
    Header header;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':') || !value(*key, header)) return std::nullopt;
      if (!take(',') && !at('}')) return std::nullopt;
    }
    skip();
    if (!text_.empty() || !header.descr || !header.fortran_order || !header.shape) return std::nullopt;
    return header;
  }

 private:
  void skip() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }
  bool at(char c) {
    skip();
    return text_.starts_with(c);
  }
  bool take(char c) {
    if (!at(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> string() {
    skip();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string found(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return found;
  }
  std::optional<std::vector<std::int64_t>> tuple() {
    std::vector<std::int64_t> extents;
    if (!take('(')) return std::nullopt;
    while (!take(')')) {
      std::int64_t extent = 0;
      skip();
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0 || extents.size() >= kHighestRank) return std::nullopt;
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      (void)take_word("L");  // as Python 2 wrote it
      extents.push_back(extent);
      if (!take(',') && !at(')')) return std::nullopt;
    }
    return extents;
  }
  bool value(const std::string& key, Header& header) {
    if (key == "descr" && !header.descr) return (header.descr = string()).has_value();
    if (key == "shape" && !header.shape) return (header.shape = tuple()).has_value();
    if (key != "fortran_order" || header.fortran_order) return false;
    if (take_word("True")) header.fortran_order = true;
    if (take_word("False")) header.fortran_order = false;
    return header.fortran_order.has_value();
  }

  std::string_view text_;
};

std::optional<DType> dtype_of(std::string_view code) {
  const auto* found = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& row) { return row.first == code; });
  return found == kCodes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> byte_count(DType dtype, std::span<const std::int64_t> shape) {
  std::size_t count = dtype_size(dtype);
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count)) return std::nullopt;
  }
  return count;
}

// The first index runs fastest; puts the last one there.
std::vector<std::byte> to_row_major(std::span<const std::byte> bytes, const Array& array) {
  const std::size_t width = dtype_size(array.dtype);
  std::vector<std::byte> result(bytes.size());
  std::vector<std::size_t> index(array.shape.size(), 0);
  for (std::size_t to = 0; to < bytes.size(); to += width) {
    std::size_t from = 0;
    for (std::size_t axis = index.size(); axis-- > 0;) {
      from = from * static_cast<std::size_t>(array.shape[axis]) + index[axis];
    }
    std::memcpy(result.data() + to, bytes.data() + from * width, width);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < static_cast<std::size_t>(array.shape[axis])) break;
      index[axis] = 0;
    }
  }
  return result;
}

void swap_bytes(std::vector<std::byte>& bytes, std::size_t width) {
  for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(width)) {
    std::reverse(at, at + static_cast<std::ptrdiff_t>(width));
  }
}

struct Split {
  std::string_view header;
  std::size_t begin = 0;  // of the elements
};

Result<Split> split(std::span<const std::byte> file) {
  const Status broken = data_loss("not an .npy file of format 1, 2 or 3");
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.size() < 12 || !text.starts_with(kMagic)) return broken;
  const char version = text[6];
  if (version < 1 || version > 3) return broken;
  std::uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, version == 1 ? 2 : 4);
  const std::size_t begin = version == 1 ? 10 : 12;
  if (length > text.size() - begin) return broken;
  return Split{text.substr(begin, length), begin + length};
}

/// What the beginning of a file says.
struct Start {
  Array array;  // without its elements
  bool fortran_order = false;
  bool swapped = false;
  std::size_t begin = 0;
};

/// Of a file of `size` bytes, of which at least the header is there.
Result<Start> parse_start(std::span<const std::byte> file, std::uint64_t size) {
  LEAPP_ASSIGN_OR_RETURN(const Split parts, split(file));
  const std::optional<Header> header = HeaderParser(parts.header).parse();
  if (!header)
    return data_loss(fmt::format("expected the header of an array, found {}", quote(parts.header.substr(0, 80))));
  const std::string& descr = *header->descr;
  const bool ordered = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const auto dtype = dtype_of(std::string_view(descr).substr(ordered ? 1 : 0));
  if (!dtype) return data_loss(fmt::format("expected numbers, found elements of type {}", quote_brief(descr)));
  if (byte_count(*dtype, *header->shape) != size - parts.begin) {
    return data_loss(fmt::format("{} bytes do not make a {}", size - parts.begin, type_text(*dtype, *header->shape)));
  }
  return Start{{"", *dtype, *header->shape, {}}, *header->fortran_order, descr[0] == '>', parts.begin};
}

/// Keeps the memory of `file`.
Result<Array> take_npy(std::vector<std::byte> file) {
  LEAPP_ASSIGN_OR_RETURN(Start start, parse_start(file, file.size()));
  Array& array = start.array;
  if (start.fortran_order && array.shape.size() > 1) {
    array.bytes = to_row_major(std::span(file).subspan(start.begin), array);
  } else {
    file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(start.begin));
    array.bytes = std::move(file);
  }
  if (start.swapped) swap_bytes(array.bytes, dtype_size(array.dtype));
  return std::move(array);
}

std::string array_name(std::string member) {
  if (member.ends_with(".npy")) member.resize(member.size() - 4);
  return member;
}

Status in_member(const std::string& name, const Status& status) {
  return {status.code(), fmt::format("{}: {}", quote_brief(name), status.message())};
}

}  // namespace

Result<Array> parse_npy(std::span<const std::byte> file) { return take_npy({file.begin(), file.end()}); }

Result<std::vector<std::byte>> npy_bytes(const Array& array) {
  const auto* code =
      std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& row) { return row.second == array.dtype; });
  if (code == kCodes.end()) {
    return invalid_argument(fmt::format("{}: NumPy has no {}: use .safetensors", array.name, dtype_name(array.dtype)));
  }
  const char order = dtype_size(array.dtype) == 1 ? '|' : '<';
  std::string shape;
  for (const std::int64_t extent : array.shape) shape += fmt::format("{}{}", shape.empty() ? "" : " ", extent) + ",";
  if (array.shape.size() > 1) shape.pop_back();
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, code->first, shape);
  const std::size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xFFU), static_cast<char>(header.size() >> 8U)};
  start += header;
  const auto bytes = std::as_bytes(std::span(start));
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  file.insert(file.end(), array.bytes.begin(), array.bytes.end());
  return file;
}

Result<std::vector<Array>> parse_npz(std::span<const std::byte> file, const NpzOptions& options) {
  const auto wants = [&](const ZipStart& member) -> Result<bool> {
    const auto start = parse_start(member.bytes, member.size);
    if (!start.ok()) return in_member(member.name, start.status());
    const Array& array = start.value().array;
    if (!options.wants) return true;
    return options.wants({array_name(member.name), array.dtype, array.shape});
  };
  LEAPP_ASSIGN_OR_RETURN(std::vector<ZipMember> members,
                         read_zip(file, {.wants = wants, .memory_limit = options.memory_limit}));
  std::vector<Array> arrays;
  for (ZipMember& member : members) {
    auto array = take_npy(std::move(member.bytes));
    if (!array.ok()) return in_member(member.name, array.status());
    array.value().name = array_name(std::move(member.name));
    arrays.push_back(std::move(array).value());
  }
  return arrays;
}

Result<std::vector<std::byte>> npz_bytes(std::span<const Array> arrays, bool deflated) {
  std::vector<ZipMember> members;
  for (const Array& array : arrays) {
    LEAPP_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, npy_bytes(array));
    members.push_back({array.name + ".npy", std::move(bytes)});
  }
  return zip_bytes(members, deflated);
}

}  // namespace leapp::cli
