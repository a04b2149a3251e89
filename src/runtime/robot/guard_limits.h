// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "leapp/base/status.h"
#include "leapp/runtime/guards.h"
#include "leapp/runtime/port.h"
#include "runtime/robot/guard_set.h"

namespace leapp::runtime {

/// A rule with a number for each element of its port. kInvalidArgument for elements that the port does not have, bounds
/// that exclude everything, a rate that is not above zero, a rate by time where the bundle has no frequency, limits of
/// a bool.
Result<GuardedPort> guarded_port(const PortGuard& rule, Port port);

}  // namespace leapp::runtime
