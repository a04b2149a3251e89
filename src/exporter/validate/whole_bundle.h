// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The bundle as a robot would run it, state and all, over the passes that were kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "exporter/validate/checks.h"
#include "leapp/bundle/spec.h"
#include "runtime/engines.h"

namespace leapp::exporter {

/// What the program did in one node: ports in the order of the YAML.
struct RecordedNode {
  std::string name;
  std::vector<std::uint64_t> passes;  ///< of the samples
  std::vector<Values> inputs;         ///< by sample
  std::vector<Values> outputs;        ///< by sample
  std::set<std::size_t> random_outputs;
};

struct BundleReplay {
  std::filesystem::path yaml;
  const bundle::BundleSpec* spec = nullptr;
  std::vector<RecordedNode> nodes;  ///< of every model of `spec`, in its order
  Tolerance tolerance;
  bool verify_checksums = true;
  runtime::EngineOpener open;
};

/// Runs the recorded passes, in order and from the exported state, and compares every output and every state with what
/// the program had. Where the program itself set a state between two passes (a reset), the pipeline's is set too.
/// "skipped", with the reason, when there is nothing that could be run.
[[nodiscard]] PipelineCheck check_bundle(const BundleReplay& replay);

}  // namespace leapp::exporter
