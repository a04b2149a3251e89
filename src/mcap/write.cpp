// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "mcap/write.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "mcap/crc32.h"
#include "mcap/layout.h"

namespace leapp::mcap {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

template <typename Number>
requires std::is_arithmetic_v<Number>
void put(std::string& to, Number value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); }

void put(std::string& to, std::string_view text) {
  put(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

/// A record whose length is known when it ends.
class OpenRecord {
 public:
  OpenRecord(std::string& to, Opcode opcode) : to_(to) {
    to.push_back(static_cast<char>(opcode));
    put(to, std::uint64_t{0});
    start_ = to.size();
  }
  ~OpenRecord() {
    const std::uint64_t length = to_.size() - start_;
    std::memcpy(to_.data() + start_ - sizeof length, &length, sizeof length);
  }
  OpenRecord(const OpenRecord&) = delete;
  OpenRecord& operator=(const OpenRecord&) = delete;

 private:
  std::string& to_;
  std::size_t start_ = 0;
};

/// The same of a list, whose length has four bytes.
class List {
 public:
  explicit List(std::string& to) : to_(to) {
    put(to, std::uint32_t{0});
    start_ = to.size();
  }
  ~List() {
    const auto length = static_cast<std::uint32_t>(to_.size() - start_);
    std::memcpy(to_.data() + start_ - sizeof length, &length, sizeof length);
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

 private:
  std::string& to_;
  std::size_t start_ = 0;
};

/// Pairs of texts or of numbers.
template <typename Key, typename Value>
void put(std::string& to, const std::vector<std::pair<Key, Value>>& entries) {
  const List list(to);
  for (const auto& [key, value] : entries) {
    put(to, key);
    put(to, value);
  }
}

template <typename Kind>
void put_fields(std::string& to, const Kind& record) {
  for_each_field(record, [&](const auto& field) { put(to, field); });
}

template <typename Kind>
void put_record(std::string& to, const Kind& record) {
  const OpenRecord whole(to, kLayout<Kind>.opcode);
  put_fields(to, record);
}

}  // namespace

void put_u16(std::string& to, std::uint16_t value) { put(to, value); }
void put_u32(std::string& to, std::uint32_t value) { put(to, value); }
void put_u64(std::string& to, std::uint64_t value) { put(to, value); }

void append(std::string& to, const Header& header) { put_record(to, header); }
void append(std::string& to, const Schema& schema) { put_record(to, schema); }
void append(std::string& to, const Channel& channel) { put_record(to, channel); }
void append(std::string& to, const Metadata& metadata) { put_record(to, metadata); }
void append(std::string& to, const ChunkIndex& index) { put_record(to, index); }
void append(std::string& to, const FileStatistics& statistics) { put_record(to, statistics); }

void append_message(std::string& to, const MessageHead& head, std::size_t size) {
  to.push_back(static_cast<char>(Opcode::kMessage));
  put(to, std::uint64_t{kMessageHead + size});
  put_fields(to, head);
}

void write_chunk_head(char* to, const ChunkHead& head) {
  std::string text;
  text.push_back(static_cast<char>(Opcode::kChunk));
  put(text, kChunkHead - kRecordHead + head.uncompressed_size);
  put_fields(text, head);
  put(text, head.uncompressed_size);
  std::memcpy(to, text.data(), kChunkHead);
}

void append_message_index(std::string& to, std::uint16_t channel,
                          const std::vector<std::pair<std::uint64_t, std::uint64_t>>& entries) {
  const OpenRecord record(to, Opcode::kMessageIndex);
  put(to, channel);
  put(to, static_cast<std::uint32_t>(16 * entries.size()));
  for (const auto& [time, offset] : entries) {
    put(to, time);
    put(to, offset);
  }
}

void append_metadata_index(std::string& to, std::uint64_t offset, std::uint64_t length, std::string_view name) {
  const OpenRecord record(to, Opcode::kMetadataIndex);
  put(to, offset);
  put(to, length);
  put(to, name);
}

void append_summary_offset(std::string& to, Opcode group, std::uint64_t start, std::uint64_t length) {
  const OpenRecord record(to, Opcode::kSummaryOffset);
  to.push_back(static_cast<char>(group));
  put(to, start);
  put(to, length);
}

void append_data_end(std::string& to, std::uint32_t crc) {
  const OpenRecord record(to, Opcode::kDataEnd);
  put(to, crc);
}

void append_footer(std::string& summary, std::uint64_t summary_start, std::uint64_t summary_offset_start,
                   std::uint32_t crc) {
  {
    const OpenRecord record(summary, Opcode::kFooter);
    put(summary, summary_start);
    put(summary, summary_offset_start);
    put(summary, std::uint32_t{0});
  }
  // The checksum covers the footer up to itself, the length of its record included.
  const std::size_t covered = summary.size() - sizeof(std::uint32_t);
  crc = crc32(std::string_view(summary).substr(0, covered), crc);
  std::memcpy(summary.data() + covered, &crc, sizeof crc);
  summary += kMagic;
}

}  // namespace leapp::mcap
