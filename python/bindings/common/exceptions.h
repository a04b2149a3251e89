// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A Status as the Python exception it stands for.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/console.h"
#include "common/released.h"
#include "leapp/base/status.h"

namespace leapp::python {

/// Raises the exception of the status' code, or the one named `type` in leapp.errors.
[[noreturn]] void raise(const Status& status, const char* type = nullptr);

/// A str, whatever the bytes are: those that are not UTF-8 become \xff.
nanobind::object safe_text(std::string_view bytes);

/// str() of a value, for messages; surrogates in it are escaped. Its type when str() raises.
std::string text_of(nanobind::handle value);

/// The name of a value's type, for messages.
std::string type_text(nanobind::handle value);

/// The Python exception that is being raised, as "Type: first line", and no longer raised.
std::string take_exception();

inline void check(const Status& status) {
  if (!status.ok()) raise(status);
}

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) raise(result.status());
  return std::move(result).value();
}

/// Runs without Python's lock: whoever holds ours may be waiting for it.
template <typename Call>
auto unlocked(Call call) {
  struct Flush {  // what was logged is seen before the program goes on, or gets an exception
    Flush() = default;
    ~Flush() { flush_console(); }
    Flush(const Flush&) = delete;
    Flush& operator=(const Flush&) = delete;
  };
  const Released others_may_run;
  const Flush flush;
  return call();
}

}  // namespace leapp::python
