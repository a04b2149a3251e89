// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "mcap/read.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "mcap/layout.h"

namespace leapp::mcap {
namespace {

void take(Cursor& from, std::uint16_t& to) { to = from.u16(); }
void take(Cursor& from, std::uint32_t& to) { to = from.u32(); }
void take(Cursor& from, std::uint64_t& to) { to = from.u64(); }
void take(Cursor& from, std::string& to) { to = from.text(); }
void take(Cursor& from, TextMap& to) { to = from.map(); }

Status too_short(const Record& record, const char* what) {
  return data_loss(fmt::format("byte {}: expected {}, found a record of {} bytes that ends in the middle of one",
                               record.offset, what, record.content.size()));
}

/// Takes the fields off the front of `from`.
template <typename Kind>
Result<Kind> parse(const Record& record, Cursor& from) {
  Kind found;
  for_each_field(found, [&](auto& field) { take(from, field); });
  if (!from.ok()) return too_short(record, kLayout<Kind>.name);
  return found;
}

template <typename Kind>
Result<Kind> parse(const Record& record) {
  Cursor cursor(record.content);
  return parse<Kind>(record, cursor);
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

Result<Header> parse_header(const Record& record) { return parse<Header>(record); }
Result<Schema> parse_schema(const Record& record) { return parse<Schema>(record); }
Result<Channel> parse_channel(const Record& record) { return parse<Channel>(record); }
Result<Metadata> parse_metadata(const Record& record) { return parse<Metadata>(record); }

Result<MessageRecord> parse_message(const Record& record) {
  Cursor cursor(record.content);
  LEAPP_ASSIGN_OR_RETURN(const MessageHead head, parse<MessageHead>(record, cursor));
  return MessageRecord{head, cursor.rest()};
}

Result<ChunkRecord> parse_chunk(const Record& record) {
  Cursor cursor(record.content);
  LEAPP_ASSIGN_OR_RETURN(ChunkHead head, parse<ChunkHead>(record, cursor));
  const std::uint64_t size = cursor.u64();
  const std::uint64_t offset = record.offset + kRecordHead + (record.content.size() - cursor.rest().size());
  const std::string_view records = cursor.bytes(size);
  if (!cursor.ok()) return too_short(record, kLayout<ChunkHead>.name);
  return ChunkRecord{std::move(head), records, offset};
}

}  // namespace leapp::mcap
