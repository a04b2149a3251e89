// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  engine::Options engine;
};

/// What feedback inputs hold after a reset.
enum class ResetMode {
  kExported,  ///< the values they had when the pipeline was captured
  kZeros,
  kFirstFrame,  ///< histories: the first observation, in all places; other state as exported
};

}  // namespace leapp::runtime
