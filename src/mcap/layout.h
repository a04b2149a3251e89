// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The fields of each kind of record in the order in which a file has them: reader and writer go by these.
#pragma once

#include <tuple>
#include <type_traits>

#include "mcap/records.h"

namespace leapp::mcap {

template <typename... Fields>
struct RecordLayout {
  Opcode opcode;
  const char* name;  ///< in messages
  std::tuple<Fields...> fields;
};

template <typename... Fields>
constexpr RecordLayout<Fields...> layout(Opcode opcode, const char* name, Fields... fields) {
  return {opcode, name, {fields...}};
}

template <typename Record>
struct NoLayout;
template <typename Record>
inline constexpr NoLayout<Record> kLayout;

template <>
inline constexpr auto kLayout<Header> = layout(Opcode::kHeader, "the file's header", &Header::profile,
                                               &Header::library);
template <>
inline constexpr auto kLayout<Schema> = layout(Opcode::kSchema, "a schema", &Schema::id, &Schema::name,
                                               &Schema::encoding, &Schema::data);
template <>
inline constexpr auto kLayout<Channel> = layout(Opcode::kChannel, "a channel", &Channel::id, &Channel::schema,
                                                &Channel::topic, &Channel::encoding, &Channel::metadata);
template <>
inline constexpr auto kLayout<Metadata> = layout(Opcode::kMetadata, "metadata", &Metadata::name, &Metadata::entries);
/// The data follow.
template <>
inline constexpr auto kLayout<MessageHead> = layout(Opcode::kMessage, "a message", &MessageHead::channel,
                                                    &MessageHead::sequence, &MessageHead::log_time,
                                                    &MessageHead::publish_time);
/// The length of the records as they stand in the file, and these, follow.
template <>
inline constexpr auto kLayout<ChunkHead> = layout(Opcode::kChunk, "a chunk", &ChunkHead::start, &ChunkHead::end,
                                                  &ChunkHead::uncompressed_size, &ChunkHead::uncompressed_crc,
                                                  &ChunkHead::compression);
template <>
inline constexpr auto kLayout<ChunkIndex> = layout(Opcode::kChunkIndex, "the index of a chunk", &ChunkIndex::start,
                                                   &ChunkIndex::end, &ChunkIndex::offset, &ChunkIndex::length,
                                                   &ChunkIndex::message_indexes, &ChunkIndex::message_index_length,
                                                   &ChunkIndex::compression, &ChunkIndex::size,
                                                   &ChunkIndex::size);  // as they stand there, and decompressed
template <>
inline constexpr auto kLayout<FileStatistics> = layout(Opcode::kStatistics, "the statistics", &FileStatistics::messages,
                                                       &FileStatistics::schemas, &FileStatistics::channels,
                                                       &FileStatistics::attachments, &FileStatistics::metadata,
                                                       &FileStatistics::chunks, &FileStatistics::start,
                                                       &FileStatistics::end, &FileStatistics::channel_messages);

/// Calls `visit` with each field of `record`, in order.
template <typename Record, typename Visit>
void for_each_field(Record& record, Visit visit) {
  std::apply([&](auto... field) { (visit(record.*field), ...); }, kLayout<std::remove_const_t<Record>>.fields);
}

}  // namespace leapp::mcap
