// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/text.h"

namespace leapp::cli {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kWideEnd = 0x06064b50;
constexpr std::uint32_t kWideLocator = 0x07064b50;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kWideEndSize = 56;
constexpr std::size_t kLocatorSize = 20;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint16_t kWideField = 1;
constexpr std::uint32_t kSeeWideField = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kLargestTotal = std::uint64_t{8} << 30U;
// What deflate can make of one byte at most, and a little for tiny members.
constexpr std::uint64_t kBestRatio = 1032;

/// Little-endian numbers of a file; a place outside of it gives zero and is remembered.
class Fields {
 public:
  explicit Fields(Bytes bytes) : bytes_(bytes) {}

  template <typename T>
  T at(std::uint64_t place) {
    T value{};
    if (place > bytes_.size() || bytes_.size() - place < sizeof value) {
      inside_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + place, sizeof value);
    return value;
  }
  Bytes piece(std::uint64_t place, std::uint64_t size) {
    if (place > bytes_.size() || bytes_.size() - place < size) {
      inside_ = false;
      return {};
    }
    return bytes_.subspan(place, size);
  }
  [[nodiscard]] bool inside() const { return inside_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  Bytes bytes_;
  bool inside_ = true;
};

struct Directory {
  std::uint64_t count = 0;
  std::uint64_t place = 0;
};

struct Entry {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t place = 0;  ///< of the local header
  std::uint64_t end = 0;    ///< of its data
};

std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Result<Directory> find_directory(Fields& fields) {
  const Status absent = data_loss("not a zip file: it has no directory at its end");
  if (fields.size() < kEndSize) return absent;
  const std::uint64_t last = fields.size() - kEndSize;
  const std::uint64_t first = last > 0xFFFF ? last - 0xFFFF : 0;  // a comment may stand behind it
  for (std::uint64_t at = last + 1; at-- > first;) {
    if (fields.at<std::uint32_t>(at) != kDirectoryEnd) continue;
    if (fields.at<std::uint16_t>(at + 20) != last - at) continue;
    Directory found{fields.at<std::uint16_t>(at + 10), fields.at<std::uint32_t>(at + 16)};
    if (found.count != 0xFFFF && found.place != kSeeWideField) return found;
    if (at < kLocatorSize || fields.at<std::uint32_t>(at - kLocatorSize) != kWideLocator) return absent;
    const auto wide = fields.at<std::uint64_t>(at - kLocatorSize + 8);
    if (fields.piece(wide, kWideEndSize).empty() || fields.at<std::uint32_t>(wide) != kWideEnd) return absent;
    return Directory{fields.at<std::uint64_t>(wide + 32), fields.at<std::uint64_t>(wide + 48)};
  }
  return absent;
}

// Numbers that do not fit into 32 bits stand in a field of their own, in this order.
Status read_wide_numbers(Entry& entry, Bytes extra) {
  Fields fields(extra);
  for (std::uint64_t at = 0; at + 4 <= extra.size();) {
    const auto kind = fields.at<std::uint16_t>(at);
    const auto size = fields.at<std::uint16_t>(at + 2);
    if (kind == kWideField) {
      Fields numbers(fields.piece(at + 4, size));
      std::uint64_t place = 0;
      for (std::uint64_t* number : {&entry.size, &entry.packed, &entry.place}) {
        if (*number != kSeeWideField) continue;
        *number = numbers.at<std::uint64_t>(place);
        place += 8;
      }
      if (!numbers.inside()) return data_loss(fmt::format("{}: its 64-bit sizes are cut off", quote(entry.name)));
    }
    at += 4 + size;
  }
  return {};
}

Result<Entry> read_entry(Fields& fields, std::uint64_t& at) {
  const Status broken = data_loss("the zip directory does not hold what it announces");
  if (fields.at<std::uint32_t>(at) != kDirectoryEntry) return broken;
  const auto name_size = fields.at<std::uint16_t>(at + 28);
  const auto extra_size = fields.at<std::uint16_t>(at + 30);
  const auto comment_size = fields.at<std::uint16_t>(at + 32);
  Entry entry{.name = text_of(fields.piece(at + kEntrySize, name_size)),
              .flags = fields.at<std::uint16_t>(at + 8),
              .method = fields.at<std::uint16_t>(at + 10),
              .checksum = fields.at<std::uint32_t>(at + 16),
              .packed = fields.at<std::uint32_t>(at + 20),
              .size = fields.at<std::uint32_t>(at + 24),
              .place = fields.at<std::uint32_t>(at + 42)};
  const Bytes extra = fields.piece(at + kEntrySize + name_size, extra_size);
  if (!fields.inside()) return broken;
  LEAPP_RETURN_IF_ERROR(read_wide_numbers(entry, extra));
  at += kEntrySize + std::uint64_t{name_size} + extra_size + comment_size;
  return entry;
}

Status check_entry(const Entry& entry) {
  const std::string name = quote(entry.name);
  if ((entry.flags & 1U) != 0) return data_loss(fmt::format("{} is encrypted", name));
  if (entry.method != kStored && entry.method != kDeflated) {
    return data_loss(fmt::format("{}: expected it stored or deflated, found method {}", name, entry.method));
  }
  const bool possible = entry.method == kStored ? entry.size == entry.packed : entry.size / kBestRatio <= entry.packed;
  if (!possible) return data_loss(fmt::format("{}: {} bytes cannot hold {}", name, entry.packed, entry.size));
  return {};
}

Result<Bytes> data_of(Fields& fields, Entry& entry) {
  const std::string name = quote(entry.name);
  if (fields.piece(entry.place, kLocalSize).empty() || fields.at<std::uint32_t>(entry.place) != kLocalHeader) {
    return data_loss(fmt::format("{}: the directory leads to something else", name));
  }
  const auto name_size = fields.at<std::uint16_t>(entry.place + 26);
  const auto extra_size = fields.at<std::uint16_t>(entry.place + 28);
  const std::string local_name = text_of(fields.piece(entry.place + kLocalSize, name_size));
  const std::uint64_t begin = entry.place + kLocalSize + name_size + extra_size;
  const Bytes data = fields.piece(begin, entry.packed);
  if (!fields.inside()) return data_loss(fmt::format("{}: its data goes beyond the end of the file", name));
  if (local_name != entry.name) return data_loss(fmt::format("{} is called {} elsewhere", name, quote(local_name)));
  entry.end = begin + entry.packed;
  return data;
}

std::uint32_t checksum_of(Bytes bytes) {
  auto sum = crc32_z(0, nullptr, 0);
  return static_cast<std::uint32_t>(crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// zlib counts in 32 bits: goes through two long ranges piece by piece.
struct Pump {
  z_stream stream{};
  Bytes in;
  std::span<std::byte> out;

  void refill() {
    constexpr std::size_t kPiece = std::size_t{1} << 30U;
    if (stream.avail_in == 0 && !in.empty()) {
      const std::size_t size = std::min(in.size(), kPiece);
      // zlib does not write to it; its declaration says so only when asked by ZLIB_CONST.
      stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
      stream.avail_in = static_cast<uInt>(size);
      in = in.subspan(size);
    }
    if (stream.avail_out == 0 && !out.empty()) {
      const std::size_t size = std::min(out.size(), kPiece);
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(size);
      out = out.subspan(size);
    }
  }
  [[nodiscard]] bool used_up() const { return stream.avail_out == 0 && out.empty(); }
};

bool inflate_all(Bytes packed, std::span<std::byte> bytes) {
  // One byte more than wanted, to see that nothing comes after.
  std::byte beyond{};
  Pump pump{.stream = {}, .in = packed, .out = bytes};
  if (inflateInit2(&pump.stream, -MAX_WBITS) != Z_OK) return false;
  int state = Z_OK;
  bool at_end = false;
  while (state == Z_OK) {
    if (pump.used_up() && !at_end) {
      at_end = true;
      pump.out = {&beyond, 1};
    }
    pump.refill();
    state = inflate(&pump.stream, Z_NO_FLUSH);
  }
  const bool exact =
      state == Z_STREAM_END && pump.stream.total_out == bytes.size() && pump.stream.avail_in == 0 && pump.in.empty();
  inflateEnd(&pump.stream);
  return exact;
}

Result<ZipMember> unpack(const Entry& entry, Bytes data) {
  ZipMember member{entry.name, {}};
  if (entry.method == kStored) {
    member.bytes.assign(data.begin(), data.end());
  } else {
    member.bytes.resize(entry.size);
    if (!inflate_all(data, member.bytes)) {
      return data_loss(fmt::format("{}: its data is not {} deflated bytes", quote(entry.name), entry.size));
    }
  }
  if (checksum_of(member.bytes) != entry.checksum) {
    return data_loss(fmt::format("{}: its checksum does not match", quote(entry.name)));
  }
  return member;
}

// Data that several members share would let a small file unpack to any size.
Status check_overlap(std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.place < b.place; });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].place < entries[i - 1].end) {
      return data_loss(fmt::format("{} and {} overlap", quote(entries[i - 1].name), quote(entries[i].name)));
    }
  }
  return {};
}

