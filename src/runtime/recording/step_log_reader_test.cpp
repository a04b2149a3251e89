// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/step_log_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "mcap/crc32.h"
#include "mcap/write.h"
#include "runtime/recording/step_log_reader_testing.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

/// A recording of `steps` steps, of `per_chunk` each.
std::string recorded(const std::string& name, int steps, int per_chunk) {
  RecordedRobot robot(name);
  EXPECT_TRUE(robot.pipeline.set_guards({{.port = "policy/action", .all = {.per_step = 1e6}}}).ok());
  Recorder recorder = robot.record({.chunk_bytes = static_cast<std::size_t>(per_chunk) * 300, .flush_interval = 1h});
  for (int i = 0; i < steps; ++i) {
    EXPECT_EQ(robot.step(static_cast<float>(i)), StepResult::kOk);
    EXPECT_TRUE(recorder.record());
  }
  EXPECT_TRUE(recorder.close().ok());
  return bytes_of(robot.file());
}

/// Where the records of that kind begin, and how long they are.
std::vector<std::pair<std::size_t, std::size_t>> places(const std::string& bytes, mcap::Opcode opcode) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  mcap::Records records(std::string_view(bytes).substr(8), 8);
  while (const auto record = records.next()) {
    if (record->opcode == mcap::Opcode::kDataEnd) break;
    if (record->opcode == opcode) found.emplace_back(record->offset, mcap::kRecordHead + record->content.size());
  }
  return found;
}

TEST(StepLogReader, CutOffAnywhereIsReadUpToTheLastWholeChunk) {
  const std::string bytes = recorded("recording_cut", 40, 5);
  const auto chunks = places(bytes, mcap::Opcode::kChunk);
  ASSERT_GT(chunks.size(), 3U);
  const std::size_t whole = read_recording(bytes).steps.size();
  EXPECT_EQ(whole, 40U);
  std::vector<std::size_t> steps_up_to{0};
  for (const auto& [offset, size] : chunks) {
    steps_up_to.push_back(read_recording(bytes.substr(0, offset + size)).steps.size());
    EXPECT_GT(steps_up_to.back(), steps_up_to[steps_up_to.size() - 2]);
  }
  for (std::size_t size = chunks[0].first; size < bytes.size(); size += 7) {
    const std::string part = bytes.substr(0, size);
    const ReadRecording read = read_recording(part);
    ASSERT_TRUE(read.status.ok()) << size << ": " << read.status.message();
    const auto done =
        std::count_if(chunks.begin(), chunks.end(), [&](const auto& c) { return c.first + c.second <= size; });
    ASSERT_EQ(read.steps.size(), steps_up_to[static_cast<std::size_t>(done)]) << size;
  }
  for (std::size_t size = 0; size < chunks[0].first; ++size) {
    const ReadRecording read = read_recording(std::string_view(bytes).substr(0, size));
    EXPECT_TRUE(read.steps.empty());
  }
}

// Whatever is changed: an error, or steps; never something else. Address sanitizer looks.
TEST(StepLogReader, AnyByteMayBeAnything) {
  const std::string bytes = recorded("recording_bytes", 6, 2);
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = bytes;
    for (unsigned n = random() % 4 + 1; n > 0; --n) changed[random() % changed.size()] = static_cast<char>(random());
    const ReadRecording read = read_recording(changed);
    EXPECT_LE(read.steps.size(), 6U);
  }
}

/// `bytes` with the chunk at `at` made to fit its contents again.
void mend(std::string& bytes, std::pair<std::size_t, std::size_t> at) {
  const std::string_view records =
      std::string_view(bytes).substr(at.first + mcap::kChunkHead, at.second - mcap::kChunkHead);
  const std::string copy(records);
  mcap::write_chunk_head(bytes.data() + at.first, {0, 0, copy.size(), mcap::crc32(copy), ""});
}

