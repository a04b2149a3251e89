// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "array_in.h"
#include "array_out.h"
#include "leapp/runtime/pipeline.h"

namespace leapp::python {

/// What leapp.InferenceManager stands on: a pipeline, and the arrays of Python that go in and out. Threads may share
/// it: their calls take turns. Python's lock is free while models run. All functions need Python's lock.
class Manager {
 public:
  /// Loads the bundle, or of it `node` alone if that is not empty; torch is imported when there are nodes that need it.
  /// `on_missing` is called with the name of an input the first time that run() is not given it; None: that is an
  /// error.
  Manager(const std::filesystem::path& bundle, const std::string& node, const runtime::LoadOptions& options,
          nanobind::object on_missing);

  /// One step. `inputs` is a dict of "node/port" → array, of inputs and of feedback inputs. Everything is checked
  /// before anything changes. An input that is not given keeps what it holds.
  nanobind::dict run(nanobind::handle inputs);

  /// A feedback input, for the next step; or an external one, which run() then need not be given.
  void set_input_value(const std::string& node, const std::string& name, nanobind::handle value);

  void reset(const std::string& mode);
  void reset_row(std::size_t row, const std::string& mode);
  [[nodiscard]] std::size_t batch() const { return pipeline_->batch(); }
  /// Why some model runs once for each row of a batch; empty when none does.
  [[nodiscard]] std::string widened() const { return pipeline_->widened().message(); }
  [[nodiscard]] nanobind::list histories() const;

  /// Random values for every external input.
  nanobind::dict mock_input(std::optional<std::uint64_t> seed) const;

  /// A copy of what an input of a node, "node/port", or an output of the pipeline holds.
  nanobind::object input_value(const std::string& key);
  nanobind::object output_value(const std::string& key);

  /// An array of zeros for each input, or else output, of a node, by the port's name.
  [[nodiscard]] nanobind::dict zeros(const std::string& node, bool inputs) const;

  /// The pipeline has another bundle now, whose state may be another. Called within with_pipeline().
  void look_at_states();

  /// The YAML file of the bundle that runs.
  [[nodiscard]] std::string file() const { return pipeline_->file().string(); }

  /// Who has signed the bundle; None when nobody asked.
  [[nodiscard]] nanobind::object signature() const;

  /// Calls `f` when it is our turn. It must not run other Python code.
  void with_pipeline(const std::function<void(runtime::Pipeline&)>& f);
  /// The same, unless another thread has a longer turn than that: false.
  [[nodiscard]] bool with_pipeline_within(std::chrono::milliseconds longest,
                                          const std::function<void(runtime::Pipeline&)>& f);

  [[nodiscard]] nanobind::list inputs() const { return keys(inputs_); }
  [[nodiscard]] nanobind::list outputs() const { return keys(outputs_); }
  [[nodiscard]] nanobind::list feedback_inputs() const { return keys(states_); }
  /// For each node its name, backend, model's path, and descriptions of inputs and outputs.
  [[nodiscard]] nanobind::list nodes() const;
  /// What the YAML says, as the dict that it is.
  [[nodiscard]] nanobind::dict description() const;
  [[nodiscard]] nanobind::list notes() const;
  /// For each model that runs: its name, what runs it, whether that is LEAPP's own engine, why, and of each operator
  /// its name, how often it occurs and why LEAPP's own engine does not run it (empty: it does).
  [[nodiscard]] nanobind::list engines() const;

 private:
  class Turn;

  /// Names by which a port may be called → its place in the list.
  using Names = std::map<std::string, std::size_t, std::less<>>;

  static nanobind::list keys(const std::vector<PortInfo>& ports);
  static std::optional<std::size_t> find(const Names& names, nanobind::handle key);
  /// The caller's arrays in the order of inputs_ and of states_; empty where there is none.
  struct Given {
    std::vector<nanobind::object> inputs;
    std::vector<nanobind::object> states;
  };
  /// Bytes of the feedback inputs that a step was given, to put them back if it fails.
  struct Before {
    TensorView state;
    std::vector<std::byte> bytes;
    std::string history;  ///< its name, if the step would have filled it with the first frame
  };
  using Backup = std::vector<Before>;

  nanobind::dict run_step(nanobind::handle inputs);
  Given sort_inputs(nanobind::handle inputs);
  void miss(const std::vector<nanobind::object>& inputs);
  [[noreturn]] void raise_unknown(std::string_view key) const;
  static void open(ArrayIn& array, nanobind::handle value, const PortInfo& port);
  static std::vector<ArrayIn> open_all(const std::vector<nanobind::object>& values, const std::vector<PortInfo>& ports);
  Backup set_states(const std::vector<nanobind::object>& values, const std::vector<ArrayIn>& arrays);
  void step(const Backup& before);
  [[nodiscard]] std::optional<TensorView> input_view(const std::string& key);

  std::shared_ptr<engine::Stop> stop_;
  std::optional<runtime::Pipeline> pipeline_;
  std::vector<PortInfo> inputs_;
  std::vector<PortInfo> outputs_;
  std::vector<PortInfo> states_;
  Names input_names_;
  Names state_names_;
  std::vector<TensorView> input_views_;
  std::vector<TensorView> output_views_;
  std::vector<bool> kept_;  ///< inputs that may be left out without a word: set, or spoken of before
  nanobind::object on_missing_;

  std::uint64_t bundles_ = 0;  ///< how often look_at_states() was called
  std::timed_mutex mutex_;
  std::atomic<std::thread::id> running_;  ///< the thread whose turn it is
  std::atomic<std::uint64_t> forks_{0};   ///< runtime::fork_number() of its process
};

}  // namespace leapp::python
