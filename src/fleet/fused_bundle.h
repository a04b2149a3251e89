// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "inspect/opened_bundle.h"

namespace leapp::fleet {

/// A bundle of one ONNX node that does what another does with several.
struct FusedBundle {
  bundle::BundleSpec spec;
  std::string model;                      ///< the bytes of its ONNX file
  std::vector<std::byte> initial_values;  ///< of its safetensors file; empty when there is no feedback
  /// What its ports were called in the original, "node/port" each: original, fused.
  std::vector<std::pair<std::string, std::string>> inputs;
  std::vector<std::pair<std::string, std::string>> outputs;
  std::vector<std::pair<std::string, std::string>> states;  ///< feedback inputs
};

struct FuseNames {
  std::string bundle;  ///< of the new one, and of its files
  std::string node;
};

/// Ports keep their names where no other port has the same; else they get that of their node before it. State ports
/// stay inputs and outputs. An error says why the nodes cannot be one.
Result<FusedBundle> fuse_bundle(const inspect::OpenedBundle& opened, const FuseNames& names,
                                const bundle::FileOptions& files);

}  // namespace leapp::fleet
