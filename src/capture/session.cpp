// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include "capture/hook.h"
#include "capture/lengths.h"
#include "capture/session_end.h"
#include "torch_types/failure.h"

namespace leapp::capture {

Session::Session(Recording recording, std::shared_ptr<FrontEnd> front_end)
    : recording_(std::move(recording)), front_end_(std::move(front_end)), analysis_(evaluator_, *recording_.log) {
  recorder_ =
      std::make_shared<Recorder>(front_end_, [log = recording_.log](const std::string& text) { log->warning(text); });
  annotations_.emplace(recording_, *recorder_, *front_end_, analysis_);
  install_hook(recorder_);
}

Session::~Session() {
  if (recorder_) remove_hook();
}

namespace {

// What the program does with it is not known, and may be what decides from call to call.
bool leaves_graph(const NodeRecord& node, const Escapes& escapes, const Recording& recording) {
  const auto& lengths = escapes.lengths();
  return std::any_of(lengths.begin(), lengths.end(), [&](const auto& length) { return length.node == node.name; }) ||
         std::any_of(recording.notes.begin(), recording.notes.end(),
                     [&](const Note& note) { return note.node == node.name && note.kind != Note::Kind::kGlue; });
}

}  // namespace

Status Session::stop() {
  const auto recorder = recorder_;
  LeftTensors left;
  Status failed;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const std::exception& failure) {
      if (failed.ok()) failed = failure_status(failure, [&] { return fmt::format("stop: {}", failure.what()); });
    }
  };
  attempt([&] {
    annotations_->abandon_all();
    const auto guard = recorder->lock();
    if (recording_.options.leaks != Leaks::kConstant) left = recorder->table().tensors().kept();
  });
  remove_hook();
  {
    const auto guard = recorder->lock();
    for (Note& note : recorder->escapes().take_notes()) recording_.notes.push_back(std::move(note));
    for (const auto& node : recording_.nodes) node->left_graph = leaves_graph(*node, recorder->escapes(), recording_);
  }
  annotations_.reset();
  recorder_.reset();
  heap_.reset();
  attempt([&] { finish_recording(recording_, left, changed_values_, {analysis_, evaluator_, *front_end_}); });
  attempt([&] { report_lengths(recorder->escapes(), recording_); });
  const Status pending = recorder->take_error();
  return pending.ok() ? failed : pending;
}

namespace {

std::atomic<std::shared_ptr<Session>>& session_slot() {
  // Never destroyed: a constant may need Python to let go of it, which is gone by then.
  static auto* slot = new std::atomic<std::shared_ptr<Session>>();
  return *slot;
}

}  // namespace

std::shared_ptr<Session> current_session() { return session_slot().load(); }
void set_current_session(std::shared_ptr<Session> session) { session_slot().store(std::move(session)); }

}  // namespace leapp::capture
