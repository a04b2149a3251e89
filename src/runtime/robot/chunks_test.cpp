// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/chunks.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "leapp/runtime/name_map.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;
using Time = ChunkPlayer::Time;

constexpr Time kStart{1h};

/// chunk [1,4,3] = q * (0, 1, 2, 3), rows 10 ms apart.
class ChunkTest : public ::testing::Test {
 protected:
  ChunkPlayer player(const ChunkOptions& options) {
    auto made = ChunkPlayer::make(pipeline_.output_port("policy/chunk").value(), options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(made).value();
  }
  /// A chunk in which the hip moves by `slope` and the knee by twice that in every row.
  void make_chunk(float slope) {
    const auto q = pipeline_.input<float>("policy/q").value();
    q[0] = slope;
    q[1] = 2 * slope;
    ASSERT_EQ(pipeline_.step(), StepResult::kOk);
  }
  static float hip(const ChunkPlayer& player) { return player.port().view().as<const float>().value()[0]; }
  static float knee(const ChunkPlayer& player) { return player.port().view().as<const float>().value()[1]; }

  RobotBundle bundle_{"chunks"};
  Pipeline pipeline_{bundle_.load()};
};

TEST_F(ChunkTest, HoldsARowUntilTheNext) {
  ChunkPlayer chunk = player({.mode = ChunkMode::kHold});
  EXPECT_EQ(chunk.play(kStart), ChunkResult::kEmpty);
  make_chunk(4);
  chunk.take(kStart);
  EXPECT_EQ(chunk.period(), 10ms);
  EXPECT_EQ(chunk.length(), 30ms);
  EXPECT_EQ(chunk.port().shape, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(chunk.play(kStart + 9999us), ChunkResult::kPlaying);
  EXPECT_EQ(hip(chunk), 0);
  EXPECT_EQ(chunk.play(kStart + 10ms), ChunkResult::kPlaying);
  EXPECT_EQ(hip(chunk), 4);
  EXPECT_EQ(knee(chunk), 8);
  EXPECT_EQ(chunk.play(kStart + 39ms), ChunkResult::kPlaying);
  EXPECT_EQ(hip(chunk), 12);
  EXPECT_EQ(chunk.play(kStart + 40ms), ChunkResult::kEnded);
  EXPECT_EQ(hip(chunk), 12) << "the last row";
  EXPECT_EQ(chunk.play(kStart - 1ms), ChunkResult::kBefore);
  EXPECT_EQ(hip(chunk), 0) << "the first row";
}

TEST_F(ChunkTest, LinearBetweenRows) {
  ChunkPlayer chunk = player({.mode = ChunkMode::kLinear});
  make_chunk(4);
  chunk.take(kStart);
  EXPECT_EQ(chunk.play(kStart + 15ms), ChunkResult::kPlaying);
  EXPECT_FLOAT_EQ(hip(chunk), 6);
  EXPECT_FLOAT_EQ(knee(chunk), 12);
  EXPECT_EQ(chunk.play(kStart + 30ms), ChunkResult::kPlaying);
  EXPECT_EQ(hip(chunk), 12);
  EXPECT_EQ(chunk.play(kStart + 30ms + 1ns), ChunkResult::kEnded);
  EXPECT_EQ(hip(chunk), 12);
  // The next chunk takes over at its start, and not before.
  make_chunk(-1);
  chunk.take(kStart + 20ms);
  EXPECT_EQ(chunk.play(kStart + 15ms), ChunkResult::kBefore);
  EXPECT_FLOAT_EQ(hip(chunk), 6) << "the chunk before is still heard";
  EXPECT_EQ(chunk.play(kStart + 25ms), ChunkResult::kPlaying);
  EXPECT_FLOAT_EQ(hip(chunk), -0.5);
}

TEST_F(ChunkTest, BlendsWithTheChunkBefore) {
  ChunkPlayer chunk = player({.mode = ChunkMode::kBlend, .overlap_ms = 20});
  make_chunk(10);
  chunk.take(kStart);
  EXPECT_EQ(chunk.play(kStart + 5ms), ChunkResult::kPlaying);
  EXPECT_FLOAT_EQ(hip(chunk), 5) << "the first has none before it";
  make_chunk(0);
  chunk.take(kStart + 20ms);
  EXPECT_EQ(chunk.play(kStart + 20ms), ChunkResult::kPlaying);
  EXPECT_FLOAT_EQ(hip(chunk), 20) << "all of the old one: no jump";
  chunk.play(kStart + 25ms);
  EXPECT_FLOAT_EQ(hip(chunk), 25 * 0.75F);
  chunk.play(kStart + 35ms);
  EXPECT_FLOAT_EQ(hip(chunk), 30 * 0.25F) << "the old one has ended: its last row";
  chunk.play(kStart + 40ms);
  EXPECT_FLOAT_EQ(hip(chunk), 0);
  chunk.play(kStart + 10ms);
  EXPECT_FLOAT_EQ(hip(chunk), 10) << "asked about the past";
}

TEST_F(ChunkTest, AChunkThatNeverBeganIsForgotten) {
  ChunkPlayer chunk = player({});
  make_chunk(1);
  chunk.take(kStart);
  make_chunk(100);
  chunk.take(kStart + 20ms);
  make_chunk(2);
  chunk.take(kStart + 20ms);  // in its place
  chunk.play(kStart + 10ms);
  EXPECT_FLOAT_EQ(hip(chunk), 1);
  chunk.play(kStart + 30ms);
  EXPECT_FLOAT_EQ(hip(chunk), 2);
}

TEST_F(ChunkTest, AMapReadsWhatIsPlayed) {
  ChunkPlayer made = player({});
  const std::vector<std::string> robot{"knee", "ankle", "hip"};
  auto map = NameMap::make(made.port(), -1, robot).value();
  ChunkPlayer chunk = std::move(made);
  make_chunk(4);
  chunk.take(kStart);
  chunk.play(kStart + 10ms);
  std::array<double, 3> targets{};
  ASSERT_TRUE(map.read(targets));
  EXPECT_EQ(targets, (std::array{8.0, 0.0, 4.0}));
}

TEST_F(ChunkTest, WhatCannotBePlayedIsRefused) {
  const auto refuse = [](const Port& port, const ChunkOptions& options, const std::vector<std::string>& words) {
    expect_refused(ChunkPlayer::make(port, options).status(), StatusCode::kInvalidArgument, words);
  };
  const Port chunk = pipeline_.output_port("policy/chunk").value();
  refuse(pipeline_.output_port("policy/action").value(), {},
         {"policy/action (float32[1,3])", "axis of moments", "TemporalAxis"});
  refuse(pipeline_.input_port("policy/q").value(), {}, {"policy/q", "an output"});
  refuse(chunk, {.mode = ChunkMode::kBlend}, {"overlap_ms", "at most 30", "found 0"});
  refuse(chunk, {.mode = ChunkMode::kBlend, .overlap_ms = 31}, {"at most 30", "found 31"});
  refuse(chunk, {.mode = ChunkMode::kBlend, .overlap_ms = -1}, {"found -1"});
  refuse(chunk, {.mode = ChunkMode::kLinear, .overlap_ms = 5}, {"only blend", "found 5"});
  Port flag = chunk;
  flag.dtype = DType::kBool;
  refuse(flag, {}, {"bool", "hold"});
}

// [joints, moments], float64: the axis of moments is the last.
TEST(Chunks, AnyAxisAndDtype) {
  std::array<double, 6> data{0, 10, 20, 100, 90, 80};
  Port port{.name = "n/x", .role = PortRole::kOutput, .dtype = DType::kFloat64, .shape = {2, 3}};
  port.element_names.resize(2);
  port.temporal_axis = bundle::TemporalAxis{1, 2.5};
  port.data = data.data();
  ChunkPlayer player = ChunkPlayer::make(port, {}).value();
  player.take(kStart);
  EXPECT_EQ(player.play(kStart + 3750us), ChunkResult::kPlaying);
  const auto values = player.port().view().as<const double>().value();
  EXPECT_EQ(values[0], 15);
  EXPECT_EQ(values[1], 85);
}

}  // namespace
}  // namespace leapp::runtime
