// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads a bundle again and again, each time with another request for memory refused, each in a process of its own:
//
//   LD_PRELOAD=libleapp_faults.so load_faults BUNDLE native|onnxruntime STEP
//
// Tries every STEP-th request, and prints one line: requests of one load, how many were tried, how many of them ended
// in kOutOfMemory, in a pipeline all the same, in another error, and in the death of the process, with the numbers of
// those.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "faults.h"
#include "leapp/runtime/pipeline.h"

namespace {

using leapp::StatusCode;
using leapp::runtime::LoadOptions;
using leapp::runtime::Pipeline;

enum Outcome : int { kOutOfMemory, kLoaded, kOtherError, kStepNeededMemory, kOutcomes };

Outcome outcome_of(const std::filesystem::path& bundle, const LoadOptions& options, long at) {
  leapp_faults_plan plan{};
  plan.calls = "alloc";
  plan.at = at;
  leapp_faults_arm(&plan);
  auto pipeline = Pipeline::load(bundle, options);
  leapp_faults_disarm();
  if (!pipeline.ok()) {
    if (pipeline.status().code() == StatusCode::kOutOfMemory) return kOutOfMemory;
    std::fprintf(stderr, "request %ld: %s\n", at, pipeline.status().message().c_str());
    return kOtherError;
  }
  if (options.engine.prefer != leapp::engine::Prefer::kNative) return kLoaded;
  // From here on nothing is needed: all requests are refused.
  plan.at = 1;
  plan.stays = 1;
  leapp_faults_arm(&plan);
  const bool stepped = pipeline.value().step() == leapp::runtime::StepResult::kOk;
  const long needed = leapp_faults_disarm();
  return stepped && needed == 0 ? kLoaded : kStepNeededMemory;
}

long requests_of_one_load(const std::filesystem::path& bundle, const LoadOptions& options) {
  leapp_faults_plan plan{};
  plan.calls = "alloc";
  leapp_faults_arm(&plan);
  const bool loaded = Pipeline::load(bundle, options).ok();
  const long requests = leapp_faults_disarm();
  return loaded ? requests : -1;
}

/// In a child: whatever it does, we go on.
int try_at(const std::filesystem::path& bundle, const LoadOptions& options, long at) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(outcome_of(bundle, options, at));
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return kOutcomes;
  return WEXITSTATUS(status) < kOutcomes ? WEXITSTATUS(status) : kOutcomes;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4 || leapp_faults_arm == nullptr) {
    std::fputs("usage: LD_PRELOAD=libleapp_faults.so load_faults BUNDLE native|onnxruntime STEP\n", stderr);
    return 2;
  }
  LoadOptions options;
  const bool native = std::string(arguments[2]) == "native";
  options.engine.prefer = native ? leapp::engine::Prefer::kNative : leapp::engine::Prefer::kOnnxRuntime;
  const long step = std::atol(arguments[3]);
  const std::filesystem::path bundle = arguments[1];
  (void)requests_of_one_load(bundle, options);  // what is made once in a process
  const long requests = requests_of_one_load(bundle, options);
  std::vector<int> outcomes(kOutcomes + 1, 0);
  std::string died;
  int tried = 0;
  for (long at = 1; at <= requests; at += step, ++tried) {
    const int outcome = try_at(bundle, options, at);
    ++outcomes[static_cast<std::size_t>(outcome)];
    if (outcome == kOutcomes) died += " " + std::to_string(at);
  }
  std::printf("requests %ld tried %d out_of_memory %d loaded %d other %d step_needed_memory %d died %d:%s\n", requests,
              tried, outcomes[kOutOfMemory], outcomes[kLoaded], outcomes[kOtherError], outcomes[kStepNeededMemory],
              outcomes[kOutcomes], died.c_str());
  return requests > 0 ? 0 : 1;
}
