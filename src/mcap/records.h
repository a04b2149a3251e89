// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What an MCAP file consists of: a magic number, records (a byte that says which, the length, the contents), the magic
// number again. Numbers are little-endian; a text or list has its length in bytes before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leapp::mcap {

inline constexpr std::string_view kMagic{"\x89MCAP0\r\n", 8};

enum class Opcode : std::uint8_t {
  kHeader = 0x01,
  kFooter = 0x02,
  kSchema = 0x03,
  kChannel = 0x04,
  kMessage = 0x05,
  kChunk = 0x06,
  kMessageIndex = 0x07,
  kChunkIndex = 0x08,
  kStatistics = 0x0b,
  kMetadata = 0x0c,
  kMetadataIndex = 0x0d,
  kSummaryOffset = 0x0e,
  kDataEnd = 0x0f,
};

/// Before a record's contents: opcode and length.
inline constexpr std::size_t kRecordHead = 9;

using TextMap = std::vector<std::pair<std::string, std::string>>;

struct Header {
  std::string profile;
  std::string library;
};

struct Schema {
  std::uint16_t id = 0;
  std::string name;
  std::string encoding;
  std::string data;
};

struct Channel {
  std::uint16_t id = 0;
  std::uint16_t schema = 0;
  std::string topic;
  std::string encoding;
  TextMap metadata;
};

struct Metadata {
  std::string name;
  TextMap entries;
};

/// Everything but its data, which follows.
struct MessageHead {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;
  std::uint64_t publish_time = 0;
};

/// Of a message's head in a record.
inline constexpr std::size_t kMessageHead = 22;

/// Everything but its records, which follow. Times are those of the first and last message.
struct ChunkHead {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t uncompressed_size = 0;
  std::uint32_t uncompressed_crc = 0;  ///< 0: not known
  std::string compression;             ///< empty: none
};

struct ChunkIndex {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;                                              ///< of the chunk's record in the file
  std::uint64_t length = 0;                                              ///< of that record
  std::vector<std::pair<std::uint16_t, std::uint64_t>> message_indexes;  ///< channel and offset in the file
  std::uint64_t message_index_length = 0;
  std::string compression;  ///< empty: none
  std::uint64_t size = 0;   ///< of its records
};

struct FileStatistics {
  std::uint64_t messages = 0;
  std::uint16_t schemas = 0;
  std::uint32_t channels = 0;
  std::uint32_t attachments = 0;
  std::uint32_t metadata = 0;
  std::uint32_t chunks = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::vector<std::pair<std::uint16_t, std::uint64_t>> channel_messages;
};

}  // namespace leapp::mcap
