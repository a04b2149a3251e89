// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leapp/engine/options.h"

namespace leapp::runtime {

struct LoadOptions {
  /// Models may lie outside the bundle's folder.
  bool allow_outside = false;
  bool verify_checksums = true;
  /// load() also prepares. Off: Pipeline::prepare() has to be called before the first step.
  bool prepare = true;
  /// Several ONNX models are made one in memory, which is faster: what flows between nodes stays in caches and
  /// registers. Results may differ in the last digits where ONNX Runtime optimises across nodes.
  bool fuse = true;
  /// Every output of every node is an output of the pipeline, also those that only feed other nodes: for traces.
  bool all_outputs = false;
  /// Public keys (bundle/signing.h): each as PEM text, or as the path of a file that has it. If there are any, only a
  /// bundle is loaded that one of them has signed, and of it only bytes that were signed; `verify_checksums` and
  /// `allow_outside` change nothing of that. A bundle that is unsigned, signed by others, changed, or has a file too
  /// few or too many is kDataLoss.
  std::vector<std::string> trusted_keys = {};
  /// With trusted keys: a bundle that was signed with an earlier serial than this is refused.
  std::uint64_t minimum_serial = 0;
  engine::Options engine;
};

/// What feedback inputs hold after a reset.
enum class ResetMode {
  kExported,  ///< the values they had when the pipeline was captured
  kZeros,
};

}  // namespace leapp::runtime
