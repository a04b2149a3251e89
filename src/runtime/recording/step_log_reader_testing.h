// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Recordings for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "leapp/runtime/recorder.h"
#include "runtime/recording/step_log_reader.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {

inline std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

struct ReadRecording {
  std::vector<RecordedStep> steps;
  bool cut_off = false;
  Status status;
};

inline ReadRecording read_recording(std::string_view bytes) {
  ReadRecording read;
  auto recording = StepLogReader::open(bytes);
  if (!recording.ok()) return {{}, false, recording.status()};
  for (RecordedStep step;;) {
    const auto there = recording.value().next(step);
    if (!there.ok()) read.status = there.status();
    if (!there.ok() || !there.value()) break;
    read.steps.push_back(step);
  }
  read.cut_off = recording.value().cut_off();
  return read;
}

/// A pipeline, a file for it, and steps with an input that is their number.
class RecordedRobot {
 public:
  explicit RecordedRobot(const std::string& name) : bundle(name), pipeline(bundle.load()) {}

  [[nodiscard]] fs::path file() const { return bundle.folder() / "run.mcap"; }

  Recorder record(RecorderOptions options = {}) {
    auto recorder = Recorder::make(pipeline, file(), std::move(options));
    EXPECT_TRUE(recorder.ok()) << recorder.status().message();
    return std::move(recorder).value();
  }

  StepResult step(float value) {
    const std::span<float> q = pipeline.input<float>("policy/q").value();
    std::fill(q.begin(), q.end(), value);
    return pipeline.step();
  }

  RobotBundle bundle;
  Pipeline pipeline;
};

}  // namespace leapp::runtime
