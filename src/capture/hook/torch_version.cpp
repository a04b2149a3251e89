// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/torch_version.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace leapp::capture {
namespace {

std::pair<int, int> minor_of(std::string_view version) {
  std::pair<int, int> found{0, 0};
  const char* const end = version.data() + version.size();
  const auto major = std::from_chars(version.data(), end, found.first);
  if (major.ptr != end && *major.ptr == '.') std::from_chars(major.ptr + 1, end, found.second);
  return found;
}

}  // namespace

std::string newer_than_tried(std::string_view torch_version) {
  if (minor_of(torch_version) <= minor_of(kHighestTorch)) return "";
  return fmt::format("torch {} is newer than {}, the newest that LEAPP was tried with", torch_version, kHighestTorch);
}

}  // namespace leapp::capture
