// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "capture/escapes.h"
#include "capture/guards.h"
#include "capture/open_calls.h"
#include "capture/tensor_table.h"
#include "capture/trace.h"
#include "capture/trace_builder.h"
#include "leapp/base/status.h"

namespace leapp::capture {

/// The first thing that went wrong. Any thread may call it.
class FirstError {
 public:
  void note(Status status);
  /// Since the last call of this.
  Status take();

 private:
  std::mutex mutex_;
  Status status_;
};

/// What is known of the program that runs. Guarded by the recorder's lock, but for `errors`.
struct CaptureState {
  using Warn = std::function<void(const std::string&)>;
  explicit CaptureState(Warn to_warn);
  CaptureState(const CaptureState&) = delete;
  CaptureState& operator=(const CaptureState&) = delete;

  Warn warn;
  FirstError errors;
  OpenCalls calls;
  TraceBuilder builder;
  TensorTable table;
  Escapes escapes;
  GuardLog guards;
  /// Results of operators that read a number out of constants while nodes were open, and where.
  std::vector<std::pair<ValuePtr, LocationId>> numbers_of_constants;
};

}  // namespace leapp::capture
