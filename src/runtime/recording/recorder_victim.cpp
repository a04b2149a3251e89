// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Records the bundle of robot_testing.h until somebody kills it: recorder_victim BUNDLE FILE. In step n the first input
// is n everywhere. Prints a line when the first step was recorded.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "leapp/runtime/recorder.h"

using namespace leapp::runtime;

int main(int count, char** arguments) {
  if (count != 3) return 2;
  LoadOptions options;
  options.engine.prefer = leapp::engine::Prefer::kNative;
  auto pipeline = Pipeline::load(arguments[1], options);
  if (!pipeline.ok()) return std::fprintf(stderr, "%s\n", pipeline.status().message().c_str()), 1;
  const auto q = pipeline.value().input<float>("policy/q").value();
  // Small and often, so that many a kill meets a write.
  auto recorder = Recorder::make(pipeline.value(), arguments[2],
                                 {.chunk_bytes = 20'000, .flush_interval = std::chrono::milliseconds(2)});
  if (!recorder.ok()) return std::fprintf(stderr, "%s\n", recorder.status().message().c_str()), 1;
  for (int step = 0;; ++step) {
    std::fill(q.begin(), q.end(), static_cast<float>(step));
    if (pipeline.value().step() != StepResult::kOk) return 1;
    recorder.value().record();
    if (step == 0) std::puts("recording"), std::fflush(stdout);
    if (step % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}
