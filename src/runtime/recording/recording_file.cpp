// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "base/memory.h"
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

/// Groups of a summary, each with the records of one kind. They go to the file in pieces: of a day there are more than
/// anybody wants in memory.
class SummaryWriter {
 public:
  using Write = std::function<Status(std::string_view)>;

  SummaryWriter(std::uint64_t start, Write write) : start_(start), end_(start), write_(std::move(write)) {}

  /// `next` appends a record; false: there are no more.
  template <typename Next>
  Status group(mcap::Opcode opcode, Next next) {
    const std::uint64_t before = at();
    while (next(text_)) {
      if (text_.size() >= kPiece) LEAPP_RETURN_IF_ERROR(flush());
    }
    if (at() != before) groups_.push_back({opcode, before, at() - before});
    return {};
  }

  Status finish() {
    const std::uint64_t offsets = at();
    for (const Group& group : groups_) mcap::append_summary_offset(text_, group.opcode, group.start, group.length);
    mcap::append_footer(text_, start_, offsets, crc_);
    return write_(text_);
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20U;
  struct Group {
    mcap::Opcode opcode;
    std::uint64_t start;
    std::uint64_t length;
  };

  [[nodiscard]] std::uint64_t at() const { return end_ + text_.size(); }
  Status flush() {
    crc_ = mcap::crc32(text_, crc_);
    LEAPP_RETURN_IF_ERROR(write_(text_));
    end_ += text_.size();
    text_.clear();
    return {};
  }

  std::uint64_t start_;
  std::uint64_t end_;  ///< of what is in the file
  Write write_;
  std::uint32_t crc_ = 0;
  std::string text_;
  std::vector<Group> groups_;
};

/// For SummaryWriter::group: appends what `append` makes of each of `all`.
template <typename Range, typename Append>
auto each_of(const Range& all, Append append) {
  return [at = std::size_t{0}, &all, append](std::string& to) mutable {
    if (at == all.size()) return false;
    append(to, all[at], at);
    ++at;
    return true;
  };
}

}  // namespace

