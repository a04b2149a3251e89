// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "leapp/base/status.h"

namespace leapp {

/// What `call` returns, a Status or a Result; kOutOfMemory when memory ran out in it, and no exception in any case. The
/// text of that needs no memory itself.
template <typename Call>
auto without_exceptions(Call&& call) noexcept -> decltype(std::forward<Call>(call)()) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error& error) {
    // A thread that could not be made, or a stream that could not be opened for want of memory.
    if (error.code() != std::errc::not_enough_memory && error.code() != std::errc::resource_unavailable_try_again) {
      return Status(StatusCode::kInternal, "an exception");
    }
  } catch (...) {
    return Status(StatusCode::kInternal, "an exception");
  }
  return Status(StatusCode::kOutOfMemory, "out of memory");
}

}  // namespace leapp
