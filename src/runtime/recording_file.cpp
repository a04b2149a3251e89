// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mcap/crc32.h"
#include "mcap/write.h"

namespace leapp::runtime {
namespace {

const SlotHead& head_of(const std::byte* slot) { return *reinterpret_cast<const SlotHead*>(slot); }

StepInfo info_of(const SlotHead& head) {
  const auto time = [](std::int64_t nanoseconds) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
  };
  return {.number = head.number,
          .result = head.result,
          .dropped = head.dropped,
          .begin = time(head.begin),
          .end = time(head.end),
          .deadline = time(head.deadline),
          .woken = time(head.woken),
          .input = time(head.input),
          .guard_events = head.guard_events,
          .guards_changed = head.guards_changed ? 1U : 0U};
}

/// Groups of a summary, each with the records of one kind.
class SummaryWriter {
 public:
  explicit SummaryWriter(std::uint64_t start) : start_(start) {}

  template <typename Write>
  void group(mcap::Opcode opcode, Write write) {
    const std::size_t before = text.size();
    write(text);
    if (text.size() != before) groups_.push_back({opcode, start_ + before, text.size() - before});
  }

  std::string finish() {
    const std::uint64_t offsets = start_ + text.size();
    for (const Group& group : groups_) mcap::append_summary_offset(text, group.opcode, group.start, group.length);
    mcap::append_footer(text, start_, offsets);
    return std::move(text);
  }

  std::string text;

 private:
  struct Group {
    mcap::Opcode opcode;
    std::uint64_t start;
    std::uint64_t length;
  };

  std::uint64_t start_;
  std::vector<Group> groups_;
};

/// A file that may be overwritten goes first: what a link leads to, or shares its bytes with it, is somebody else's. A
/// device or a pipe is written to; opening a pipe that nobody reads is an error, as it would never end.
int open_file(const char* path, bool overwrite) {
  struct stat status {};
  const bool into = overwrite && ::stat(path, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode));
  if (into) {
    const int file = ::open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0) ::fcntl(file, F_SETFL, 0);
    return file;
  }
  const bool gone = overwrite && (::unlink(path) == 0 || errno == ENOENT);
  const int mode = overwrite && !gone ? O_TRUNC : O_EXCL;
  return ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | mode, 0666);
}

}  // namespace

Status RecordingFile::open() {
  file_ = bundle::FileDescriptor(open_file(options_.path.c_str(), options_.recorder.overwrite));
  if (!file_.is_open()) return bundle::file_error("write", options_.path, errno);
  std::string text(mcap::kMagic);
  mcap::append(text, mcap::Header{kRecordingProfile, options_.library});
  for (const mcap::Metadata& metadata : options_.metadata) {
    const std::size_t offset = text.size();
    mcap::append(text, metadata);
    metadata_places_.emplace_back(offset, text.size() - offset);
  }
  for (const mcap::Schema& schema : layout_.schemas) mcap::append(definitions_, schema);
  for (const mcap::Channel& channel : layout_.channels) mcap::append(definitions_, channel);
  indexes_.resize(layout_.channels.size());
  begin_chunk();
  const Status written = write(text + definitions_);
  struct stat about {};
  // A device or pipe was not made here.
  if (!written.ok() && ::fstat(file_.number(), &about) == 0 && S_ISREG(about.st_mode)) {
    ::unlink(options_.path.c_str());
  }
  return written;
}

void RecordingFile::begin_chunk() {
  buffer_.assign(mcap::kChunkHead, '\0');
  chunk_ = {};
  waiting_ = 0;
  for (auto& index : indexes_) index.clear();
}

void RecordingFile::add_message(std::uint16_t channel, const SlotHead& head, std::size_t size) {
  const auto time = static_cast<std::uint64_t>(head.end + options_.unix_offset);
  indexes_[channel - 1U].emplace_back(time, buffer_.size() - mcap::kChunkHead);
  mcap::append_message(buffer_, {channel, static_cast<std::uint32_t>(head.number), time, time}, size);
}

void RecordingFile::add_values(const RecordedPort& port, std::uint16_t channel, const SlotHead& head,
                               const std::byte* values) {
  add_message(channel, head, port.codec.size());
  port.codec.encode(values, buffer_);
}

// Whether this step began with the state that the one before has left.
bool RecordingFile::continues(const std::byte* slot) const {
  if (!has_state_) return false;
  if (!head_of(slot).has_before) return true;  // it has read none
  const std::byte* left = state_.data();
  for (const RecordedPort& state : layout_.states) {
    if (std::memcmp(left, slot + state.before, state.codec.bytes()) != 0) return false;
    left += state.codec.bytes();
  }
  return true;
}

void RecordingFile::keep_state(const std::byte* slot) {
  state_.clear();
  for (const RecordedPort& state : layout_.states) {
    state_.insert(state_.end(), slot + state.at, slot + state.at + state.codec.bytes());
  }
  has_state_ = true;
}

Status RecordingFile::add(const std::byte* slot) {
  const SlotHead& head = head_of(slot);
  if (waiting_ == 0) chunk_since_ = std::chrono::steady_clock::now();
  if (!continues(slot)) {
    ++chunk_.starts;
    for (const RecordedPort& state : layout_.states) {
      add_values(state, state.start_channel, head, slot + (head.has_before ? state.before : state.at));
    }
  }
  if (head.has_memory) {
    ++chunk_.memories;
    std::string message;
    encode_memory({reinterpret_cast<const char*>(slot + layout_.memory_at), layout_.memory_size}, message);
    add_message(layout_.memory_channel, head, message.size());
    buffer_ += message;
  }
  for (const auto* ports : {&layout_.inputs, &layout_.outputs, &layout_.states}) {
    for (const RecordedPort& port : *ports) add_values(port, port.channel, head, slot + port.at);
  }
  std::string message;
  encode(info_of(head), message);
  add_message(layout_.step_channel, head, message.size());
  buffer_ += message;
  keep_state(slot);
  const std::uint64_t time = indexes_[layout_.step_channel - 1U].back().first;
  if (waiting_ == 0) chunk_.start = time;
  chunk_.end = time;
  ++chunk_.steps;
  ++waiting_;
  return buffer_.size() - mcap::kChunkHead >= options_.recorder.chunk_bytes ? flush() : Status();
}

