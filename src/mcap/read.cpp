// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "mcap/read.h"

#include <fmt/format.h>

#include <cstring>

namespace leapp::mcap {
namespace {

Status too_short(const Record& record, const char* what) {
  return data_loss(fmt::format("byte {}: expected {}, found a record of {} bytes that ends in the middle of one",
                               record.offset, what, record.content.size()));
}

}  // namespace

template <typename Number>
Number Cursor::number() {
  Number value{};
  if (bytes_.size() < sizeof value) {
    ok_ = false;
    bytes_ = {};
    return value;
  }
  std::memcpy(&value, bytes_.data(), sizeof value);
  bytes_.remove_prefix(sizeof value);
  return value;
}

std::uint8_t Cursor::u8() { return number<std::uint8_t>(); }
std::uint16_t Cursor::u16() { return number<std::uint16_t>(); }
std::uint32_t Cursor::u32() { return number<std::uint32_t>(); }
std::uint64_t Cursor::u64() { return number<std::uint64_t>(); }

std::string_view Cursor::bytes(std::uint64_t size) {
  if (bytes_.size() < size) {
    ok_ = false;
    bytes_ = {};
    return {};
  }
  const std::string_view found = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return found;
}

TextMap Cursor::map() {
  TextMap found;
  Cursor inner(text());
  while (inner.ok() && !inner.rest().empty()) {
    const std::string_view key = inner.text();
    const std::string_view value = inner.text();
    if (inner.ok()) found.emplace_back(key, value);
  }
  ok_ = ok_ && inner.ok();
  return found;
}

std::optional<Record> Records::next() {
  Cursor cursor(bytes_);
  Record record{.opcode = static_cast<Opcode>(cursor.u8()), .offset = offset_, .content = {}};
  record.content = cursor.bytes(cursor.u64());
  if (!cursor.ok()) return std::nullopt;
  offset_ += bytes_.size() - cursor.rest().size();
  bytes_ = cursor.rest();
  return record;
}

Result<Header> parse_header(const Record& record) {
  Cursor cursor(record.content);
  Header header;
  header.profile = cursor.text();
  header.library = cursor.text();
  return cursor.ok() ? Result<Header>(std::move(header)) : too_short(record, "the file's header");
}

Result<Schema> parse_schema(const Record& record) {
  Cursor cursor(record.content);
  Schema schema;
  schema.id = cursor.u16();
  schema.name = cursor.text();
  schema.encoding = cursor.text();
  schema.data = cursor.text();
  return cursor.ok() ? Result<Schema>(std::move(schema)) : too_short(record, "a schema");
}

Result<Channel> parse_channel(const Record& record) {
  Cursor cursor(record.content);
  Channel channel;
  channel.id = cursor.u16();
  channel.schema = cursor.u16();
  channel.topic = cursor.text();
  channel.encoding = cursor.text();
  channel.metadata = cursor.map();
  return cursor.ok() ? Result<Channel>(std::move(channel)) : too_short(record, "a channel");
}

Result<Metadata> parse_metadata(const Record& record) {
  Cursor cursor(record.content);
  Metadata metadata;
  metadata.name = cursor.text();
  metadata.entries = cursor.map();
  return cursor.ok() ? Result<Metadata>(std::move(metadata)) : too_short(record, "metadata");
}

Result<MessageRecord> parse_message(const Record& record) {
  Cursor cursor(record.content);
  MessageRecord message;
  message.head.channel = cursor.u16();
  message.head.sequence = cursor.u32();
  message.head.log_time = cursor.u64();
  message.head.publish_time = cursor.u64();
  if (!cursor.ok()) return too_short(record, "a message");
  message.data = cursor.rest();
  return message;
}

Result<ChunkRecord> parse_chunk(const Record& record) {
  Cursor cursor(record.content);
  ChunkRecord chunk;
  chunk.head.start = cursor.u64();
  chunk.head.end = cursor.u64();
  chunk.head.uncompressed_size = cursor.u64();
  chunk.head.uncompressed_crc = cursor.u32();
  chunk.head.compression = cursor.text();
  const std::uint64_t size = cursor.u64();
  chunk.offset = record.offset + kRecordHead + (record.content.size() - cursor.rest().size());
  chunk.records = cursor.bytes(size);
  return cursor.ok() ? Result<ChunkRecord>(std::move(chunk)) : too_short(record, "a chunk");
}

}  // namespace leapp::mcap
