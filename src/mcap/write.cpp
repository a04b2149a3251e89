// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "mcap/write.h"

#include <bit>
#include <cstring>

#include "mcap/crc32.h"

namespace leapp::mcap {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

template <typename Number>
void put(std::string& to, Number value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& to, std::string_view text) {
  put(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

/// A record whose length is known when it ends.
class RecordBytes {
 public:
  RecordBytes(std::string& to, Opcode opcode) : to_(to) {
    to.push_back(static_cast<char>(opcode));
    put(to, std::uint64_t{0});
    start_ = to.size();
  }
  ~RecordBytes() {
    const std::uint64_t length = to_.size() - start_;
    std::memcpy(to_.data() + start_ - sizeof length, &length, sizeof length);
  }
  RecordBytes(const RecordBytes&) = delete;
  RecordBytes& operator=(const RecordBytes&) = delete;

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

void put_map(std::string& to, const TextMap& map) {
  const List list(to);
  for (const auto& [key, value] : map) {
    put_text(to, key);
    put_text(to, value);
  }
}

void put_counts(std::string& to, const std::vector<std::pair<std::uint16_t, std::uint64_t>>& counts) {
  const List list(to);
  for (const auto& [channel, count] : counts) {
    put(to, channel);
    put(to, count);
  }
}

}  // namespace

void put_u16(std::string& to, std::uint16_t value) { put(to, value); }
void put_u32(std::string& to, std::uint32_t value) { put(to, value); }
void put_u64(std::string& to, std::uint64_t value) { put(to, value); }

void append(std::string& to, const Header& header) {
  const RecordBytes record(to, Opcode::kHeader);
  put_text(to, header.profile);
  put_text(to, header.library);
}

void append(std::string& to, const Schema& schema) {
  const RecordBytes record(to, Opcode::kSchema);
  put(to, schema.id);
  put_text(to, schema.name);
  put_text(to, schema.encoding);
  put_text(to, schema.data);
}

void append(std::string& to, const Channel& channel) {
  const RecordBytes record(to, Opcode::kChannel);
  put(to, channel.id);
  put(to, channel.schema);
  put_text(to, channel.topic);
  put_text(to, channel.encoding);
  put_map(to, channel.metadata);
}

void append(std::string& to, const Metadata& metadata) {
  const RecordBytes record(to, Opcode::kMetadata);
  put_text(to, metadata.name);
  put_map(to, metadata.entries);
}

void append(std::string& to, const ChunkIndex& index) {
  const RecordBytes record(to, Opcode::kChunkIndex);
  put(to, index.start);
  put(to, index.end);
  put(to, index.offset);
  put(to, index.length);
  put_counts(to, index.message_indexes);
  put(to, index.message_index_length);
  put_text(to, "");
  put(to, index.size);
  put(to, index.size);
}

void append(std::string& to, const Statistics& statistics) {
  const RecordBytes record(to, Opcode::kStatistics);
  put(to, statistics.messages);
  put(to, statistics.schemas);
  put(to, statistics.channels);
  put(to, std::uint32_t{0});  // attachments
  put(to, statistics.metadata);
  put(to, statistics.chunks);
  put(to, statistics.start);
  put(to, statistics.end);
  put_counts(to, statistics.channel_messages);
}

void append_message(std::string& to, const MessageHead& head, std::size_t size) {
  to.push_back(static_cast<char>(Opcode::kMessage));
  put(to, std::uint64_t{kMessageHead + size});
  put(to, head.channel);
  put(to, head.sequence);
  put(to, head.log_time);
  put(to, head.publish_time);
}

void write_chunk_head(char* to, const ChunkHead& head) {
  std::string text;
  text.push_back(static_cast<char>(Opcode::kChunk));
  put(text, kChunkHead - kRecordHead + head.uncompressed_size);
  put(text, head.start);
  put(text, head.end);
  put(text, head.uncompressed_size);
  put(text, head.uncompressed_crc);
  put_text(text, "");
  put(text, head.uncompressed_size);
  std::memcpy(to, text.data(), kChunkHead);
}

void append_message_index(std::string& to, std::uint16_t channel,
                          const std::vector<std::pair<std::uint64_t, std::uint64_t>>& entries) {
  const RecordBytes record(to, Opcode::kMessageIndex);
  put(to, channel);
  put(to, static_cast<std::uint32_t>(16 * entries.size()));
  for (const auto& [time, offset] : entries) {
    put(to, time);
    put(to, offset);
  }
}

void append_metadata_index(std::string& to, std::uint64_t offset, std::uint64_t length, std::string_view name) {
  const RecordBytes record(to, Opcode::kMetadataIndex);
  put(to, offset);
  put(to, length);
  put_text(to, name);
}

void append_summary_offset(std::string& to, Opcode group, std::uint64_t start, std::uint64_t length) {
  const RecordBytes record(to, Opcode::kSummaryOffset);
  to.push_back(static_cast<char>(group));
  put(to, start);
  put(to, length);
}

void append_data_end(std::string& to, std::uint32_t crc) {
  const RecordBytes record(to, Opcode::kDataEnd);
  put(to, crc);
}

void append_footer(std::string& summary, std::uint64_t summary_start, std::uint64_t summary_offset_start) {
  {
    const RecordBytes record(summary, Opcode::kFooter);
    put(summary, summary_start);
    put(summary, summary_offset_start);
    put(summary, std::uint32_t{0});
  }
  // The checksum covers the footer up to itself, the length of its record included.
  const std::size_t covered = summary.size() - sizeof(std::uint32_t);
  const std::uint32_t crc = crc32(std::string_view(summary).substr(0, covered));
  std::memcpy(summary.data() + covered, &crc, sizeof crc);
  summary += kMagic;
}

}  // namespace leapp::mcap
