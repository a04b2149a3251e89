// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leapp::exporter {

/// Says whether the user wants to stop (Ctrl-C). Registered by the Python module; called between samples and between
/// nodes, without any lock of ours. Once it said yes it must go on saying so until the call that asked has returned.
using InterruptCheck = bool (*)();
void set_interrupt_check(InterruptCheck check);

/// False when nobody registered a check.
[[nodiscard]] bool interrupted();

}  // namespace leapp::exporter
