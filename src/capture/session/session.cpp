// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/session.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <utility>

#include "capture/hook/hook.h"
#include "capture/session/session_end.h"
#include "capture/trace/lengths.h"

namespace leapp::capture {
namespace {

thread_local int t_uses = 0;
std::atomic<int> g_active{0};  // sessions that record: one, but for tests
std::atomic<std::uint64_t> g_begun{0};

}  // namespace

Session::Session(CaptureResult recording, std::shared_ptr<FrontEnd> front_end)
    : recording_(std::move(recording)), front_end_(std::move(front_end)), analysis_(evaluator_, *recording_.log) {
  recorder_ =
      std::make_shared<OpRecorder>(front_end_, [log = recording_.log](const std::string& text) { log->warning(text); });
  annotations_.emplace(recording_, *recorder_, *front_end_, analysis_);
  begin();
}

Session::~Session() { end(); }

Status Session::close() {
  if (t_uses > 0) return failed_precondition("stop: called from inside of a call that uses the session");
  if (closing_.exchange(true)) return failed_precondition("stop: another thread is ending the session");
  for (int users = users_.load(); users > 0; users = users_.load()) users_.wait(users);
  return {};
}

Status Session::drop() {
  LEAPP_RETURN_IF_ERROR(close());
  end();
  stopped_ = true;
  return {};
}

namespace {

// What the program does with it is not known, and may be what decides from call to call.
bool leaves_graph(const NodeRecord& node, const Escapes& escapes, const CaptureResult& recording) {
  const auto& lengths = escapes.lengths();
  return std::any_of(lengths.begin(), lengths.end(), [&](const auto& length) { return length.node == node.name; }) ||
         std::any_of(recording.notes.begin(), recording.notes.end(),
                     [&](const Note& note) { return note.node == node.name && note.kind != Note::Kind::kGlue; });
}

}  // namespace

Status Session::stop() {
  LEAPP_RETURN_IF_ERROR(close());
  const auto recorder = recorder_;
  LeftTensors left;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (...) {
      recorder->lose_to_exception("stop");
    }
  };
  if (recorder->is_complete()) {
    attempt([&] {
      annotations_->abandon_all();
      const auto guard = recorder->lock();
      if (recording_.options.leaks != Leaks::kConstant) left = recorder->table().tensors().kept();
    });
  }
  remove_hook();
  recorder->end();  // an operator of another thread may be under way
  if (recorder->is_complete()) {
    attempt([&] {
      const auto guard = recorder->lock();
      for (Note& note : recorder->escapes().take_notes()) recording_.notes.push_back(std::move(note));
      for (const auto& node : recording_.nodes) node->left_graph = leaves_graph(*node, recorder->escapes(), recording_);
    });
  }
  end();
  if (recorder->is_complete()) {
    attempt([&] { finish_recording(recording_, left, changed_values_, {analysis_, evaluator_, *front_end_}); });
    attempt([&] { report_lengths(recorder->escapes(), recording_); });
  }
  recording_.lost = recorder->lost();
  stopped_ = true;
  return recorder->take_error();
}

namespace {

using SessionSlot = std::atomic<std::shared_ptr<Session>>;

/// Never destroyed: a constant may need Python to let go of it, which is gone by then.
std::atomic<SessionSlot*>& session_slot() {
  static std::atomic<SessionSlot*> held{new SessionSlot()};
  return held;
}

/// A session that is active stays with the parent, where its threads are, and is not destroyed here: its locks are as
/// they had them. One that has ended can be compiled here too.
void after_fork() {
  if (g_active.exchange(0) == 0) return;
  if (auto* const ours = new (std::nothrow) SessionSlot()) session_slot().store(ours);
  leave_recorder_to_parent();
}

}  // namespace

void Session::begin() {
  static const int once = ::pthread_atfork(nullptr, nullptr, after_fork);
  (void)once;
  install_hook(recorder_);
  ++g_active;
  ++g_begun;
}

void Session::end() {
  if (!recorder_) return;
  remove_hook();
  annotations_.reset();
  recorder_.reset();
  heap_.reset();
  --g_active;
}

std::shared_ptr<Session> current_session() { return session_slot().load()->load(); }
void set_current_session(std::shared_ptr<Session> session) noexcept {
  session_slot().load()->store(std::move(session));
}

std::uint64_t sessions_begun() noexcept { return g_begun.load(); }

SessionUse::SessionUse() : session_(current_session()) {
  if (!session_) return;
  session_->users_.fetch_add(1);
  if (!session_->closing_.load()) {
    ++t_uses;
    return;
  }
  leave();
}

SessionUse::~SessionUse() {
  if (!session_) return;
  --t_uses;
  leave();
}

void SessionUse::leave() {
  if (session_->users_.fetch_sub(1) == 1) session_->users_.notify_all();
  session_.reset();
}

}  // namespace leapp::capture
