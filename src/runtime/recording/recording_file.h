// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bundle/folder/file_system.h"
#include "leapp/base/status.h"
#include "leapp/runtime/recorder.h"
#include "mcap/records.h"
#include "runtime/recording/recording_layout.h"
#include "runtime/recording/step_tap.h"

namespace leapp::runtime {

/// Writes slots of the ring to a file, chunk by chunk. Belongs to the thread that writes. After an error the file ends
/// with its last whole chunk.
class RecordingFile {
 public:
  struct Options {
    std::filesystem::path path;
    RecorderOptions recorder;
    std::vector<mcap::Metadata> metadata;
    std::string library;           ///< who writes
    std::int64_t unix_offset = 0;  ///< what the monotonic clock lacks to the time of day
  };

  RecordingFile(RecordingLayout layout, Options options) : layout_(std::move(layout)), options_(std::move(options)) {}

  /// Makes the file, with all that comes before the first chunk. It is gone again when that fails.
  Status open();
  /// Writes the chunk if it is full with this step, or an earlier one is due.
  Status add(const std::byte* slot);
  /// Writes the chunk if its first step is old enough at `now`, or at once.
  Status flush_if_due(std::chrono::steady_clock::time_point now);
  Status flush();
  /// Writes the last chunk and the summary.
  Status finish();
  /// The summary after an error, if there is room for that.
  void finish_after_error();

  [[nodiscard]] std::uint64_t steps() const { return steps_; }      ///< in whole chunks of the file
  [[nodiscard]] std::uint64_t waiting() const { return waiting_; }  ///< in the chunk that is not written
  [[nodiscard]] std::uint64_t bytes() const { return end_; }

 private:
  /// What is kept of a chunk until the end.
  struct Chunk {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  ///< of its records
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t steps = 0;
    std::uint32_t starts = 0;    ///< steps with a state that they begin with
    std::uint32_t memories = 0;  ///< and with what the guards remember
  };

  Status open_file();
  Status remove_old();
  [[nodiscard]] Status lock() const;
  [[nodiscard]] Status check_still_there() const;
  void begin_chunk();
  void add_message(std::uint16_t channel, const SlotHead& head, std::size_t size);
  void add_values(const RecordedPort& port, std::uint16_t channel, const SlotHead& head, const std::byte* values);
  [[nodiscard]] bool continues(const std::byte* slot) const;
  void keep_state(const std::byte* slot);
  Status write(std::string_view bytes);
  [[nodiscard]] mcap::ChunkIndex index_of(const Chunk& chunk) const;
  [[nodiscard]] std::uint64_t messages_in(const Chunk& chunk, std::uint16_t channel) const;
  [[nodiscard]] mcap::FileStatistics statistics() const;
  Status write_summary();
  void cut_to_end();
  void close_file();

  RecordingLayout layout_;
  Options options_;
  bundle::FileDescriptor file_;
  bool is_regular_ = false;  ///< no device or pipe
  std::string definitions_;  ///< schemas and channels
  std::vector<std::pair<std::uint64_t, std::uint64_t>> metadata_places_;
  std::uint64_t end_ = 0;  ///< of what is whole in the file
  std::uint32_t crc_ = 0;  ///< of that
  std::uint64_t steps_ = 0;
  std::uint64_t waiting_ = 0;
  std::string buffer_;  ///< the chunk that is being made: its head, its records, later its indexes
  Chunk chunk_;
  std::chrono::steady_clock::time_point chunk_since_;
  std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> indexes_;  ///< by channel - 1
  std::vector<Chunk> chunks_;
  std::vector<std::byte> state_;  ///< that the last step left
  bool has_state_ = false;
};

}  // namespace leapp::runtime
