// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/capture_state.h"

#include <fmt/format.h>

#include "capture/hook/op_info.h"

namespace leapp::capture {

void FirstError::note(Status status) {
  const std::lock_guard guard(mutex_);
  if (status_.ok()) status_ = std::move(status);
}

Status FirstError::take() {
  const std::lock_guard guard(mutex_);
  return std::exchange(status_, Status());
}

void Completeness::mark_incomplete(StatusCode code) noexcept {
  StatusCode before = StatusCode::kOk;
  if (!lost_.compare_exchange_strong(before, code) && before == StatusCode::kInternal) lost_.store(code);
}

Status incomplete(StatusCode code) {
  if (code == StatusCode::kOk) return {};
  return {code, fmt::format("what was recorded is not complete, because {} while an operator or a call of a node was "
                            "written down; call start again",
                            code == StatusCode::kOutOfMemory ? "memory ran out" : "something went wrong")};
}

CaptureState::CaptureState(Warn to_warn)
    : warn(std::move(to_warn)),
      builder([this](const OpInfo& op, LocationId where, ActivationId first, ActivationId second) {
        errors.note(failed_precondition(fmt::format(
            "{}{} mixes values of two open nodes, '{}' and '{}': close one with output_tensors first and announce "
            "its output to the other with input_tensors",
            op.qualified_name(), at_line(where), calls.name_of(first), calls.name_of(second))));
      }),
      table(builder),
      escapes(warn) {}

}  // namespace leapp::capture
