// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Appends records to bytes. What goes where in a file is the caller's to know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mcap/records.h"

namespace leapp::mcap {

/// Numbers as they stand in a file.
void put_u16(std::string& to, std::uint16_t value);
void put_u32(std::string& to, std::uint32_t value);
void put_u64(std::string& to, std::uint64_t value);

void append(std::string& to, const Header& header);
void append(std::string& to, const Schema& schema);
void append(std::string& to, const Channel& channel);
void append(std::string& to, const Metadata& metadata);
void append(std::string& to, const ChunkIndex& index);
void append(std::string& to, const FileStatistics& statistics);

/// A message's record up to its data, of which `size` bytes have to follow.
void append_message(std::string& to, const MessageHead& head, std::size_t size);

/// What comes before the records of a chunk that is not compressed: always kChunkHead bytes.
inline constexpr std::size_t kChunkHead = kRecordHead + 40;
void write_chunk_head(char* to, const ChunkHead& head);

/// `entries` are log times and offsets in the chunk's records.
void append_message_index(std::string& to, std::uint16_t channel,
                          const std::vector<std::pair<std::uint64_t, std::uint64_t>>& entries);
/// The length of such a record.
[[nodiscard]] constexpr std::uint64_t message_index_length(std::uint64_t entries) {
  return kRecordHead + 6 + 16 * entries;
}

void append_metadata_index(std::string& to, std::uint64_t offset, std::uint64_t length, std::string_view name);
void append_summary_offset(std::string& to, Opcode group, std::uint64_t start, std::uint64_t length);
void append_data_end(std::string& to, std::uint32_t crc);

/// The footer and the magic number after it. `summary` is all that stands before it from `summary_start` on, or the
/// rest of it and `crc` that of what came before; the footer has its checksum.
void append_footer(std::string& summary, std::uint64_t summary_start, std::uint64_t summary_offset_start,
                   std::uint32_t crc = 0);

}  // namespace leapp::mcap
