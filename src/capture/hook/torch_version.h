// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Every difference between versions of torch that sources of ours see, in one place. What can be asked of the compiler
// (is there such a function?) is asked, so that a version nobody tried needs no line here.
#pragma once

#include <ATen/record_function.h>

#include <string>
#include <string_view>

namespace leapp::capture {

/// What LEAPP was tried with (docs/reference/versions.md). cmake/LeappTorch.cmake reads these lines;
/// python/leapp/torch_modules.py has them too, for where nothing is built.
inline constexpr std::string_view kLowestTorch = "2.6";
inline constexpr std::string_view kHighestTorch = "2.15";

/// Whether the operator of a record is that overload of its name. torch 2.6 has no cheaper way than to copy both.
template <typename Record>
bool is_overload(const Record& record, const std::string& overload) {
  if constexpr (requires { record.overload_name(); }) {
    return record.overload_name() == overload;
  } else {
    const auto name = record.operator_name();
    return name && name->overload_name == overload;
  }
}

/// What to tell of a torch that is newer than what LEAPP was tried with; empty for one that is not.
std::string newer_than_tried(std::string_view torch_version);

}  // namespace leapp::capture
