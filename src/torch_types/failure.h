// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What an exception out of torch's functions says.
#pragma once

#include <exception>
#include <new>

#include "leapp/base/status.h"

namespace leapp {

/// Whether memory ran out: std::bad_alloc, what torch's allocators say, and either of them in the words of
/// TorchScript's interpreter, which throws exceptions of its own.
[[nodiscard]] bool is_out_of_memory(const std::exception& failure) noexcept;

/// kOutOfMemory when memory ran out, else `otherwise`, with the message that `text` makes. For std::bad_alloc nothing
/// is made: its text needs no memory.
template <typename Text>
[[nodiscard]] Status failure_status(const std::exception& failure, const Text& text,
                                    StatusCode otherwise = StatusCode::kInternal) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return {StatusCode::kOutOfMemory, "out of memory"};
  return {is_out_of_memory(failure) ? StatusCode::kOutOfMemory : otherwise, text()};
}

}  // namespace leapp
