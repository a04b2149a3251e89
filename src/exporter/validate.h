// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "exporter/prepare.h"
#include "leapp/capture.h"

namespace leapp::exporter {

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
};

/// Loads the TorchScript file as written and feeds it every sample of the node. Never throws.
NodeResult validate_torchscript(const PreparedNode& node, const std::filesystem::path& file,
                                const Tolerance& tolerance);

}  // namespace leapp::exporter
