// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recording consists of. One channel, and so one topic, for each port:
//
//   /inputs/{node}/{port}     what the caller gave, before guards
//   /outputs/{node}/{port}    what the caller got, after guards
//   /state/{node}/{port}      the state that a step leaves for the next
//   /start/{node}/{port}      the state that a step begins with, where it is not what the step before left: at the
//                             beginning, after a reset, after steps that are missing
//   /guards                   what the guards remember, likewise
//   /step                     number, result, times; the last message of each step
//
// All messages of a step are in one chunk and have the same log time, at which the step was recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/runtime/guards.h"
#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/port.h"
#include "mcap/records.h"
#include "runtime/recording/recording_codec.h"

namespace leapp::runtime {

inline constexpr const char* kRecordingProfile = "leapp";
inline constexpr const char* kRecordingVersion = "1";
/// Names of the metadata records: what was recorded, and the SHA-256 of its files by their names.
inline constexpr const char* kRecordingMetadata = "leapp";
inline constexpr const char* kFilesMetadata = "leapp_files";
inline constexpr const char* kMessageEncoding = "protobuf";

/// Keys of a channel's metadata. kChannelRole is "input", "output", "state", "start", "guards" or "step".
inline constexpr const char* kChannelRole = "leapp";
inline constexpr const char* kChannelPort = "port";
inline constexpr const char* kChannelDType = "dtype";
inline constexpr const char* kChannelShape = "shape";
inline constexpr const char* kChannelLayout = "layout";

struct RecordedPort {
  Port port;
  PortCodec codec;
  std::uint16_t channel = 0;
  std::uint16_t start_channel = 0;  ///< of state
  std::size_t at = 0;               ///< in a slot
  std::size_t before = 0;           ///< the same of the state that a step begins with
};

struct RecordingLayout {
  std::vector<RecordedPort> inputs;
  std::vector<RecordedPort> outputs;
  std::vector<RecordedPort> states;
  std::uint16_t memory_channel = 0;
  std::uint16_t step_channel = 0;
  std::size_t memory_at = 0;
  std::size_t memory_size = 0;
  std::vector<mcap::Schema> schemas;
  std::vector<mcap::Channel> channels;  ///< in the order of their numbers, from 1

  /// Of these ports. kInvalidArgument when there are more than a file can number, or one is too large for a message.
  static Result<RecordingLayout> make(const std::vector<Port>& inputs, const std::vector<Port>& outputs,
                                      const std::vector<Port>& states);
};

/// What runs the models, for a reader to compare.
[[nodiscard]] std::string engines_text(const Pipeline& pipeline);

/// What parse_guards reads.
[[nodiscard]] std::string guards_text(const GuardRules& rules);

}  // namespace leapp::runtime
