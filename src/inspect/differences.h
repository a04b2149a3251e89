// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inspect/opened_bundle.h"

namespace leapp::inspect {

/// One thing that two bundles do not have in common. An empty side: it is not there.
struct BundleDifference {
  std::string what;   ///< "node", "edge", "port", "semantics", "config", "model", "operators", "weights", ...
  std::string place;  ///< "policy", "policy/obs", "policy: fc.weight"
  std::string a;
  std::string b;
  std::optional<double> largest;  ///< max |a - b| of numbers
};

/// Nodes, edges, inputs and outputs, ports and what they mean, configuration. Works on any two bundles that can be
/// read.
[[nodiscard]] std::vector<BundleDifference> diff_specs(const bundle::BundleSpec& a, const bundle::BundleSpec& b);

/// Versions and machines that the bundles were made with: no differences in what they do.
[[nodiscard]] std::vector<BundleDifference> diff_systems(const bundle::BundleSpec& a, const bundle::BundleSpec& b);

struct NumberOptions {
  double atol = 0;                            ///< numbers that differ by no more are the same
  bundle::FileOptions files;                  ///< where files may be, and how large; checksums are not looked at
  std::function<void(std::size_t)> progress;  ///< called with the number of nodes that are done; may be empty
};

/// Files of the nodes that both bundles have: backends, and for ONNX models operators and weights. Weights are matched
/// by name; those that have no partner, where the operators agree, by their order among those of their type.
[[nodiscard]] std::vector<BundleDifference> diff_models(const OpenedBundle& a, const OpenedBundle& b,
                                                        const NumberOptions& options);

/// The state that the bundles begin with.
[[nodiscard]] std::vector<BundleDifference> diff_initial_values(const OpenedBundle& a, const OpenedBundle& b,
                                                                const NumberOptions& options);

}  // namespace leapp::inspect
