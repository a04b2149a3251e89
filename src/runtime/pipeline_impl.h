// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "leapp/bundle/spec.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/buffers.h"
#include "runtime/first_frame.h"
#include "runtime/guard_set.h"
#include "runtime/plan.h"
#include "runtime/state.h"

namespace leapp::runtime {

struct __attribute__((visibility("hidden"))) Pipeline::Impl {
  /// One node that is run: its model and the binding for either parity.
  struct Node {
    std::unique_ptr<engine::Model> model;
    std::array<std::size_t, 2> binding{};
  };

  /// A copy at the end of a step, with every address worked out.
  struct Copy {
    std::array<const std::byte*, 2> from{};
    std::byte* to = nullptr;
    std::size_t size = 0;
  };

  explicit Impl(Buffers memory) : buffers(std::move(memory)) {}

  Status prepare();
  /// Runs the first `count` nodes. False: see `failed`.
  [[nodiscard]] bool run_nodes(std::size_t count) noexcept;
  /// Before the first step after a reset with kFirstFrame.
  [[nodiscard]] bool fill_histories() noexcept;
  /// Models and guards: everything that may fail.
  StepResult try_step() noexcept;
  [[nodiscard]] std::string culprit(std::size_t at, const std::string& message) const;
  Status prepare_node(std::size_t at, unsigned step_parity);
  [[nodiscard]] engine::Binding binding_of(const NodePlan& node, unsigned step_parity) const;
  void fill_all(bool one) const;
  [[nodiscard]] TensorView view(Place place) const;
  /// Where a port's value is before and after the end of a step. REQUIRES: `port` is one of the pipeline's.
  [[nodiscard]] GuardedPlace place_of(const Port& port) const;

  bundle::BundleSpec spec;
  std::vector<bundle::Model>
      models;  ///< what Plan::nodes refers to: those of the bundle, or the one they were fused to
  Plan plan;
  Status fusion;  ///< why there are several; ok when they were fused
  /// The same bundle with a model for each node, for when the fused one cannot be prepared.
  std::function<Result<std::unique_ptr<Impl>>()> separate;
  InitialValues initial_values;
  std::vector<std::string> notes;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<std::string> state_names;
  // Models are gone before the memory they are bound to and the engines they came from.
  Buffers buffers;
  std::map<std::string, std::unique_ptr<engine::Engine>> engines;
  std::vector<Node> nodes;
  std::vector<Copy> copies;
  std::vector<engine::Report> engine_reports;
  unsigned parity = 0;
  bool prepared = false;
  std::optional<std::size_t> failed;  ///< the node at which the last step ended
  std::unique_ptr<GuardSet> guards;   ///< null: none
  FirstFrame first_frame;
};

/// The entry of that name, or of name + "_in": state that a model calls X is written X_in in some files.
[[nodiscard]] const EndPlan* find_end(const std::vector<EndPlan>& ends, std::string_view name);
[[nodiscard]] const EndPlan* find_end(const std::vector<StatePlan>& ends, std::string_view name);

}  // namespace leapp::runtime
