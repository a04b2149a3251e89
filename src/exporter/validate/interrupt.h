// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leapp::exporter {

/// Whether the user wants to stop: asked between samples and between nodes, without any lock of ours.
[[nodiscard]] bool interrupted();

}  // namespace leapp::exporter
