// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/op_recorder.h"

#include <fmt/format.h>

#include <string>

#include "capture/hook/op_info.h"
#include "capture/hook/result_types.h"
#include "capture/trace/row_counts.h"

namespace leapp::capture {

OpRecorder::OpRecorder(std::shared_ptr<FrontEnd> front_end, CaptureState::Warn warn)
    : front_end_(std::move(front_end)), state_(std::move(warn)), reader_(state_), results_(state_) {}

ActivationId OpRecorder::open(const std::string& node) {
  if (!state_.calls.any()) {
    state_.table.memories().begin();
    state_.numbers_of_constants.clear();
    forget_rows();
  }
  return state_.calls.open(node);
}

Survivors OpRecorder::close(ActivationId activation, std::uint64_t pass) {
  const std::string node = state_.calls.name_of(activation);
  state_.calls.close(activation);
  state_.escapes.close(activation);
  state_.guards.close(activation);
  return state_.table.close(activation, node, pass, !state_.calls.any());
}

bool OpRecorder::begin(PendingOp& op, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs) {
  if (!records()) return false;
  try {
    return begin_unguarded(op, info, inputs);
  } catch (...) {
    lose_to_exception([&] { return "recording " + info.qualified_name() + at_line(op.location); });
    return false;
  }
}

Status OpRecorder::take_error() {
  Status error = state_.errors.take();
  return error.ok() ? incomplete(lost()) : error;
}

void OpRecorder::end() {
  const auto guard = lock();
  ended_ = true;
}

bool OpRecorder::begin_unguarded(PendingOp& op, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs) {
  if (info.op_class() == OpClass::kMetadata) return false;
  const bool in_node = state_.calls.any_unlocked();
  if (!in_node) {
    // New memory and zeros_like have nothing of the tensor they are like.
    if (info.op_class() == OpClass::kUninitialised || info.op_class() == OpClass::kFull) return false;
    const auto guard = lock();
    if (!reader_.touches_known(info, inputs)) return false;
  }
  op.info = &info;
  op.location = line_of_scripted_code();
  if (op.location == 0) op.location = front_end_->location();  // may wait for Python's lock: ours must not be held
  op.only_checked =
      in_node && !info.facts().returns_tensor && !info.schema().returns().empty() && front_end_->is_only_checked();
  const bool writes =
      in_node && !info.writes().empty() && !info.facts().inplace_view && info.op_class() != OpClass::kControl;
  if (writes && info.twin().op) op.twin_dtypes = result_dtypes(info.twin(), inputs);
  std::vector<TensorNames::Unnamed> unnamed;
  {
    const auto guard = lock();
    if (!records()) return false;
    state_.builder.set_current(&info, op.location);
    reader_.read(op, inputs);
    unnamed = state_.table.names().take_unnamed();
  }
  if (!unnamed.empty()) name_parameters(unnamed);
  return true;
}

void OpRecorder::name_parameters(const std::vector<TensorNames::Unnamed>& unnamed) {
  // Asked without the lock, too. What it learns comes back through set_name.
  if (!front_end_->name_parameters()) return;
  const auto guard = lock();
  for (const TensorNames::Unnamed& constant : unnamed) state_.table.names().name_again(constant);
}

void OpRecorder::finish(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  if (!records()) return;
  try {
    const auto guard = lock();
    if (!records()) return;
    state_.builder.set_current(op.info, op.location);
    op.in_node ? results_.in_node(op, outputs) : results_.idle(op, outputs);
  } catch (...) {
    lose_to_exception([&] { return "recording " + op.info->qualified_name() + at_line(op.location); });
  }
}

bool OpRecorder::fully_decomposed(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  if (!records()) return true;
  const auto guard = lock();
  if (results_.fully_decomposed(op, outputs)) return true;
  state_.warn(fmt::format("{}the model of node '{}' needs the library that provides {} to run",
                          line_prefix(op.location), state_.calls.name_of(op.owner), op.info->qualified_name()));
  return false;
}

void OpRecorder::abandon(PendingOp& op) {
  if (!records()) return;
  const auto guard = lock();
  for (const PendingOp::Written& written : op.written) {
    // torch checks shapes and types before it writes, and counts the write after it.
    if (version_of(written.tensor) != written.version) state_.table.overwrite_unknown(written.tensor);
  }
}

void OpRecorder::note_written_out(bool loop, const std::string& why) {
  const LocationId where = line_of_scripted_code();
  const auto guard = lock();
  if (!written_out_.insert(where).second) return;
  state_.warn(fmt::format("{}this {} of scripted code is recorded the way it went in each call, not as {}: {}",
                          line_prefix(where), loop ? "loop" : "branch", loop ? "a loop" : "a branch", why));
}

void OpRecorder::note_escape(const at::Tensor& tensor, const std::string& how) {
  const bool only_checked = front_end_->is_only_checked();
  const LocationId where = only_checked ? 0 : front_end_->location();
  if (!records()) return;
  const auto guard = lock();
  state_.table.memories().note_filled(tensor);
  if (only_checked) return;
  const ValuePtr value = state_.table.find(tensor);
  if (value && state_.calls.contains(value->owner)) state_.escapes.left(state_.calls.name_of(value->owner), how, where);
}

}  // namespace leapp::capture
