// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The fields of each kind of record in the order in which a file has them: reader and writer go by these.
#pragma once

#include <tuple>
#include <type_traits>

#include "mcap/records.h"

namespace leapp::mcap {

template <typename Record>
struct Layout;

template <>
struct Layout<Header> {
  static constexpr Opcode kOpcode = Opcode::kHeader;
  static constexpr const char* kName = "the file's header";
  static constexpr auto kFields = std::tuple(&Header::profile, &Header::library);
};

template <>
struct Layout<Schema> {
  static constexpr Opcode kOpcode = Opcode::kSchema;
  static constexpr const char* kName = "a schema";
  static constexpr auto kFields = std::tuple(&Schema::id, &Schema::name, &Schema::encoding, &Schema::data);
};

template <>
struct Layout<Channel> {
  static constexpr Opcode kOpcode = Opcode::kChannel;
  static constexpr const char* kName = "a channel";
  static constexpr auto kFields =
      std::tuple(&Channel::id, &Channel::schema, &Channel::topic, &Channel::encoding, &Channel::metadata);
};

template <>
struct Layout<Metadata> {
  static constexpr Opcode kOpcode = Opcode::kMetadata;
  static constexpr const char* kName = "metadata";
  static constexpr auto kFields = std::tuple(&Metadata::name, &Metadata::entries);
};

/// The data follow.
template <>
struct Layout<MessageHead> {
  static constexpr Opcode kOpcode = Opcode::kMessage;
  static constexpr const char* kName = "a message";
  static constexpr auto kFields =
      std::tuple(&MessageHead::channel, &MessageHead::sequence, &MessageHead::log_time, &MessageHead::publish_time);
};

/// The length of the records as they stand in the file, and these, follow.
template <>
struct Layout<ChunkHead> {
  static constexpr Opcode kOpcode = Opcode::kChunk;
  static constexpr const char* kName = "a chunk";
  static constexpr auto kFields = std::tuple(&ChunkHead::start, &ChunkHead::end, &ChunkHead::uncompressed_size,
                                             &ChunkHead::uncompressed_crc, &ChunkHead::compression);
};

template <>
struct Layout<ChunkIndex> {
  static constexpr Opcode kOpcode = Opcode::kChunkIndex;
  static constexpr const char* kName = "the index of a chunk";
  static constexpr auto kFields =
      std::tuple(&ChunkIndex::start, &ChunkIndex::end, &ChunkIndex::offset, &ChunkIndex::length,
                 &ChunkIndex::message_indexes, &ChunkIndex::message_index_length, &ChunkIndex::compression,
                 &ChunkIndex::size, &ChunkIndex::size);  // as they stand there, and decompressed
};

template <>
struct Layout<Statistics> {
  static constexpr Opcode kOpcode = Opcode::kStatistics;
  static constexpr const char* kName = "the statistics";
  static constexpr auto kFields = std::tuple(&Statistics::messages, &Statistics::schemas, &Statistics::channels,
                                             &Statistics::attachments, &Statistics::metadata, &Statistics::chunks,
                                             &Statistics::start, &Statistics::end, &Statistics::channel_messages);
};

/// Calls `visit` with each field of `record`, in order.
template <typename Record, typename Visit>
void for_each_field(Record& record, Visit visit) {
  std::apply([&](auto... field) { (visit(record.*field), ...); }, Layout<std::remove_const_t<Record>>::kFields);
}

}  // namespace leapp::mcap