Status RecordingFile::lock() const {
  // Two who write into one file leave none. Where files cannot be locked, they are not.
  if (::flock(file_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return io_error(fmt::format("cannot write {}: another recorder writes to it", options_.path.string()));
}

// A file that may be overwritten goes first: what a link leads to, or shares its bytes with it, is somebody else's.
// Looked at again when it is locked, for between the two another recorder may have put its own there.
Status RecordingFile::remove_old() {
  constexpr int kMostAttempts = 10;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    file_ = bundle::FileDescriptor(::open(options_.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat opened {};
    struct stat there {};
    if (file_.is_open()) {
      LEAPP_RETURN_IF_ERROR(lock());
      const bool known = ::fstat(file_.number(), &opened) == 0 && ::lstat(options_.path.c_str(), &there) == 0;
      if (!known || opened.st_dev != there.st_dev || opened.st_ino != there.st_ino) continue;
    }
    ::unlink(options_.path.c_str());  // where that may not be, it is written to
    return {};
  }
  return io_error(fmt::format("cannot write {}: others replace it all the time", options_.path.string()));
}

// A device or a pipe is written to. Opening a pipe that nobody reads is an error, as it would never end.
Status RecordingFile::open_file() {
  struct stat about {};
  const bool overwrite = options_.recorder.overwrite;
  const bool there = overwrite && ::stat(options_.path.c_str(), &about) == 0;
  is_regular_ = !there || !(S_ISCHR(about.st_mode) || S_ISFIFO(about.st_mode));
  int mode = O_WRONLY | O_CLOEXEC | O_NONBLOCK;
  if (is_regular_ && overwrite) LEAPP_RETURN_IF_ERROR(remove_old());
  if (is_regular_) mode |= O_CREAT | O_NOFOLLOW | (overwrite ? 0 : O_EXCL);
  file_ = bundle::FileDescriptor(::open(options_.path.c_str(), mode, 0666));
  if (!file_.is_open()) return bundle::file_error("write", options_.path, errno);
  const int flags = ::fcntl(file_.number(), F_GETFL);
  if (flags < 0 || ::fcntl(file_.number(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return bundle::file_error("write", options_.path, errno);
  }
  if (!is_regular_) return {};
  LEAPP_RETURN_IF_ERROR(lock());
  return ::ftruncate(file_.number(), 0) == 0 ? Status() : bundle::file_error("write", options_.path, errno);
}

// Who removes a file, or empties it, does not stop anybody from writing to it: the disk fills up with what nobody will
// ever see.
Status RecordingFile::check_still_there() const {
  if (!is_regular_) return {};
  struct stat about {};
  if (::fstat(file_.number(), &about) != 0) return bundle::file_error("write", options_.path, errno);
  if (about.st_nlink == 0) return io_error(fmt::format("cannot write {}: it was removed", options_.path.string()));
  if (static_cast<std::uint64_t>(about.st_size) == end_) return {};
  return io_error(fmt::format("cannot write {}: somebody else has changed it: expected {} bytes, found {}",
                              options_.path.string(), end_, about.st_size));
}

Status RecordingFile::open() {
  LEAPP_RETURN_IF_ERROR(open_file());
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
  if (!written.ok() && is_regular_) ::unlink(options_.path.c_str());  // a device or pipe was not made here
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
  LEAPP_RETURN_IF_ERROR(check_still_there());
  chunk_.offset = end_;
  chunk_.size = buffer_.size() - mcap::kChunkHead;
  const std::uint32_t crc = mcap::crc32(std::string_view(buffer_).substr(mcap::kChunkHead));
  mcap::write_chunk_head(buffer_.data(), {chunk_.start, chunk_.end, chunk_.size, crc, ""});
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    if (!indexes_[i].empty()) mcap::append_message_index(buffer_, static_cast<std::uint16_t>(i + 1), indexes_[i]);
  }
  chunks_.push_back(chunk_);  // before it is in the file: this may fail, and then it is not
  if (const Status written = write(buffer_); !written.ok()) {
    chunks_.pop_back();
    return written;
  }
  if (options_.recorder.sync && ::fdatasync(file_.number()) != 0) {
    const int why = errno;
    chunks_.pop_back();
    return bundle::file_error("write", options_.path, why);
  }
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
      cut_to_end();  // the file ends with what is whole, and the next one to write begins there
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

mcap::FileStatistics RecordingFile::statistics() const {
  mcap::FileStatistics found{.schemas = static_cast<std::uint16_t>(layout_.schemas.size()),
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

Status RecordingFile::write_summary() {
  std::string end;
  mcap::append_data_end(end, crc_);
  LEAPP_RETURN_IF_ERROR(write(end));
  SummaryWriter writer(end_, [this](std::string_view bytes) { return write(bytes); });
  LEAPP_RETURN_IF_ERROR(writer.group(
      mcap::Opcode::kSchema,
      each_of(layout_.schemas, [](std::string& to, const mcap::Schema& schema, auto) { mcap::append(to, schema); })));
  LEAPP_RETURN_IF_ERROR(writer.group(
      mcap::Opcode::kChannel,
      each_of(layout_.channels, [](std::string& to, const mcap::Channel& one, auto) { mcap::append(to, one); })));
  const std::array<mcap::FileStatistics, 1> counts{statistics()};
  LEAPP_RETURN_IF_ERROR(writer.group(
      mcap::Opcode::kStatistics,
      each_of(counts, [](std::string& to, const mcap::FileStatistics& one, auto) { mcap::append(to, one); })));
  LEAPP_RETURN_IF_ERROR(writer.group(
      mcap::Opcode::kMetadataIndex,
      each_of(options_.metadata, [this](std::string& to, const mcap::Metadata& metadata, std::size_t at) {
        mcap::append_metadata_index(to, metadata_places_[at].first, metadata_places_[at].second, metadata.name);
      })));
  LEAPP_RETURN_IF_ERROR(writer.group(
      mcap::Opcode::kChunkIndex,
      each_of(chunks_, [this](std::string& to, const Chunk& chunk, auto) { mcap::append(to, index_of(chunk)); })));
  return writer.finish();
}

// Part of a summary is none: the file ends with its last chunk then, as one that was cut off.
Status RecordingFile::finish() {
  LEAPP_RETURN_IF_ERROR(flush());
  LEAPP_RETURN_IF_ERROR(check_still_there());
  const std::uint64_t end = end_;
  const std::uint32_t crc = crc_;
  const Status written = without_exceptions([this] { return write_summary(); });
  if (!written.ok()) {
    end_ = end;
    crc_ = crc;
    cut_to_end();
    return written;
  }
  const Status synced = options_.recorder.sync && ::fdatasync(file_.number()) != 0
                            ? bundle::file_error("write", options_.path, errno)
                            : Status();
  close_file();
  return synced;
}

// A child that was forked meanwhile has the file open, too: the lock is of both.
void RecordingFile::close_file() {
  if (!file_.is_open()) return;
  if (is_regular_) (void)::flock(file_.number(), LOCK_UN);
  file_ = bundle::FileDescriptor();
}

void RecordingFile::cut_to_end() {
  if (!is_regular_ || ::ftruncate(file_.number(), static_cast<::off_t>(end_)) != 0) return;
  (void)::lseek(file_.number(), static_cast<::off_t>(end_), SEEK_SET);
}

void RecordingFile::finish_after_error() {
  if (!file_.is_open()) return;
  begin_chunk();
  (void)finish();
  close_file();
}

}  // namespace leapp::runtime
