// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "capture/trace/record.h"
#include "exporter/backend.h"

namespace leapp::exporter {

/// One input that a model of the user's takes.
struct ModelInput {
  std::string name;
  bool optional = false;  ///< it has a default
};

/// The inputs as the file states them. Fails when it cannot be read, or only in Python, which is not there.
Result<std::vector<ModelInput>> inputs_of_model(const Backend& backend);

/// Which of the node's inputs go to the model, in the order in which it takes them: those it names; else as many as it
/// has, which may be all, or those that reach an output (`reaching`). Nothing: none of these fits.
std::vector<std::size_t> inputs_for_model(const std::vector<ModelInput>& model,
                                          const std::vector<capture::PortRecord>& announced,
                                          const std::vector<std::size_t>& reaching);

}  // namespace leapp::exporter
