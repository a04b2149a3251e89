// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports over an old bundle again and again, each time with another request for memory of compile_graph refused, each
// in a process of its own:
//
//   LD_PRELOAD=libleapp_faults.so export_faults FOLDER checked|unchecked|torchscript STEP
//
// `checked`: as ONNX, and what was written is validated too. `torchscript`: as TorchScript, not validated; torch's
// functions write a model in other words where a request of theirs fails, so that of an export that says it went well
// only the names of the files are looked at. Tries every
// STEP-th request, and prints one line: requests of one export, how many were tried, how many of them ended in
// kOutOfMemory, in a bundle all the same, in another error, in an exception, in the death of the process, in a library
// of others or not (deaths.h), and how many left a folder that is neither the old bundle nor the new one, or that the
// next export did not clear up.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "child.h"
#include "deaths.h"
#include "exported.h"
#include "faults.h"
#include "leapp/capture.h"

namespace {

namespace fs = std::filesystem;
using leapp::annotate::input_tensors;
using leapp::annotate::output_tensors;
using leapp::annotate::state_tensors;
using leapp::annotate::update_state;
using leapp::faults::differing;
using leapp::faults::Files;
using leapp::faults::files_of;

enum Outcome : int { kOutOfMemory, kExported, kOtherError, kException, kDiedElsewhere, kDied, kOutcomes };
constexpr unsigned kMostSeconds = 60;
constexpr double kOld = 1;
constexpr double kNew = 2;

struct Case {
  fs::path folder;
  bool validate = false;
  const char* export_with = "onnx";
  bool bytes_vary = false;
};

/// Two passes of a policy with state, whose weights are all `value`.
void capture(const Case& what, double value) {
  (void)leapp::start("g", {.save_path = what.folder.string()});
  const at::Tensor weight = at::full({4, 3}, value);
  for (int pass = 0; pass < 2; ++pass) {
    const at::Tensor x = input_tensors("m", {{"x", at::ones({1, 3}).mul(pass)}}).value()[0];
    const at::Tensor s = state_tensors("m", {{"s", at::zeros({1, 4}).add(pass)}}).value()[0];
    const at::Tensor t = at::tanh(at::linear(x, weight).add(s));
    (void)update_state("m", {{"s", t}}).value();
    (void)output_tensors("m", {{"y", t.mul(2)}}, {.export_with = what.export_with}).value();
  }
  (void)leapp::stop();
}

int compile(const Case& what, long at, long& requests) {
  leapp_faults_plan plan{};
  plan.calls = "alloc";
  plan.at = at;
  leapp_faults_arm(&plan);
  try {
    const auto report = leapp::compile_graph({.visualize = false, .validate = what.validate});
    requests = leapp_faults_disarm();
    if (report.ok() && report.value().validation.ok()) return kExported;
    const leapp::Status& status = report.ok() ? report.value().validation : report.status();
    if (status.code() == leapp::StatusCode::kOutOfMemory) return kOutOfMemory;
    std::fprintf(stderr, "request %ld: %s\n", at, status.message().c_str());
    return kOtherError;
  } catch (const std::exception& failure) {
    requests = leapp_faults_disarm();
    std::fprintf(stderr, "request %ld: exception %s\n", at, failure.what());
    return kException;
  }
}

leapp::faults::Ended try_at(const Case& what, double value, long at) {
  auto ended = leapp::faults::in_child([&](long& number) {
    at::set_num_threads(1);
    capture(what, value);
    leapp::faults::explain_deaths(at, {.ours = kDied, .elsewhere = kDiedElsewhere}, kMostSeconds);
    return compile(what, at, number);
  });
  if (ended.code < 0 || ended.code >= kOutcomes) {
    std::fprintf(stderr, "request %ld: ended by a signal\n", at);
    ended.code = kDied;
  }
  return ended;
}

std::set<std::string> names_of(const Files& files) {
  std::set<std::string> names;
  for (const auto& [name, bytes] : files) names.insert(name);
  return names;
}

struct Bundles {
  Files old_files;
  Files new_files;
};

/// Whether the folder has one of the bundles, the new one if the export said so, and the next export clears up.
bool is_whole(const Case& what, const Bundles& bundles, int outcome, long at) {
  const Files found = files_of(what.folder);
  std::string wrong = differing(found, bundles.new_files);
  if (!wrong.empty() && outcome != kExported) wrong = differing(found, bundles.old_files);
  if (what.bytes_vary && outcome == kExported && names_of(found) == names_of(bundles.new_files)) wrong.clear();
  if (found != bundles.old_files) {
    const int again = try_at(what, kOld, 0).code;
    if (again != kExported || files_of(what.folder) != bundles.old_files) {
      wrong += " after the next export:" + differing(files_of(what.folder), bundles.old_files, true);
    }
  }
  if (!wrong.empty()) std::fprintf(stderr, "request %ld: outcome %d, wrong files:%s\n", at, outcome, wrong.c_str());
  return wrong.empty();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4 || leapp_faults_arm == nullptr) {
    std::fputs("usage: LD_PRELOAD=libleapp_faults.so export_faults FOLDER checked|unchecked|torchscript STEP\n",
               stderr);
    return 2;
  }
  const std::string_view how = arguments[2];
  const bool torchscript = how == "torchscript";
  const Case what{arguments[1], how == "checked", torchscript ? "jit" : "onnx", torchscript};
  Bundles bundles;
  if (try_at(what, kNew, 0).code != kExported) return 1;
  bundles.new_files = files_of(what.folder);
  const auto first = try_at(what, kOld, 0);
  if (first.code != kExported) return 1;
  bundles.old_files = files_of(what.folder);
  std::vector<int> outcomes(kOutcomes, 0);
  int tried = 0;
  int damaged = 0;
  for (long at = 1; at <= first.number; at += std::atol(arguments[3]), ++tried) {
    const int outcome = try_at(what, kNew, at).code;
    ++outcomes[static_cast<std::size_t>(outcome)];
    damaged += is_whole(what, bundles, outcome, at) ? 0 : 1;
  }
  std::printf(
      "requests %ld tried %d out_of_memory %d exported %d other %d exception %d died_elsewhere %d died %d damaged %d\n",
      first.number, tried, outcomes[kOutOfMemory], outcomes[kExported], outcomes[kOtherError], outcomes[kException],
      outcomes[kDiedElsewhere], outcomes[kDied], damaged);
  return 0;
}
