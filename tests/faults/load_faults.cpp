// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads a bundle again and again, each time with another request for memory refused, each in a process of its own:
//
//   LD_PRELOAD=libleapp_faults.so load_faults BUNDLE native|onnxruntime first|again STEP [KEY]
//
// `first`: the first load of a process, with what is made once in it; `again`: a later one. Tries every STEP-th
// request, and prints one line: requests of one load, how many were tried, how many of them ended in kOutOfMemory, in a
// pipeline all the same, in another error, in the death of the process, inside ONNX Runtime or not (deaths.h). With the
// public key KEY only what it has signed is loaded.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "child.h"
#include "deaths.h"
#include "faults.h"
#include "leapp/runtime/pipeline.h"

namespace {

using leapp::StatusCode;
using leapp::runtime::LoadOptions;
using leapp::runtime::Pipeline;

enum Outcome : int { kOutOfMemory, kLoaded, kOtherError, kStepNeededMemory, kDiedInOnnxRuntime, kDied, kOutcomes };
constexpr unsigned kMostSeconds = 60;

Outcome outcome_of(const std::filesystem::path& bundle, const LoadOptions& options, long at) {
  leapp::faults::explain_deaths(at, {.ours = kDied, .elsewhere = kDiedInOnnxRuntime}, kMostSeconds);
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
  const int code = leapp::faults::in_child([&](long&) { return outcome_of(bundle, options, at); }).code;
  if (code >= 0 && code < kOutcomes) return code;
  std::fprintf(stderr, "request %ld: ended by a signal\n", at);
  return kDied;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5 || count > 6 || leapp_faults_arm == nullptr) {
    std::fputs("usage: LD_PRELOAD=libleapp_faults.so load_faults BUNDLE native|onnxruntime first|again STEP [KEY]\n",
               stderr);
    return 2;
  }
  LoadOptions options;
  const bool native = std::string_view(arguments[2]) == "native";
  options.engine.prefer = native ? leapp::engine::Prefer::kNative : leapp::engine::Prefer::kOnnxRuntime;
  const bool first = std::string_view(arguments[3]) == "first";
  const long step = std::atol(arguments[4]);
  if (count == 6) options.trusted_keys = {arguments[5]};
  const std::filesystem::path bundle = arguments[1];
  if (!first) (void)requests_of_one_load(bundle, options);  // what is made once in a process
  const auto count_requests = [&](long& number) {
    number = requests_of_one_load(bundle, options);
    return 0;
  };
  long requests = 0;
  if (first) {
    requests =
        leapp::faults::in_child(count_requests).number;  // so that this process stays one that has loaded nothing
  } else {
    count_requests(requests);
  }
  std::vector<int> outcomes(kOutcomes, 0);
  int tried = 0;
  for (long at = 1; at <= requests; at += step, ++tried) {
    ++outcomes[static_cast<std::size_t>(try_at(bundle, options, at))];
  }
  std::printf(
      "requests %ld tried %d out_of_memory %d loaded %d other %d step_needed_memory %d died_in_onnxruntime %d died "
      "%d\n",
      requests, tried, outcomes[kOutOfMemory], outcomes[kLoaded], outcomes[kOtherError], outcomes[kStepNeededMemory],
      outcomes[kDiedInOnnxRuntime], outcomes[kDied]);
  return requests > 0 ? 0 : 1;
}
