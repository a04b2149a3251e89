// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/hook/unrecorded.h"

namespace leapp::capture {

class OpInfo;
class OpRecorder;

/// The next call of `op` on this thread is not recorded, but what it calls is.
class LookInside {
 public:
  explicit LookInside(const OpInfo* op);
  ~LookInside();
  LookInside(const LookInside&) = delete;
  LookInside& operator=(const LookInside&) = delete;
};

/// Operators of this thread go to another recorder while one exists.
class RecordInto {
 public:
  explicit RecordInto(std::shared_ptr<OpRecorder> recorder);
  ~RecordInto();
  RecordInto(const RecordInto&) = delete;
  RecordInto& operator=(const RecordInto&) = delete;

 private:
  std::shared_ptr<OpRecorder> recorder_;
  const std::shared_ptr<OpRecorder>* before_;
};

/// The one that operators of this thread go to; null: they are not recorded, or not as the program calls them.
[[nodiscard]] std::shared_ptr<OpRecorder> recorder_of_thread();

/// Every operator of every thread goes to `recorder` until remove_hook(). REQUIRES: no hook is installed.
void install_hook(std::shared_ptr<OpRecorder> recorder);
void remove_hook() noexcept;
[[nodiscard]] bool hook_installed();
/// In the child, after a fork: operators are not recorded any more. The threads that do so stayed with the parent.
void leave_recorder_to_parent() noexcept;

}  // namespace leapp::capture
