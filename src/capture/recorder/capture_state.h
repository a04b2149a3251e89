// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "capture/branches/branch_conditions.h"
#include "capture/recorder/escapes.h"
#include "capture/recorder/open_calls.h"
#include "capture/recorder/tensor_table.h"
#include "capture/trace/trace.h"
#include "capture/trace/trace_builder.h"
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

/// Whether everything was written down that there was to write. Any thread may call it; needs no memory.
class Completeness {
 public:
  /// Something was written down by halves, or not at all: from here on nobody may look at any of it. The first code
  /// that is not kInternal stays.
  void mark_incomplete(StatusCode code) noexcept;
  [[nodiscard]] StatusCode lost() const noexcept { return lost_.load(); }

 private:
  std::atomic<StatusCode> lost_{StatusCode::kOk};
};

/// What to tell of a recording that lost something, for `code`; ok for kOk.
[[nodiscard]] Status incomplete(StatusCode code);

/// What is known of the program that runs. Guarded by the recorder's lock, but for `errors` and `completeness`.
struct CaptureState {
  using Warn = std::function<void(const std::string&)>;
  explicit CaptureState(Warn to_warn);
  CaptureState(const CaptureState&) = delete;
  CaptureState& operator=(const CaptureState&) = delete;

  Warn warn;
  FirstError errors;
  Completeness completeness;
  OpenCalls calls;
  TraceBuilder builder;
  TensorTable table;
  Escapes escapes;
  ConditionLog guards;
  /// Results of operators that read a number out of constants while nodes were open, and where.
  std::vector<std::pair<ValuePtr, LocationId>> numbers_of_constants;
};

}  // namespace leapp::capture
