// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "mcap/read.h"
#include "runtime/recording/recording_codec.h"

namespace leapp::runtime {

/// A step as it was recorded. Values are in the order of StepLogReader::inputs and so on.
struct RecordedStep {
  StepInfo info;
  std::uint64_t log_time = 0;  ///< nanoseconds since 1970
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> outputs;
  std::vector<std::vector<std::byte>> states;  ///< after the step
  std::vector<std::vector<std::byte>> starts;  ///< before it, if that is not what the one before left; else empty
  std::optional<std::string> memory;           ///< of the guards, likewise
};

/// Reads what a Recorder has written. The bytes may come from strangers: whatever they are, there is an error or steps.
/// They stay the caller's, and outlive this. A file that was cut off is read up to its last whole chunk.
class StepLogReader {
 public:
  struct Port {
    std::string name;  ///< "node/port"
    DType dtype = DType::kFloat32;
    std::vector<std::int64_t> shape;
    PortCodec codec;
  };

  /// Reads everything up to the first chunk. kDataLoss when it is no MCAP file or one that is damaged; kUnimplemented
  /// when it is not one of ours, or of a version that is not known.
  LEAPP_API static Result<StepLogReader> open(std::string_view bytes);

  /// The next step; false at the end. Memory of `step` is used again.
  LEAPP_API Result<bool> next(RecordedStep& step);

  [[nodiscard]] const std::vector<Port>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<Port>& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<Port>& states() const { return states_; }
  /// What was recorded: "bundle", "engine", "fused", "guards", ...; empty when it is not there.
  [[nodiscard]] LEAPP_API std::string about(std::string_view key) const;
  /// SHA-256 of the bundle's files by name.
  [[nodiscard]] const mcap::TextMap& files() const { return files_; }
  /// Where the chunk that is being read begins: what stands before it was read.
  [[nodiscard]] std::uint64_t offset() const { return chunk_begin_; }
  /// After the last step: whether the file ends in the middle, as when the program was killed.
  [[nodiscard]] bool cut_off() const { return cut_off_; }

 private:
  enum class Role { kInput, kOutput, kState, kStart, kMemory, kStep };
  struct Channel {
    Role role = Role::kStep;
    std::size_t port = 0;
  };

  explicit StepLogReader(mcap::Records records) : records_(records), chunk_({}, 0) {}

  Status read_definitions();
  Status read_metadata(const mcap::Record& record);
  Status add_channel(const mcap::Record& record);
  Status check_definitions();
  Status check_compression(const mcap::Record& record) const;
  Result<bool> next_chunk();
  Status take(const mcap::Record& record, RecordedStep& step, bool& whole);
  Status take_values(const Channel& channel, std::string_view data, RecordedStep& step);
  Status check_whole(const RecordedStep& step) const;
  Status at(std::uint64_t offset, const Status& status) const;

  mcap::Records records_;
  mcap::Records chunk_;
  std::uint64_t chunk_begin_ = 0;
  mcap::TextMap about_;
  mcap::TextMap files_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::vector<Port> states_;
  std::vector<std::string> starts_;
  std::map<std::uint16_t, Channel> channels_;
  std::optional<mcap::Record> first_chunk_;
  std::optional<std::uint32_t> sequence_;  ///< of the step whose messages are being read
  std::vector<std::size_t> seen_;          ///< how many values of each role
  bool cut_off_ = false;
};

}  // namespace leapp::runtime
