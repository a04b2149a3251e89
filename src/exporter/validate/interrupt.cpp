// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/interrupt.h"

#include <atomic>

namespace leapp::exporter {
namespace {

std::atomic<InterruptCheck> g_check{nullptr};

}  // namespace

void set_interrupt_check(InterruptCheck check) { g_check.store(check); }

bool interrupted() {
  const InterruptCheck check = g_check.load();
  return check != nullptr && check();
}

}  // namespace leapp::exporter
