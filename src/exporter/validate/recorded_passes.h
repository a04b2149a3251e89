// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the program did, pass by pass, and how the nodes are wired.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exporter/validate/numbers/compare.h"
#include "exporter/validate/numbers/rounding.h"
#include "leapp/bundle/spec.h"
#include "runtime/pipeline/engines.h"

namespace leapp::exporter {

/// What the program did in one node: ports in the order of the YAML.
struct RecordedNode {
  std::string name;
  std::vector<std::uint64_t> passes;  ///< of the samples
  std::vector<Values> inputs;         ///< by sample
  std::vector<Values> outputs;        ///< by sample
  std::set<std::size_t> random_outputs;
  const graph::Graph* graph = nullptr;  ///< of the node's model; nullptr: not known
};

struct BundleReplay {
  std::filesystem::path yaml;
  const bundle::BundleSpec* spec = nullptr;
  std::vector<RecordedNode> nodes;          ///< of every model of `spec`, in its order
  std::optional<Tolerance> tolerance = {};  ///< absent: by dtype and size, and what rounding can do
  Evaluators evaluators = {};
  bool verify_checksums = true;
  runtime::EngineOpener open;
};

/// The recorded passes and the wiring between them. The replay must outlive this.
class RecordedPasses {
 public:
  explicit RecordedPasses(const BundleReplay& replay);

  /// How many passes from the first on every node ran in; why not more goes to `notes`.
  std::size_t count(std::vector<std::string>& notes) const;

  [[nodiscard]] const std::optional<graph::Constant>& input(const std::string& name, std::size_t pass) const;
  [[nodiscard]] const std::optional<graph::Constant>& output(const std::string& name, std::size_t pass) const;
  [[nodiscard]] bool is_random(const std::string& output) const { return random_.contains(output); }

  /// An edge over which the program passed something else in this pass.
  [[nodiscard]] std::string broken_edge(std::size_t pass) const;

  /// Feedback inputs that hold something else than the pass before left: the program set them. REQUIRES: pass > 0.
  [[nodiscard]] std::vector<std::string> set_by_program(std::size_t pass) const;

 private:
  /// A port of a recorded node.
  struct PortAt {
    const RecordedNode* node = nullptr;
    std::size_t port = 0;
  };

  void find_random();
  void taint(const RecordedNode& node);

  const BundleReplay& replay_;
  std::map<std::string, PortAt> inputs_;
  std::map<std::string, PortAt> outputs_;
  std::set<std::string> random_;
};

}  // namespace leapp::exporter
