// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "leapp/bundle/spec.h"

namespace leapp::exporter {

/// What an ONNX model says about itself when it travels without its bundle: the pipeline's configuration
/// ("leapp.frequency") and what its ports mean ("leapp.inputs.obs.kind"), values as JSON.
std::vector<std::pair<std::string, std::string>> onnx_metadata(const bundle::Model& model,
                                                               const bundle::YamlMap& configs);

}  // namespace leapp::exporter
