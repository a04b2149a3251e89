// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Run a bundle without Python and, if its models are ONNX, without torch. Start here.
//
//   auto pipeline = leapp::runtime::Pipeline::load("walk/walk.yaml").value();
//   std::span<float> obs = pipeline.input<float>("policy/obs").value();
//   std::span<const float> action = pipeline.output<float>("policy/action").value();
//   while (running) {
//     read_sensors(obs);
//     if (pipeline.step() != leapp::runtime::StepResult::kOk) stop(pipeline.error().message());
//     drive_motors(action);
//   }
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/base/tensor_view.h"
#include "leapp/bundle/signing.h"
#include "leapp/bundle/spec.h"
#include "leapp/engine/report.h"
#include "leapp/runtime/guards.h"
#include "leapp/runtime/options.h"
#include "leapp/runtime/port.h"

namespace leapp::runtime {

/// What became of a step.
enum class [[nodiscard]] StepResult{
    kOk,
    kFailed,       ///< a model could not run: see error(); outputs and state are what they were
    kNotPrepared,  ///< prepare() was not called, or failed
    kRefused,      ///< a guard did not let the inputs in, or the results out: as kFailed
    kBusy,         ///< another thread is in the middle of a step of this pipeline: nothing was done
};

/// A bundle that is ready to run. Belongs to one thread at a time; different pipelines are independent of each other.
/// Two threads that use one by mistake, while one of them is in a step, are told: step() returns kBusy, and what
/// changes the pipeline kFailedPrecondition. All memory it works on is its own and has its place from prepare() on;
/// step() allocates nothing of its own.
class LEAPP_API Pipeline {
 public:
  /// Reads `bundle` (its YAML file, or the folder that has one of the same name), checks its wiring and its files, and
  /// loads the models. A failure names file, place, what was expected and what was found. No exception leaves it, nor
  /// prepare(): kOutOfMemory when memory runs out.
  static Result<Pipeline> load(const std::filesystem::path& bundle, const LoadOptions& options = {});

  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  ~Pipeline();

  /// Binds every model to its buffers, runs each to warm it up, and puts the exported state in place. Inputs are zero
  /// afterwards. Nothing happens when it was called before. load() does it unless told not to.
  Status prepare();

  /// Runs every node once. Reads the inputs as they are; the outputs change when the whole step has succeeded, and so
  /// does the state. Afterwards the thread's floating-point mode is as it was.
  StepResult step() noexcept;

  /// Why the last step failed; ok when it did not.
  [[nodiscard]] Status error() const;

  /// Sets every feedback input. Inputs and outputs keep what they hold. Without a mode: what was exported.
  /// kFirstFrame: histories() are filled by the next step that succeeds, from the inputs that it reads, before it runs;
  /// until then, and in all other state, stands what was exported. A history that set_input_value sets is left alone.
  /// That step runs the models once more for frames that are computed. kFailedPrecondition when there is state and
  /// none of it is a history: nothing has changed then. Other modes do not fail.
  void reset();
  Status reset(ResetMode mode);

  /// The same for the feedback inputs of one row of LoadOptions::batch, the others go on: an episode has ended, another
  /// begins. kInvalidArgument when there is no such row; kUnimplemented for kFirstFrame, which all rows do together.
  Status reset_row(std::size_t row, ResetMode mode = ResetMode::kExported);

  /// LoadOptions::batch: how many rows a step does.
  [[nodiscard]] std::size_t batch() const;
  /// Ok when every model takes all rows in one run; else which does not, and why.
  [[nodiscard]] const Status& widened() const;

  /// "node/port" of the feedback inputs that are histories of what the caller gives (bundle/history.h).
  [[nodiscard]] std::vector<std::string> histories() const;

  /// "node/port" of what the caller gives, what it gets, and what goes from one step to the next; in the file's order.
  [[nodiscard]] const std::vector<std::string>& inputs() const;
  [[nodiscard]] const std::vector<std::string>& outputs() const;
  [[nodiscard]] const std::vector<std::string>& feedback_inputs() const;

  /// The same with all that the bundle says of them, and where they are in memory. They allocate: call them before the
  /// loop.
  [[nodiscard]] std::vector<Port> input_ports();
  [[nodiscard]] std::vector<Port> output_ports() const;
  [[nodiscard]] std::vector<Port> feedback_ports() const;

  /// The one of that name, "node/port"; kNotFound lists the names there are.
  [[nodiscard]] Result<Port> input_port(std::string_view name);
  [[nodiscard]] Result<Port> output_port(std::string_view name) const;

