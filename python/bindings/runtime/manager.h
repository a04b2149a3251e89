// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "array_in.h"
#include "array_out.h"
#include "leapp/runtime/pipeline.h"

namespace leapp::python {

/// What leapp.InferenceManager stands on: a pipeline, and the arrays of Python that go in and out. Threads may share
/// it: their calls take turns. Python's lock is free while models run. All functions need Python's lock.
class Manager {
 public:
  /// Loads the bundle; torch is imported when it has nodes that need it.
  Manager(const std::filesystem::path& bundle, const runtime::LoadOptions& options);

  /// One step. `inputs` is a dict of "node/port" → array. Everything is checked before anything changes.
  nanobind::dict run(nanobind::handle inputs);

  /// A feedback input, for the next step; or an external one, which run() then need not be given.
  void set_input_value(const std::string& node, const std::string& name, nanobind::handle value);

  void reset(const std::string& mode);

  /// Random values for every external input.
  nanobind::dict mock_input(std::optional<std::uint64_t> seed) const;

  [[nodiscard]] nanobind::list inputs() const { return keys(inputs_); }
  [[nodiscard]] nanobind::list outputs() const { return keys(outputs_); }
  [[nodiscard]] nanobind::list feedback_inputs() const { return keys(states_); }
  /// For each node its name, backend, model's path, and descriptions of inputs and outputs.
  [[nodiscard]] nanobind::list nodes() const;

 private:
  class Turn;

  /// Names by which a port may be called → its place in the list.
  using Names = std::map<std::string, std::size_t, std::less<>>;

  static nanobind::list keys(const std::vector<PortInfo>& ports);
  static std::optional<std::size_t> find(const Names& names, nanobind::handle key);
  std::vector<nanobind::object> sort_inputs(nanobind::handle inputs) const;
  [[noreturn]] void raise_unknown(std::string_view key) const;
  static void open(ArrayIn& array, nanobind::handle value, const PortInfo& port);
  void step();

  std::optional<runtime::Pipeline> pipeline_;
  std::vector<PortInfo> inputs_;
  std::vector<PortInfo> outputs_;
  std::vector<PortInfo> states_;
  Names input_names_;
  Names state_names_;
  std::vector<TensorView> input_views_;
  std::vector<TensorView> output_views_;
  std::vector<bool> kept_;  ///< inputs that set_input_value gave a value

  std::mutex mutex_;
  std::atomic<std::thread::id> running_;  ///< the thread whose turn it is
};

}  // namespace leapp::python
