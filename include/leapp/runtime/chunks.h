// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A policy that returns the next second of actions at once, played back at the rate of the motors.
//
//   auto player = ChunkPlayer::make(pipeline.output_port("policy/actions").value(), {.mode = ChunkMode::kBlend,
//                                   .overlap_ms = 40}).value();
//   auto joints = NameMap::make(player.port(), -1, robot.joint_names()).value();
//   every 20 ms:  pipeline.step(); player.take(now);
//   every 1 ms:   if (player.play(now) != ChunkResult::kEmpty && joints.read(targets)) robot.drive(targets);
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/runtime/port.h"

namespace leapp::runtime {

/// How values between two rows of a chunk are made.
enum class ChunkMode : std::uint8_t {
  kHold,    ///< the row whose time has come, until that of the next comes
  kLinear,  ///< between two rows the straight line
  kBlend,   ///< linear, and over the overlap from the chunk before to the new one
};

/// Options of ChunkPlayer::make.
struct ChunkOptions {
  ChunkMode mode = ChunkMode::kLinear;
  /// kBlend: for so long after the start of a chunk the one before is still heard, from all of it to none. At most the
  /// length of a chunk.
  double overlap_ms = 0;
};

/// Where in a chunk a time lies.
enum class ChunkResult : std::uint8_t {
  kPlaying,
  kBefore,  ///< the chunk has not begun: its first row, or what the chunk before says, if there is one
  kEnded,   ///< the chunk is over: its last row, for as long as there is no other. Whether that is safe is yours to say
  kEmpty,   ///< no chunk was taken yet: nothing was written
};

/// Plays an output that has an axis of moments (TemporalAxis). take() and play() allocate nothing, lock nothing and do
/// not throw; they belong to one thread at a time, that of the pipeline for take(). Numbers between two rows are those
/// of the straight line: for angles that wrap and for quaternions use kHold.
class LEAPP_API ChunkPlayer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// kInvalidArgument for a port that is no output, has no axis of moments or none in it, for a bool that is to be
  /// interpolated, and for an overlap that is negative, missing for kBlend, given for another mode, or longer than a
  /// chunk.
  static Result<ChunkPlayer> make(const Port& output, const ChunkOptions& options = {});

  ChunkPlayer(ChunkPlayer&&) noexcept = default;
  ChunkPlayer& operator=(ChunkPlayer&&) noexcept = default;

  /// The port's value of now is the newest chunk; its first row is for `start`. The one before stays in use until
  /// `start`, and over the overlap.
  void take(Time start) noexcept;

  /// What is due at `time`, into port().
  ChunkResult play(Time time) noexcept;

  /// One moment: the output without its axis of moments, float32 or, for other dtypes, float64. Its memory is that of
  /// the player, in place for as long as the player lives, moved or not: read it, or make a NameMap of it.
  [[nodiscard]] const Port& port() const { return port_; }
  /// Between two rows, and of all rows together: the last row is due so long after the first.
  [[nodiscard]] std::chrono::nanoseconds period() const { return period_; }
  [[nodiscard]] std::chrono::nanoseconds length() const { return period_ * static_cast<long>(rows_ - 1); }

 private:
  /// Rows one after the other, as double.
  struct Chunk {
    std::vector<double> rows;
    Time start;
    bool filled = false;
  };

  ChunkPlayer() = default;
  [[nodiscard]] double value(const Chunk& chunk, double place, std::size_t element) const noexcept;
  [[nodiscard]] double place(const Chunk& chunk, Time time) const noexcept;

  Port source_;
  Port port_;
  ChunkOptions options_;
  std::chrono::nanoseconds period_{0};
  std::chrono::nanoseconds overlap_{0};
  std::size_t rows_ = 0;
  std::size_t inner_ = 1;  ///< elements after the axis of moments
  std::vector<double> memory_;
  Chunk newest_;
  Chunk before_;
};

}  // namespace leapp::runtime
