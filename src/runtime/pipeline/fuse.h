// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/spec.h"

/// Several ONNX models and the wiring between them as one ONNX model. What flows from node to node in a step becomes a
/// value inside it; what the caller gives and gets, and both ends of every feedback edge, stay ports.
namespace leapp::runtime {

/// What a port of a node is called in the fused model. Different ports of one direction get different names.
using PortNamer = std::function<std::string(const bundle::Model& node, const bundle::Port& port, bool input)>;

/// "node/port": no two are equal.
[[nodiscard]] std::string whole_name(const bundle::Model& node, const bundle::Port& port, bool input);

/// A pipeline of one node.
struct FusedPipeline {
  bundle::Model model;    ///< its ports; it has neither a name nor parameters
  bundle::Wiring wiring;  ///< feedback edges, inputs and outputs of that node, in the order of the original
};

/// REQUIRES: `wiring` is that of `spec` and has no problems.
[[nodiscard]] FusedPipeline fuse_wiring(const bundle::BundleSpec& spec, const bundle::Wiring& wiring,
                                        const PortNamer& name);

struct FuseRequest {
  const bundle::BundleSpec& spec;
  const bundle::Wiring& wiring;  ///< that of `spec`, without problems
  /// The ONNX files of BundleSpec::models, in that order.
  std::vector<std::span<const std::byte>> models;
  PortNamer name = whole_name;
};

/// Larger models are not fused: a message of protobuf ends at 2 GB.
inline constexpr std::size_t kLargestFused = 1'900'000'000;

/// The ONNX model, with the ports that fuse_wiring describes. Everything inside has the name of its node and a slash
/// before its own. An error says why the models cannot be one: they use different operator sets, keep weights in other
/// files, have ports that are not what the bundle says, or are no ONNX models. Reads any bytes.
Result<std::string> fuse_models(const FuseRequest& request);

}  // namespace leapp::runtime
