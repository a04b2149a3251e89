// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures a program again and again, each time with another request for memory between start() and stop() refused,
// each in a process of its own:
//
//   LD_PRELOAD=libleapp_faults.so capture_faults FOLDER careful|stubborn first|later STEP
//
// `careful`: the program ends with the first error; `stubborn`: it takes no notice of any, and compiles at the end.
// `first`: the first session of a process, with what is made once in it; `later`: the second. Tries every STEP-th
// request, and prints one line: requests of one session, how many were tried, how many ended in kOutOfMemory, in
// another error, in an operator that threw, in the right bundle all the same; and what must not be: in a model that is
// not the program (silent), in other results of the program itself (changed), in an exception of a function that throws
// none, in another bundle of the next session (next_wrong), in the death of the process, in a library of others or not.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "captured_program.h"
#include "child.h"
#include "deaths.h"
#include "exported.h"
#include "faults.h"

namespace {

namespace fs = std::filesystem;
using leapp::faults::CapturedProgram;
using leapp::faults::Files;

enum Outcome : int {
  kOutOfMemory,
  kOtherError,
  kOperatorThrew,
  kExported,
  kSilent,
  kChanged,
  kException,
  kNextWrong,
  kDiedElsewhere,
  kDied,
  kOutcomes
};
constexpr const char* kNames[] = {"out_of_memory", "other",     "operator",   "exported",       "silent",
                                  "changed",       "exception", "next_wrong", "died_elsewhere", "died"};
constexpr unsigned kMostSeconds = 60;

struct Case {
  fs::path folder;
  bool stubborn = false;
  bool later = false;
};

int report(long at, int outcome, const std::string& text) {
  std::fprintf(stderr, "request %ld: %s: %s\n", at, kNames[outcome], text.c_str());
  return outcome;
}

/// What became of the session itself. The bundle is looked at by whoever asks.
int outcome_of(const Case& what, long at, long& requests) {
  CapturedProgram program(what.folder, what.stubborn);
  leapp_faults_plan plan{};
  plan.calls = "alloc";
  plan.at = at;
  leapp_faults_arm(&plan);
  program.run();
  requests = leapp_faults_disarm();
  if (!program.exception().empty()) return report(at, kException, program.exception());
  if (!program.as_eager()) return report(at, kChanged, "the program gives other numbers");
  if (program.operator_threw()) return kOperatorThrew;
  if (program.error().ok() || (what.stubborn && program.started())) {
    const leapp::Status compiled = program.compile();
    if (!program.error().ok() && compiled.ok()) return report(at, kExported, program.error().message());
    if (compiled.ok()) return kExported;
    if (compiled.code() == leapp::StatusCode::kOutOfMemory) return kOutOfMemory;
    return report(at, kOtherError, compiled.message());
  }
  if (program.error().code() == leapp::StatusCode::kOutOfMemory) return kOutOfMemory;
  return report(at, kOtherError, program.error().message());
}

/// A session without faults, as the first one should have been.
bool works(const fs::path& folder, const Files& wanted, long at) {
  CapturedProgram program(folder, false);
  program.run();
  const bool right = program.exception().empty() && program.error().ok() && program.as_eager() &&
                     !program.operator_threw() && program.compile().ok();
  const std::string wrong = leapp::faults::differing(leapp::faults::files_of(folder), wanted, true);
  if (!wrong.empty()) std::fprintf(stderr, "request %ld: the next session:%s\n", at, wrong.c_str());
  return right && (wanted.empty() || wrong.empty());
}

int tried(const Case& what, const Files& wanted, long at, long& requests) {
  at::set_num_threads(1);
  if (what.later && !works(what.folder / "before", wanted, at)) return kNextWrong;
  leapp::faults::explain_deaths(at, {.ours = kDied, .elsewhere = kDiedElsewhere}, kMostSeconds);
  const int outcome = outcome_of({what.folder / "under", what.stubborn}, at, requests);
  if (outcome == kExported) {
    const fs::path bundle = what.folder / "under";
    if (leapp::faults::files_of(bundle) != wanted && !CapturedProgram::runs_as_eager(bundle))
      return report(at, kSilent, leapp::faults::differing(leapp::faults::files_of(bundle), wanted, true));
  }
  if (outcome > kExported) return outcome;
  return works(what.folder / "next", wanted, at) ? outcome : report(at, kNextWrong, kNames[outcome]);
}

/// In a child: whatever it does, we go on.
leapp::faults::Ended try_at(const Case& what, const Files& wanted, long at) {
  fs::remove_all(what.folder);
  auto ended = leapp::faults::in_child([&](long& number) { return tried(what, wanted, at, number); });
  if (ended.code < 0 || ended.code >= kOutcomes) ended.code = report(at, kDied, "ended by a signal");
  return ended;
}

/// The bundle that should be, and whether it is the program.
bool make_reference(const fs::path& folder) {
  const auto ended = leapp::faults::in_child([&](long&) {
    at::set_num_threads(1);
    return works(folder, {}, 0) && CapturedProgram::runs_as_eager(folder) ? 0 : 1;
  });
  return ended.code == 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5 || leapp_faults_arm == nullptr) {
    std::fputs("usage: LD_PRELOAD=libleapp_faults.so capture_faults FOLDER careful|stubborn first|later STEP\n",
               stderr);
    return 2;
  }
  const fs::path folder = arguments[1];
  const Case what{folder / "tried", std::string_view(arguments[2]) == "stubborn",
                  std::string_view(arguments[3]) == "later"};
  if (!make_reference(folder / "wanted")) return 1;
  const Files wanted = leapp::faults::files_of(folder / "wanted");
  const auto first = try_at(what, wanted, 0);
  if (first.code != kExported) return 1;
  int outcomes[kOutcomes] = {};
  int tried = 0;
  for (long at = 1; at <= first.number; at += std::atol(arguments[4]), ++tried) {
    ++outcomes[try_at(what, wanted, at).code];
  }
  std::printf("requests %ld tried %d", first.number, tried);
  for (int i = 0; i < kOutcomes; ++i) std::printf(" %s %d", kNames[i], outcomes[i]);
  std::printf("\n");
  return 0;
}
