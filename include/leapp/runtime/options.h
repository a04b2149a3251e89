// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "leapp/engine/options.h"

namespace leapp::runtime {

/// Options of Pipeline::load.
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
  /// Bytes that the bundle may ask for: ports, exported state and models together, and a single tensor whose size a
  /// model has as a constant. 0: a quarter of the machine's memory. What a model asks for while it runs, from values
  /// that it computed, is not counted.
  std::uint64_t memory_limit = 0;
  /// A step, or the first run of a model while it is loaded, that takes longer is ended (engine/stop.h says when) and
  /// fails with kTimeout. 0: it may take as long as it likes. A thread of its own looks at the clock.
  std::chrono::nanoseconds timeout{0};
  /// TorchScript models (`jit`) are run. They are programs: what they can do is bounded by TorchScript alone. Off for
  /// bundles of strangers.
  bool allow_torchscript = true;
  /// Rows that each step does at once: as many robots, or episodes, each with its own state. Every port has them as its
  /// first axis (a leading 1 becomes this number, other shapes get an axis in front), one after the other in memory. A
  /// model whose operators keep rows apart is widened and takes all of them in one run, which is what makes it fast; it
  /// was compared with the original then, on made-up inputs, and agrees to rounding. Others are run once for each row.
  /// Pipeline::widened() says which. With more than one row there are no guards.
  std::size_t batch = 1;
  engine::Options engine;
};

/// What feedback inputs hold after a reset.
enum class ResetMode {
  kExported,  ///< the values they had when the pipeline was captured
  kZeros,
  kFirstFrame,  ///< histories: the first observation, in all places; other state as exported
};

}  // namespace leapp::runtime
