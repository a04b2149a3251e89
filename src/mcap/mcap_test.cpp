// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "mcap/crc32.h"
#include "mcap/read.h"
#include "mcap/write.h"

namespace leapp::mcap {
namespace {

Record only(const std::string& bytes) {
  Records records(bytes, 100);
  const auto record = records.next();
  EXPECT_TRUE(record.has_value());
  EXPECT_TRUE(records.rest().empty());
  EXPECT_FALSE(records.next().has_value());
  return record.value_or(Record());
}

TEST(Crc32, IsThatOfZip) {
  EXPECT_EQ(crc32(""), 0U);
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);  // the check value that the algorithm is published with
}

TEST(Crc32, InPiecesIsTheSame) {
  std::mt19937 random(1);
  std::string bytes(1000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (std::size_t at = 0; at < 50; ++at) {
    EXPECT_EQ(crc32(bytes.substr(at), crc32(bytes.substr(0, at))), crc32(bytes));
  }
}

TEST(Records, ComeBack) {
  std::string bytes;
  append(bytes, Channel{7, 3, "/a/b", "protobuf", {{"k", "v"}, {"", "x"}}});
  const Channel channel = parse_channel(only(bytes)).value();
  EXPECT_EQ(channel.id, 7);
  EXPECT_EQ(channel.schema, 3);
  EXPECT_EQ(channel.topic, "/a/b");
  EXPECT_EQ(channel.encoding, "protobuf");
  EXPECT_EQ(channel.metadata, (TextMap{{"k", "v"}, {"", "x"}}));
  bytes.clear();
  append(bytes, Schema{1, "leapp.M", "protobuf", std::string("\0x", 2)});
  EXPECT_EQ(parse_schema(only(bytes)).value().data, std::string("\0x", 2));
  bytes.clear();
  append(bytes, Metadata{"about", {{"a", "b"}}});
  EXPECT_EQ(parse_metadata(only(bytes)).value().entries.front().second, "b");
  bytes.clear();
  append(bytes, Header{"leapp", "us"});
  EXPECT_EQ(parse_header(only(bytes)).value().profile, "leapp");
  bytes.clear();
  append_message(bytes, {9, 11, 13, 17}, 3);
  bytes += "abc";
  const MessageRecord message = parse_message(only(bytes)).value();
  EXPECT_EQ(message.head.channel, 9);
  EXPECT_EQ(message.head.sequence, 11U);
  EXPECT_EQ(message.head.log_time, 13U);
  EXPECT_EQ(message.head.publish_time, 17U);
  EXPECT_EQ(message.data, "abc");
}

TEST(Records, AChunkComesBack) {
  std::string bytes(kChunkHead, '\0');
  bytes += "records";
  write_chunk_head(bytes.data(), {1, 2, 7, crc32("records"), ""});
  const Record record = only(bytes);
  ASSERT_EQ(record.opcode, Opcode::kChunk);
  const ChunkRecord chunk = parse_chunk(record).value();
  EXPECT_EQ(chunk.records, "records");
  EXPECT_EQ(chunk.offset, 100 + kChunkHead);
  EXPECT_EQ(chunk.head.start, 1U);
  EXPECT_EQ(chunk.head.end, 2U);
  EXPECT_EQ(chunk.head.uncompressed_crc, crc32("records"));
}

TEST(Records, LengthsAreWhatTheySay) {
  std::string bytes;
  append_message_index(bytes, 3, {{1, 2}, {3, 4}});
  EXPECT_EQ(bytes.size(), message_index_length(2));
  bytes.clear();
  append_message(bytes, {}, 0);
  EXPECT_EQ(bytes.size(), kRecordHead + kMessageHead);
}

// Every prefix of every record: too short is an error or the end, and nothing behind the bytes is read.
TEST(Records, CutOffAnywhere) {
  std::string bytes;
  append(bytes, Channel{7, 3, "/a/b", "protobuf", {{"k", "v"}}});
  const std::string content = bytes.substr(kRecordHead);
  for (std::size_t size = 0; size < content.size(); ++size) {
    const std::string part = content.substr(0, size);  // memory of its own
    EXPECT_FALSE(parse_channel({Opcode::kChannel, 0, part}).ok()) << size;
    Records records(std::string_view(bytes).substr(0, size), 0);
    EXPECT_FALSE(records.next().has_value());
    EXPECT_EQ(records.rest().size(), size);
  }
  for (std::size_t size = 0; size < kMessageHead; ++size) {
    EXPECT_EQ(parse_message({Opcode::kMessage, 0, std::string(size, 'x')}).status().code(), StatusCode::kDataLoss);
  }
  EXPECT_FALSE(parse_chunk({Opcode::kChunk, 0, std::string(40, '\x7f')}).ok());
  EXPECT_FALSE(parse_header({}).ok());
  EXPECT_FALSE(parse_schema({}).ok());
  EXPECT_FALSE(parse_metadata({}).ok());
}

TEST(Records, ALengthThatOverflows) {
  std::string bytes("\x05", 1);
  bytes.append(8, '\xff');
  bytes += "rest";
  Records records(bytes, 0);
  EXPECT_FALSE(records.next().has_value());
}

// What a later version of the format adds at the end of a record is ignored.
TEST(Records, LongerThanKnown) {
  std::string bytes;
  append(bytes, Header{"a", "b"});
  EXPECT_EQ(parse_header({Opcode::kHeader, 0, bytes.substr(kRecordHead) + "more"}).value().library, "b");
}

}  // namespace
}  // namespace leapp::mcap
