// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads a bundle again and again, each time with another call by which it reads files going wrong, each in a process of
// its own:
//
//   LD_PRELOAD=libleapp_faults.so read_faults BUNDLE native|onnxruntime once|gone|short|interrupted STEP [KEY]
//
// `once`: one call fails (EIO); `gone`: it and all after it, as of a disk that was taken away; `short`: one read gives
// half of what it was asked for; `interrupted`: a signal came in between (EINTR). Tries every STEP-th call, and prints
// one line: calls of one load, how many were tried, how many of them ended in kIo with a message that names the file,
// in a pipeline that gives what it gives undisturbed, in one that gives something else, in another error, and in the
// death of the process. With the public key KEY only what it has signed is loaded; a bundle that does not load is tried
// all the same, and then must never load.
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "child.h"
#include "deaths.h"
#include "faults.h"
#include "leapp/base/dtype.h"
#include "leapp/runtime/pipeline.h"

namespace {

namespace fs = std::filesystem;
using leapp::StatusCode;
using leapp::runtime::LoadOptions;
using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

enum Outcome : int { kIo, kSaidByEngine, kLoaded, kWrong, kOtherError, kDied, kOutcomes };
constexpr unsigned kMostSeconds = 60;

struct Way {
  const char* calls;
  int error;
  bool stays;
  bool is_short;
};

const std::map<std::string_view, Way> kWays = {
    {"once", {"read,bytes,map,stat,list", EIO, false, false}},
    {"gone", {"read,bytes,map,stat,list", EIO, true, false}},
    {"short", {"bytes", 0, false, true}},
    {"interrupted", {"bytes", EINTR, false, false}},
};

struct Case {
  fs::path bundle;
  std::string folder;
  LoadOptions options;
  Way way{};
};

using Values = std::map<std::string, std::vector<std::byte>>;

/// What two steps leave at the outputs. Empty: a step failed.
Values values_of(Pipeline& pipeline) {
  Values values;
  for (int step = 0; step < 2; ++step) {
    if (pipeline.step() != StepResult::kOk) return {};
  }
  for (const std::string& name : pipeline.outputs()) {
    const leapp::TensorView view = pipeline.output(name).value();
    const auto* bytes = static_cast<const std::byte*>(view.data);
    values[name].assign(bytes, bytes + view.size() * leapp::dtype_size(view.dtype));
  }
  return values;
}

leapp::Result<Pipeline> load(const Case& what, long at, long& calls) {
  leapp_faults_plan plan{};
  plan.calls = what.way.calls;
  plan.under = what.folder.c_str();
  plan.at = at;
  plan.error = what.way.error;
  plan.stays = what.way.stays ? 1 : 0;
  plan.tear = what.way.is_short ? 1 : 0;
  leapp_faults_arm(&plan);
  auto pipeline = Pipeline::load(what.bundle, what.options);
  calls = leapp_faults_disarm();
  return pipeline;
}

Outcome outcome_of(const Case& what, const Values& expected, long at) {
  leapp::faults::explain_deaths(at, {.ours = kDied, .elsewhere = kDied}, kMostSeconds);
  long calls = 0;
  auto pipeline = load(what, at, calls);
  const std::string hit = leapp_faults_hit();
  if (pipeline.ok()) {
    if (values_of(pipeline.value()) == expected && !expected.empty()) return kLoaded;
    std::fprintf(stderr, "%ld (%s): loaded, and gives something else\n", at, hit.c_str());
    return kWrong;
  }
  const std::string& message = pipeline.status().message();
  // Of a disk that is gone the last thing that was looked for is as good as the first.
  const std::string file = what.way.stays ? what.folder : fs::path(hit).filename().string();
  const bool named = message.find(file) != std::string::npos;
  if (pipeline.status().code() == StatusCode::kIo && named) return kIo;
  // Weights beside a model are read by ONNX Runtime, which has its own words.
  if (message.find("[ONNX Runtime ") != std::string::npos) return kSaidByEngine;
  std::fprintf(stderr, "%ld (%s): %s\n", at, hit.c_str(), message.c_str());
  return kOtherError;
}

/// In a child: whatever it does, we go on.
int try_at(const Case& what, const Values& expected, long at) {
  const int code = leapp::faults::in_child([&](long&) { return outcome_of(what, expected, at); }).code;
  if (code >= 0 && code < kOutcomes) return code;
  std::fprintf(stderr, "%ld: ended by a signal\n", at);
  return kDied;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5 || count > 6 || leapp_faults_arm == nullptr || !kWays.contains(arguments[3])) {
    std::fputs(
        "usage: LD_PRELOAD=libleapp_faults.so read_faults BUNDLE native|onnxruntime once|gone|short|interrupted STEP "
        "[KEY]\n",
        stderr);
    return 2;
  }
  Case what;
  what.bundle = arguments[1];
  what.folder = fs::canonical(what.bundle).parent_path().string();
  const bool native = std::string_view(arguments[2]) == "native";
  what.options.engine.prefer = native ? leapp::engine::Prefer::kNative : leapp::engine::Prefer::kOnnxRuntime;
  what.way = kWays.at(arguments[3]);
  if (count == 6) what.options.trusted_keys = {arguments[5]};
  long calls = 0;
  auto undisturbed = load(what, 0, calls);
  const Values expected = undisturbed.ok() ? values_of(undisturbed.value()) : Values{};
  std::vector<int> outcomes(kOutcomes, 0);
  int tried = 0;
  for (long at = 1; at <= calls; at += std::atol(arguments[4]), ++tried) {
    ++outcomes[static_cast<std::size_t>(try_at(what, expected, at))];
  }
  std::printf("loads %d calls %ld tried %d io %d said_by_engine %d loaded %d wrong %d other %d died %d\n",
              undisturbed.ok() ? 1 : 0, calls, tried, outcomes[kIo], outcomes[kSaidByEngine], outcomes[kLoaded],
              outcomes[kWrong], outcomes[kOtherError], outcomes[kDied]);
  return 0;
}
