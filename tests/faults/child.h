// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace leapp::faults {

/// What came of a piece of work in a process of its own.
struct Ended {
  int code = -1;    ///< what the work returned; -1: a signal ended the process, or there was none
  long number = 0;  ///< what the work set
};

/// Does it in a copy of this process and waits for it, so that whatever it does, this one goes on. `work` sets the
/// number it is given and returns a code from 0 to 255.
Ended in_child(const std::function<int(long& number)>& work);

}  // namespace leapp::faults