template <typename T>
void append(std::vector<std::byte>& file, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  file.insert(file.end(), bytes, bytes + sizeof value);
}

Result<std::vector<std::byte>> deflate_all(Bytes bytes) {
  Pump pump;
  if (deflateInit2(&pump.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return internal_error("zlib cannot start");
  }
  std::vector<std::byte> packed(deflateBound(&pump.stream, bytes.size()));
  pump.in = bytes;
  pump.out = packed;
  int state = Z_OK;
  while (state == Z_OK) {
    pump.refill();
    state = deflate(&pump.stream, pump.in.empty() ? Z_FINISH : Z_NO_FLUSH);
  }
  packed.resize(pump.stream.total_out);
  deflateEnd(&pump.stream);
  if (state != Z_STREAM_END) return internal_error("zlib cannot deflate");
  return packed;
}

// What the local header and the directory have in common: version to flags, method, time, date, checksum, sizes, name.
void append_common(std::vector<std::byte>& file, const Entry& entry) {
  append<std::uint16_t>(file, 20);
  append<std::uint16_t>(file, 0x0800);  // the name is UTF-8
  append<std::uint16_t>(file, entry.method);
  append<std::uint16_t>(file, 0);
  append<std::uint16_t>(file, 0x0021);  // 1980-01-01, the first day there is
  append<std::uint32_t>(file, entry.checksum);
  append<std::uint32_t>(file, static_cast<std::uint32_t>(entry.packed));
  append<std::uint32_t>(file, static_cast<std::uint32_t>(entry.size));
  append<std::uint16_t>(file, static_cast<std::uint16_t>(entry.name.size()));
  append<std::uint16_t>(file, 0);
}

void append_text(std::vector<std::byte>& file, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  file.insert(file.end(), bytes.begin(), bytes.end());
}

void append_directory(std::vector<std::byte>& file, const std::vector<Entry>& entries) {
  const std::size_t begin = file.size();
  for (const Entry& entry : entries) {
    append<std::uint32_t>(file, kDirectoryEntry);
    append<std::uint16_t>(file, 20);
    append_common(file, entry);
    append<std::uint16_t>(file, 0);  // comment
    append<std::uint16_t>(file, 0);  // disk
    append<std::uint16_t>(file, 0);  // attributes
    append<std::uint32_t>(file, 0);
    append<std::uint32_t>(file, static_cast<std::uint32_t>(entry.place));
    append_text(file, entry.name);
  }
  const std::size_t size = file.size() - begin;
  append<std::uint32_t>(file, kDirectoryEnd);
  append<std::uint32_t>(file, 0);
  append<std::uint16_t>(file, static_cast<std::uint16_t>(entries.size()));
  append<std::uint16_t>(file, static_cast<std::uint16_t>(entries.size()));
  append<std::uint32_t>(file, static_cast<std::uint32_t>(size));
  append<std::uint32_t>(file, static_cast<std::uint32_t>(begin));
  append<std::uint16_t>(file, 0);
}

}  // namespace