// The same behind the checksum: in what messages say.
TEST(StepLogReader, AnyByteOfAChunkMayBeAnything) {
  const std::string bytes = recorded("recording_chunk_bytes", 6, 2);
  const auto chunk = places(bytes, mcap::Opcode::kChunk)[1];
  std::mt19937 random(4);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string changed = bytes;
    const std::size_t at = chunk.first + mcap::kChunkHead + random() % (chunk.second - mcap::kChunkHead);
    changed[at] = static_cast<char>(random());
    mend(changed, chunk);
    refused += read_recording(changed).status.ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

TEST(StepLogReader, ADamagedChunkIsNamed) {
  std::string bytes = recorded("recording_damaged", 10, 2);
  const auto chunk = places(bytes, mcap::Opcode::kChunk)[1];
  bytes[chunk.first + chunk.second - 1] ^= 1;
  const ReadRecording read = read_recording(bytes);
  expect_refused(read.status, StatusCode::kDataLoss, {std::to_string(chunk.first), "checksum"});
  EXPECT_FALSE(read.steps.empty()) << "those before it are there";
}

TEST(StepLogReader, FilesThatAreNotOurs) {
  const auto refused = [](const std::string& bytes, StatusCode code, const std::vector<std::string>& words) {
    expect_refused(StepLogReader::open(bytes).status(), code, words);
  };
  refused("", StatusCode::kDataLoss, {"MCAP"});
  refused("PK\x03\x04", StatusCode::kDataLoss, {"MCAP"});
  std::string bytes(mcap::kMagic);
  refused(bytes, StatusCode::kDataLoss, {"header"});
  mcap::append(bytes, mcap::Header{"ros2", "someone else's"});
  refused(bytes, StatusCode::kUnimplemented, {"ros2", "someone else's", "expected a recording of LEAPP"});
  bytes = mcap::kMagic;
  mcap::append(bytes, mcap::Header{"leapp", "leapp"});
  refused(bytes, StatusCode::kUnimplemented, {"version", "none"});
  std::string foreign = bytes;
  mcap::append(foreign, mcap::Metadata{"leapp", {{"version", "1"}}});
  refused(foreign, StatusCode::kDataLoss, {"channel"});
  mcap::append(foreign, mcap::Channel{1, 0, "/tf", "cdr", {}});
  refused(foreign, StatusCode::kUnimplemented, {"/tf"});
  mcap::append(bytes, mcap::Metadata{"leapp", {{"version", "2"}}});
  refused(bytes, StatusCode::kUnimplemented, {"version 1", "2"});
}

TEST(StepLogReader, AChannelThatMakesNoSense) {
  for (const auto& [key, value] : mcap::TextMap{{"shape", "[1,x]"},
                                                {"shape", "[-1]"},
                                                {"shape", "1"},
                                                {"shape", "[1,]"},
                                                {"shape", "[4294967296,4294967296]"},
                                                {"shape", "[1000000000]"},
                                                {"dtype", "complex64"},
                                                {"dtype", "float"},
                                                {"layout", "rows"}}) {
    mcap::TextMap metadata{
        {"leapp", "input"}, {"port", "a/b"}, {"dtype", "float32"}, {"shape", "[1,3]"}, {"layout", "values"}};
    for (auto& entry : metadata) {
      if (entry.first == key) entry.second = value;
    }
    std::string bytes(mcap::kMagic);
    mcap::append(bytes, mcap::Header{"leapp", "leapp"});
    mcap::append(bytes, mcap::Channel{1, 0, "/inputs/a/b", "protobuf", metadata});
    expect_refused(StepLogReader::open(bytes).status(), StatusCode::kDataLoss, {"/inputs/a/b"});
  }
}

TEST(StepLogReader, ACompressedChunkIsRefused) {
  std::string bytes = recorded("recording_compressed", 4, 2);
  bytes.resize(places(bytes, mcap::Opcode::kChunk)[0].first);
  std::string content(28, '\0');
  mcap::put_u32(content, 4);
  content += "zstd";
  mcap::put_u64(content, 3);
  content += "xyz";
  bytes.push_back(static_cast<char>(mcap::Opcode::kChunk));
  mcap::put_u64(bytes, content.size());
  bytes += content;
  expect_refused(read_recording(bytes).status, StatusCode::kUnimplemented, {"zstd", "not compressed"});
}

// Readers with an index believe the summary: every offset of it has to lead to what it says.
TEST(StepLogReader, TheSummaryIsTrue) {
  const std::string bytes = recorded("recording_summary", 30, 4);
  ASSERT_TRUE(bytes.ends_with(mcap::kMagic));
  const std::size_t footer = bytes.size() - 8 - 20 - mcap::kRecordHead;
  ASSERT_EQ(bytes[footer], static_cast<char>(mcap::Opcode::kFooter));
  mcap::Cursor cursor(std::string_view(bytes).substr(footer + mcap::kRecordHead));
  const std::uint64_t summary = cursor.u64();
  const std::uint64_t offsets = cursor.u64();
  EXPECT_EQ(cursor.u32(),
            mcap::crc32(std::string_view(bytes).substr(summary, footer + mcap::kRecordHead + 16 - summary)));
  const auto opcode_at = [&](std::uint64_t at) { return static_cast<mcap::Opcode>(bytes[at]); };
  mcap::Records records(std::string_view(bytes).substr(summary, footer - summary), summary);
  std::size_t chunks = 0;
  std::uint64_t messages = 0;
  std::uint64_t counted = 0;
  while (const auto record = records.next()) {
    mcap::Cursor content(record->content);
    if (record->opcode == mcap::Opcode::kChunkIndex) {
      ++chunks;
      (void)content.bytes(16);
      const std::uint64_t offset = content.u64();
      const std::uint64_t length = content.u64();
      ASSERT_EQ(opcode_at(offset), mcap::Opcode::kChunk);
      mcap::Records chunk(std::string_view(bytes).substr(offset, length), offset);
      const mcap::ChunkRecord found = mcap::parse_chunk(chunk.next().value()).value();
      mcap::Cursor indexes(content.text());
      std::uint64_t index_length = 0;
      while (!indexes.rest().empty()) {
        const std::uint16_t channel = indexes.u16();
        const std::uint64_t at = indexes.u64();
        ASSERT_EQ(opcode_at(at), mcap::Opcode::kMessageIndex);
        mcap::Records index(std::string_view(bytes).substr(at), at);
        const mcap::Record entry = index.next().value();
        index_length += mcap::kRecordHead + entry.content.size();
        mcap::Cursor inside(entry.content);
        EXPECT_EQ(inside.u16(), channel);
        mcap::Cursor entries(inside.text());
        while (!entries.rest().empty()) {
          const std::uint64_t time = entries.u64();
          mcap::Records message(found.records.substr(entries.u64()), 0);
          const mcap::MessageRecord pointed = mcap::parse_message(message.next().value()).value();
          EXPECT_EQ(pointed.head.channel, channel);
          EXPECT_EQ(pointed.head.log_time, time);
          ++messages;
        }
      }
      EXPECT_EQ(content.u64(), index_length);
    }
    if (record->opcode == mcap::Opcode::kStatistics) counted = content.u64();
    if (record->opcode == mcap::Opcode::kMetadataIndex) {
      EXPECT_EQ(opcode_at(content.u64()), mcap::Opcode::kMetadata);
    }
    if (record->opcode == mcap::Opcode::kSummaryOffset) {
      EXPECT_GE(record->offset, offsets);
      const auto group = static_cast<mcap::Opcode>(content.u8());
      EXPECT_EQ(opcode_at(content.u64()), group);
    }
  }
  EXPECT_EQ(chunks, places(bytes, mcap::Opcode::kChunk).size());
  // 30 steps of 2 inputs, 2 outputs, 1 state and /step; once a state to start with and what the guards remember.
  EXPECT_EQ(messages, 30U * 6U + 2U);
  EXPECT_EQ(counted, messages);
}

}  // namespace
}  // namespace leapp::runtime
