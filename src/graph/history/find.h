// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Which state of a pipeline is a history of what the caller gives.
//
// A state is one when its next value is the state, shifted, with something new in the place that came free, and what is
// new depends on the caller's inputs and not on the state itself. Filling it with the first frame then is well defined:
// the state in which the update with this frame changes nothing.
//
// Found by itself is only what can be taken for observations: what is new may be scaled, clipped, put together; but it
// has met no weights, and it is not what the pipeline gives out. A history of actions begins as it was exported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/history/layout.h"

namespace leapp::graph {

/// A port by its place: of StagedPipeline::stages, and of the stage's inputs or outputs.
struct StagePort {
  std::size_t stage = 0;
  std::size_t port = 0;
  auto operator<=>(const StagePort&) const = default;
};

struct StageInput {
  enum class From : std::uint8_t { kCaller, kSameStep, kLastStep };
  std::string name;  ///< in the graph
  TensorType type;
  From from = From::kCaller;
  StagePort source;  ///< an output, unless it is the caller's
  /// What the program said: the name of an input of the same stage; empty: it is no history.
  std::optional<std::string> declared;
};

struct Stage {
  std::string name;
  const Graph* graph = nullptr;  ///< null: a model that nobody can look into; else it has an output for each of ours
  std::vector<StageInput> inputs;
  std::vector<TensorType> outputs;
  std::vector<bool> published;  ///< of each output, whether the caller gets it
};

/// In the order in which they run.
using Stages = std::vector<Stage>;

/// One part of a history, and where its newest frame is found.
struct FoundPart {
  enum class From : std::uint8_t {
    kInput,  ///< it is an input of the caller's, as it is
    kState,  ///< it is what `source` gets as its next value
    kNext,   ///< it is in the state's own next value
  };
  FrameLayout layout;
  From from = From::kNext;
  StagePort source;             ///< kInput, kState
  std::vector<StagePort> made;  ///< kNext: the inputs (of the caller, or state) it depends on
};

struct FoundHistory {
  StagePort state;
  std::vector<FoundPart> parts;  ///< none: see `why`
  std::string why;               ///< why it is none, where somebody might have thought so
  bool refused = false;          ///< the program says it is one and it cannot be
};

/// States that are histories, and those of which it is worth saying why they are none.
[[nodiscard]] std::vector<FoundHistory> find_histories(const Stages& stages);

}  // namespace leapp::graph