Result<std::vector<ZipMember>> read_zip(Bytes file) {
  Fields fields(file);
  LEAPP_ASSIGN_OR_RETURN(const Directory directory, find_directory(fields));
  if (directory.count > file.size() / kEntrySize) return data_loss("the zip directory announces more than fits");
  std::vector<Entry> entries;
  std::vector<Bytes> data;
  std::unordered_set<std::string> names;
  std::uint64_t at = directory.place;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    LEAPP_ASSIGN_OR_RETURN(Entry entry, read_entry(fields, at));
    LEAPP_RETURN_IF_ERROR(check_entry(entry));
    if (!names.insert(entry.name).second) return data_loss(fmt::format("{} occurs twice", quote(entry.name)));
    LEAPP_ASSIGN_OR_RETURN(const Bytes piece, data_of(fields, entry));
    if (__builtin_add_overflow(total, entry.size, &total) || total > kLargestTotal) {
      return data_loss(fmt::format("its members are larger than {} bytes together", kLargestTotal));
    }
    entries.push_back(std::move(entry));
    data.push_back(piece);
  }
  LEAPP_RETURN_IF_ERROR(check_overlap(entries));
  std::vector<ZipMember> members;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(ZipMember member, unpack(entries[i], data[i]));
    members.push_back(std::move(member));
  }
  return members;
}

Result<std::vector<std::byte>> zip_bytes(std::span<const ZipMember> members, bool deflated) {
  std::vector<std::byte> file;
  std::vector<Entry> entries;
  for (const ZipMember& member : members) {
    std::vector<std::byte> packed;
    if (deflated) {
      LEAPP_ASSIGN_OR_RETURN(packed, deflate_all(member.bytes));
    }
    const Bytes data = deflated ? Bytes(packed) : Bytes(member.bytes);
    if (member.bytes.size() >= kSeeWideField || file.size() + data.size() + kEndSize >= kSeeWideField ||
        members.size() >= 0xFFFF || member.name.size() > 0xFFFF) {
      return invalid_argument("more than a zip file can hold (4 GB, 65534 members): use .safetensors");
    }
    entries.push_back({.name = member.name,
                       .method = deflated ? kDeflated : kStored,
                       .checksum = checksum_of(member.bytes),
                       .packed = data.size(),
                       .size = member.bytes.size(),
                       .place = file.size()});
    append<std::uint32_t>(file, kLocalHeader);
    append_common(file, entries.back());
    append_text(file, member.name);
    file.insert(file.end(), data.begin(), data.end());
  }
  append_directory(file, entries);
  return file;
}

}  // namespace leapp::cli
