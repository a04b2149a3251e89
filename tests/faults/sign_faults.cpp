// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Signs a bundle again and again, each time with another request for memory refused, each in a process of its own:
//
//   LD_PRELOAD=libleapp_faults.so sign_faults BUNDLE PRIVATE_KEY STEP
//
// Tries every STEP-th request, and prints one line: requests of one signing, how many were tried, how many of them
// ended in kOutOfMemory, in a signature all the same, in another error, in the death of the process, and how many left
// a manifest that is neither the old one nor the new one.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "child.h"
#include "faults.h"
#include "leapp/bundle/signing.h"

namespace {

namespace fs = std::filesystem;
enum Outcome : int { kOutOfMemory, kSigned, kOtherError, kDied, kOutcomes };

struct Case {
  fs::path bundle;
  std::string key;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int sign(const Case& what, long at, long& requests) {
  leapp_faults_plan plan{};
  plan.calls = "alloc";
  plan.at = at;
  leapp_faults_arm(&plan);
  const auto made = leapp::bundle::sign_bundle(what.bundle, what.key, {.serial = 2});
  requests = leapp_faults_disarm();
  if (made.ok()) return kSigned;
  if (made.status().code() == leapp::StatusCode::kOutOfMemory) return kOutOfMemory;
  std::fprintf(stderr, "request %ld: %s\n", at, made.status().message().c_str());
  return kOtherError;
}

/// In a child, so that every one is the first of its process. `requests`: how many it made.
int try_at(const Case& what, long at, long& requests) {
  const auto ended = leapp::faults::in_child([&](long& number) { return sign(what, at, number); });
  requests = ended.number;
  if (ended.code >= 0 && ended.code < kOutcomes && requests > 0) return ended.code;
  std::fprintf(stderr, "request %ld: ended by a signal\n", at);
  return kDied;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4 || leapp_faults_arm == nullptr) {
    std::fputs("usage: LD_PRELOAD=libleapp_faults.so sign_faults BUNDLE PRIVATE_KEY STEP\n", stderr);
    return 2;
  }
  const Case what{arguments[1], arguments[2]};
  const fs::path manifest = what.bundle / (what.bundle.filename().string() + ".manifest");
  const std::string old = text_of(manifest);
  long requests = 0;
  if (try_at(what, 0, requests) != kSigned) return 1;
  const std::string wanted = text_of(manifest);
  std::vector<int> outcomes(kOutcomes, 0);
  int tried = 0;
  int damaged = 0;
  long ignored = 0;
  for (long at = 1; at <= requests; at += std::atol(arguments[3]), ++tried) {
    std::ofstream(manifest, std::ios::binary) << old;
    const int outcome = try_at(what, at, ignored);
    ++outcomes[static_cast<std::size_t>(outcome)];
    const std::string found = text_of(manifest);
    damaged += found != wanted && (outcome == kSigned || found != old) ? 1 : 0;
  }
  std::printf("requests %ld tried %d out_of_memory %d signed %d other %d died %d damaged %d\n", requests, tried,
              outcomes[kOutOfMemory], outcomes[kSigned], outcomes[kOtherError], outcomes[kDied], damaged);
  return 0;
}
