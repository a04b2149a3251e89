// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <unwind.h>

#include <cstdint>

#include "faults.h"
#include "plan.h"

namespace {

struct Walk {
  void** frames;
  int most;
  int count;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  if (walk.count == walk.most) return _URC_END_OF_STACK;
  walk.frames[walk.count++] = reinterpret_cast<void*>(_Unwind_GetIP(context));  // NOLINT: an address is what it is
  return _URC_NO_REASON;
}

}  // namespace

int leapp::faults::walk_stack(void** frames, int most) {
  Walk walk{frames, most, 0};
  _Unwind_Backtrace(visit, &walk);
  return walk.count;
}

LEAPP_FAULTS_EXPORT int leapp_faults_stack(void** frames, int most) { return leapp::faults::walk_stack(frames, most); }