Status RecordingFile::flush_if_due(std::chrono::steady_clock::time_point now) {
  return waiting_ != 0 && now - chunk_since_ >= options_.recorder.flush_interval ? flush() : Status();
}

Status RecordingFile::flush() {
  if (waiting_ == 0) return {};
  chunk_.offset = end_;
  chunk_.size = buffer_.size() - mcap::kChunkHead;
  const std::uint32_t crc = mcap::crc32(std::string_view(buffer_).substr(mcap::kChunkHead));
  mcap::write_chunk_head(buffer_.data(), {chunk_.start, chunk_.end, chunk_.size, crc, ""});
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    if (!indexes_[i].empty()) mcap::append_message_index(buffer_, static_cast<std::uint16_t>(i + 1), indexes_[i]);
  }
  LEAPP_RETURN_IF_ERROR(write(buffer_));
  if (options_.recorder.sync && ::fdatasync(file_.number()) != 0) {
    return bundle::file_error("write", options_.path, errno);
  }
  chunks_.push_back(chunk_);
  steps_ += waiting_;
  begin_chunk();
  return {};
}

Status RecordingFile::write(std::string_view bytes) {
  const std::string_view all = bytes;
  while (!bytes.empty()) {
    const ::ssize_t count = ::write(file_.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int why = errno;
      // The file ends with what is whole, and the next one to write begins there.
      if (::ftruncate(file_.number(), static_cast<::off_t>(end_)) == 0) {
        (void)::lseek(file_.number(), static_cast<::off_t>(end_), SEEK_SET);
      }
      return bundle::file_error("write", options_.path, why);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  crc_ = mcap::crc32(all, crc_);
  end_ += all.size();
  return {};
}

std::uint64_t RecordingFile::messages_in(const Chunk& chunk, std::uint16_t channel) const {
  const auto& states = layout_.states;
  const bool start =
      !states.empty() && channel >= states.front().start_channel && channel <= states.back().start_channel;
  return start ? chunk.starts : channel == layout_.memory_channel ? chunk.memories : chunk.steps;
}

mcap::ChunkIndex RecordingFile::index_of(const Chunk& chunk) const {
  mcap::ChunkIndex index{.start = chunk.start,
                         .end = chunk.end,
                         .offset = chunk.offset,
                         .length = mcap::kChunkHead + chunk.size,
                         .message_indexes = {},
                         .size = chunk.size};
  std::uint64_t at = chunk.offset + index.length;
  for (const mcap::Channel& channel : layout_.channels) {
    const std::uint64_t messages = messages_in(chunk, channel.id);
    if (messages == 0) continue;
    index.message_indexes.emplace_back(channel.id, at);
    at += mcap::message_index_length(messages);
  }
  index.message_index_length = at - chunk.offset - index.length;
  return index;
}

mcap::Statistics RecordingFile::statistics() const {
  mcap::Statistics found{.schemas = static_cast<std::uint16_t>(layout_.schemas.size()),
                         .channels = static_cast<std::uint32_t>(layout_.channels.size()),
                         .metadata = static_cast<std::uint32_t>(options_.metadata.size()),
                         .chunks = static_cast<std::uint32_t>(chunks_.size()),
                         .channel_messages = {}};
  for (const mcap::Channel& channel : layout_.channels) {
    std::uint64_t messages = 0;
    for (const Chunk& chunk : chunks_) messages += messages_in(chunk, channel.id);
    found.messages += messages;
    found.channel_messages.emplace_back(channel.id, messages);
  }
  if (!chunks_.empty()) {
    found.start = chunks_.front().start;
    found.end = chunks_.back().end;
  }
  return found;
}

std::string RecordingFile::summary() const {
  std::string end;
  mcap::append_data_end(end, crc_);
  SummaryWriter writer(end_ + end.size());
  writer.group(mcap::Opcode::kSchema, [&](std::string& to) {
    for (const mcap::Schema& schema : layout_.schemas) mcap::append(to, schema);
  });
  writer.group(mcap::Opcode::kChannel, [&](std::string& to) {
    for (const mcap::Channel& channel : layout_.channels) mcap::append(to, channel);
  });
  writer.group(mcap::Opcode::kStatistics, [&](std::string& to) { mcap::append(to, statistics()); });
  writer.group(mcap::Opcode::kMetadataIndex, [&](std::string& to) {
    for (std::size_t i = 0; i < options_.metadata.size(); ++i) {
      const auto [offset, length] = metadata_places_[i];
      mcap::append_metadata_index(to, offset, length, options_.metadata[i].name);
    }
  });
  writer.group(mcap::Opcode::kChunkIndex, [&](std::string& to) {
    for (const Chunk& chunk : chunks_) mcap::append(to, index_of(chunk));
  });
  return end + writer.finish();
}

Status RecordingFile::finish() {
  LEAPP_RETURN_IF_ERROR(flush());
  return write(summary());
}

void RecordingFile::finish_after_error() {
  begin_chunk();
  (void)finish();
}

}  // namespace leapp::runtime
