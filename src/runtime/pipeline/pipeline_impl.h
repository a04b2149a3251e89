// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "leapp/bundle/signing.h"
#include "leapp/bundle/spec.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/buffers.h"
#include "runtime/pipeline/plan.h"
#include "runtime/pipeline/port_table.h"
#include "runtime/pipeline/state.h"
#include "runtime/recording/step_tap.h"
#include "runtime/robot/first_frame.h"
#include "runtime/robot/guard_set.h"
#include "runtime/robot/watchdog.h"

namespace leapp::runtime {

/// A port by which a guard finds its place in a bundle that is swapped in.
struct SeatedPort {
  std::string name;
  PortRole role = PortRole::kInput;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  GuardedPlace place;
};

/// One thread's, for as long as this object lives, unless another had it first.
class BusyLock {
 public:
  explicit BusyLock(std::atomic<bool>& busy) noexcept
      : busy_(busy), is_(!busy.exchange(true, std::memory_order_acquire)) {}
  ~BusyLock() {
    if (is_) busy_.store(false, std::memory_order_release);
  }
  BusyLock(const BusyLock&) = delete;
  BusyLock& operator=(const BusyLock&) = delete;

  explicit operator bool() const noexcept { return is_; }
  /// What to say when it is not.
  [[nodiscard]] static Status refusal() {
    return failed_precondition(
        "another thread is in the middle of a step of this pipeline, which belongs to one thread at a time");
  }

 private:
  std::atomic<bool>& busy_;
  bool is_;
};

/// State, with all in one text that makes it the same as another bundle's.
struct StateIdentity {
  std::string identity;
  Place place;
};

struct __attribute__((visibility("hidden"))) Pipeline::Impl {
  /// One node that is run: its model and the binding for either parity.
  struct Node {
    std::unique_ptr<engine::EngineModel> model;
    std::array<std::size_t, 2> binding{};
  };

  /// A copy at the end of a step, with every address worked out.
  struct Copy {
    std::array<const std::byte*, 2> from{};
    std::byte* to = nullptr;
    std::size_t size = 0;
  };

  /// A copy at the beginning of a step, of an input that lives elsewhere than where the models read it.
  struct Gather {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t size = 0;
  };

  explicit Impl(Buffers memory) : buffers(std::move(memory)) {}

  Status prepare();
  Status prepare_nodes();
  [[nodiscard]] bool is_stopped() const;
  [[nodiscard]] std::optional<Status> why_ended() const;
  /// Runs the first `count` nodes. False: see `failed`.
  [[nodiscard]] bool run_nodes(std::size_t count) noexcept;
  /// Before the first step after a reset with kFirstFrame.
  [[nodiscard]] bool fill_histories() noexcept;
  /// Models and guards: everything that may fail.
  StepResult try_step() noexcept;
  [[nodiscard]] bool may_reset(ResetMode mode) const noexcept {
    return mode != ResetMode::kFirstFrame || !first_frame.empty() || plan.states.empty();
  }
  [[nodiscard]] std::string culprit(std::size_t at, const std::string& message) const;
  Status prepare_node(std::size_t at, unsigned step_parity);
  [[nodiscard]] engine::Binding binding_of(const NodePlan& node, unsigned step_parity) const;
  void fill_all(bool one) const;
  [[nodiscard]] TensorView view(Place place) const;
  /// Where a port's value is before and after the end of a step. REQUIRES: `port` is one of the pipeline's.
  [[nodiscard]] GuardedPlace place_of(const Port& port) const;

  // For being swapped in (fresh.cpp).
  void identify_states();
  /// Works on these ports from now on. REQUIRES: it is prepared, and they agree with its own.
  void adopt(std::shared_ptr<const PortTable> other);
  /// Null when there is none of that name, role and type.
  [[nodiscard]] const GuardedPlace* find_seat(const Port& port) const noexcept;
  [[nodiscard]] bool has_state_of(const Impl& other) const noexcept;
  /// REQUIRES: has_state_of(other).
  void copy_state_of(const Impl& other) noexcept;

  std::filesystem::path yaml;  ///< what was loaded
  bundle::BundleSpec spec;
  std::vector<bundle::Model>
      models;  ///< what PipelinePlan::nodes refers to: those of the bundle, or the one they were fused to
  PipelinePlan plan;
  Status fusion;  ///< why there are several; ok when they were fused
  /// The same bundle with a model for each node, for when the fused one cannot be prepared.
  std::function<Result<std::unique_ptr<Impl>>()> separate;
  InitialValues initial_values;
  std::vector<std::string> notes;
  std::vector<std::string> state_names;
  std::optional<bundle::Signature> signature;
  std::shared_ptr<const PortTable> face;  ///< inputs and outputs as the caller has them
  std::vector<StateIdentity> states;      ///< sorted
  std::vector<SeatedPort> seats;          ///< sorted; of a bundle that is swapped in
  // Models are gone before the memory they are bound to and the engines they came from.
  Buffers buffers;
  std::map<std::string, std::unique_ptr<engine::Engine>> engines;
  std::vector<Node> nodes;
  std::vector<Gather> gathers;
  std::vector<Copy> copies;
  std::vector<engine::Report> engine_reports;
  std::atomic<bool> busy{false};  ///< see BusyLock
  unsigned parity = 0;
  bool prepared = false;
  std::optional<std::size_t> failed;   ///< the node at which the last step ended
  std::unique_ptr<GuardSet> guards;    ///< null: none
  std::uint64_t guards_set = 0;        ///< how often
  std::uint64_t last_good_set = 0;     ///< how often, from outside
  StepTapHandle recorded;              ///< by whom, if by anybody
  std::shared_ptr<engine::Stop> stop;  ///< null: nobody ends a step
  std::unique_ptr<Watchdog> watchdog;  ///< null: steps may take as long as they like
  bool ended = false;                  ///< by the watchdog: the last step, or the first run
  FirstFrame first_frame;
  std::size_t batch = 1;  ///< rows
  Status widened;         ///< why some model runs once for each; ok when none does
};

/// The entry of that name, or of name + "_in": state that a model calls X is written X_in in some files.
[[nodiscard]] const EndPlan* find_end(const std::vector<EndPlan>& ends, std::string_view name);
[[nodiscard]] const EndPlan* find_end(const std::vector<StatePlan>& ends, std::string_view name);

}  // namespace leapp::runtime