  /// The one input, or output, of that kind ("state/joint/position"). kNotFound lists names and kinds that there are;
  /// kInvalidArgument when several have that kind, and names them.
  [[nodiscard]] Result<Port> input_of_kind(std::string_view kind);
  [[nodiscard]] Result<Port> output_of_kind(std::string_view kind) const;

  /// How often the bundle is meant to step, in Hz, if it says so.
  [[nodiscard]] std::optional<double> frequency() const;

  /// The memory of an input or output: in place for as long as the pipeline lives, moved or not. `name` is "node/port";
  /// where a node's port is "X_in", "node/X" will do. Inputs keep what was written until it is replaced. kNotFound
  /// lists the names there are.
  [[nodiscard]] Result<TensorView> input(std::string_view name);
  [[nodiscard]] Result<TensorView> output(std::string_view name) const;

  /// The same as elements of type T; kWrongType when they are of another type.
  template <typename T>
  [[nodiscard]] Result<std::span<T>> input(std::string_view name) {
    auto view = input(name);
    if (!view.ok()) return view.status();
    return view.value().template as<T>();
  }
  template <typename T>
  [[nodiscard]] Result<std::span<const T>> output(std::string_view name) const {
    auto view = output(name);
    if (!view.ok()) return view.status();
    return view.value().template as<const T>();
  }

  /// Copies `value` into an input, where it stays until it is replaced, or into a feedback input, where it stays until
  /// the next step. kNotFound when there is no input of that name, kWrongType for another dtype, kInvalidArgument for
  /// another shape: nothing has changed then. The memory of `value` is not kept and not written to.
  Status set_input_value(std::string_view name, const TensorView& value);

  /// What a feedback input will read in the next step; may be written. In place until the next step(), reset() or swap
  /// only: old and new values take turns in two buffers.
  [[nodiscard]] Result<TensorView> feedback_input(std::string_view name);

  /// From now on each step looks at these ports (guards.h): inputs before the models run, where an element that is
  /// changed is changed in place; outputs and state before anybody sees them, where the port's own value is changed and
  /// not what other ports get of it. No rules: no guards. kNotFound and kInvalidArgument for ports, elements and limits
  /// that cannot be right, with both sides: the guards are what they were. REQUIRES: prepare() was called.
  Status set_guards(const GuardRules& rules);
  [[nodiscard]] const GuardRules& guards() const;

  /// What the guards found in the last step, the first kMostGuardEvents of it; in place until the next step. They
  /// allocate nothing.
  [[nodiscard]] std::span<const GuardEvent> guard_events() const noexcept;
  /// How many there were.
  [[nodiscard]] std::size_t guard_event_count() const noexcept;
  /// "policy/action[0,3] (LF_KNEE): 3.7 is above 2: clamped to 2".
  [[nodiscard]] std::string guard_text(const GuardEvent& event) const;

  /// What a guarded input or output held last, in its own order, for the rate limits of the first step: the position in
  /// which the robot stands. Until it is given, or a step has succeeded, rates are not limited and there is nothing to
  /// hold. A reset changes nothing of it, for the motors are where they are; forget_last_good() does. kNotFound when
  /// the port has no guard, kInvalidArgument for another number of values or one that is not finite.
  Status set_last_good(std::string_view port, std::span<const double> values);
  void forget_last_good() noexcept;

  /// Ok when all nodes run as one model, which they do when they are ONNX models that agree on their operators; else
  /// why they run one after the other. May change in prepare().
  [[nodiscard]] const Status& fusion() const;

  /// What loading found worth knowing, and no reason to refuse: a sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const;

  /// What runs each model and why: one entry for all nodes when they run as one, else one per node in the order in
  /// which they run. May change in prepare().
  [[nodiscard]] const std::vector<engine::Report>& engine() const;

  /// What the bundle's YAML says.
  [[nodiscard]] const bundle::BundleSpec& spec() const;

  /// The YAML file that it was read from.
  [[nodiscard]] const std::filesystem::path& file() const;

  /// Who has signed it; nothing when it was loaded without LoadOptions::trusted_keys.
  [[nodiscard]] const std::optional<bundle::Signature>& signature() const;

 private:
  friend struct PipelineAccess;
  friend class Recorder;
  struct Impl;
  explicit Pipeline(std::unique_ptr<Impl> impl);
  Status prepare_unguarded();

  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp::runtime
