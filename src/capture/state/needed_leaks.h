// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/trace/record.h"

namespace leapp::capture {

/// Takes away leaks that no output and no other leak needs: those that nothing but a guard depended on, which is none
/// any more. REQUIRES: `node` has one path.
void drop_unneeded_leaks(NodeRecord& node);

}  // namespace leapp::capture
