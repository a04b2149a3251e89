// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "leapp/engine/stop.h"

namespace leapp::python {

/// For as long as it lives, Ctrl-C (SIGINT) also asks `stop`; Python's own handler is called as ever. Does nothing on
/// other threads than the main one, where Python sees no signals, and where a program ignores SIGINT.
class Interruptible {
 public:
  /// REQUIRES: Python's lock. Raises what a handler raises for a signal that came before.
  explicit Interruptible(engine::Stop& stop);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// Whether that happened. Runs Python's handlers and raises what they raise; when none does, the request is
  /// withdrawn: what was ended may be tried again. REQUIRES: Python's lock.
  bool was_interrupted();

 private:
  engine::Stop& stop_;
  bool installed_ = false;
};

}  // namespace leapp::python
