// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads records from bytes of strangers: whatever these are, nothing outside of them is looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "leapp/base/status.h"
#include "mcap/records.h"

namespace leapp::mcap {

/// Takes numbers and texts off the front of bytes. When there are too few, what it gives is zero or empty and ok() is
/// false from then on.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t u8();
  std::uint16_t u16();
  std::uint32_t u32();
  std::uint64_t u64();
  std::string_view text() { return bytes(u32()); }
  std::string_view bytes(std::uint64_t size);
  TextMap map();

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::string_view rest() const { return bytes_; }

 private:
  template <typename Number>
  Number number();

  std::string_view bytes_;
  bool ok_ = true;
};

struct Record {
  Opcode opcode{};
  std::uint64_t offset = 0;  ///< of the record in the file
  std::string_view content;
};

/// Walks over records that stand one after the other.
class Records {
 public:
  /// `offset` is where `bytes` begin in the file, for messages.
  Records(std::string_view bytes, std::uint64_t offset) : bytes_(bytes), offset_(offset) {}

  /// The next one; nothing when there is none, or not all of it: then rest() is what is left.
  std::optional<Record> next();
  [[nodiscard]] std::string_view rest() const { return bytes_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  std::string_view bytes_;
  std::uint64_t offset_ = 0;
};

/// Of a record of that kind; kDataLoss when its contents are too short for it. What comes after the fields that are
/// known is ignored, as the format asks for.
Result<Header> parse_header(const Record& record);
Result<Schema> parse_schema(const Record& record);
Result<Channel> parse_channel(const Record& record);
Result<Metadata> parse_metadata(const Record& record);

struct MessageRecord {
  MessageHead head;
  std::string_view data;
};
Result<MessageRecord> parse_message(const Record& record);

struct ChunkRecord {
  ChunkHead head;
  std::string_view records;  ///< as they stand in the file: compressed if `head` says so
  std::uint64_t offset = 0;  ///< of the records in the file
};
Result<ChunkRecord> parse_chunk(const Record& record);

}  // namespace leapp::mcap
