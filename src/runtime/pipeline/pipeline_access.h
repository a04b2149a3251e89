// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "leapp/base/export.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/engines.h"

namespace leapp::runtime {

/// For those who bring engines of their own: tests, and front ends that know more than one.
struct PipelineAccess {
  LEAPP_API static Result<Pipeline> load(const std::filesystem::path& bundle, const LoadOptions& options,
                                         EngineOpener open);

  /// The same of one node alone: all its ports are inputs and outputs. kNotFound when there is no such node.
  LEAPP_API static Result<Pipeline> load_node(const std::filesystem::path& bundle, const std::string& node,
                                              const LoadOptions& options, EngineOpener open);

  /// What an input of a node holds, "node/port": of the last step if another node feeds it in the same step. In place
  /// until the next step. Nothing when there is none of that name, or none any more because nodes were fused.
  LEAPP_API static std::optional<TensorView> node_input(const Pipeline& pipeline, std::string_view name);

  /// Puts back what guards remembered, as a recording has it. kInvalidArgument when these guards are others.
  LEAPP_API static Status set_guard_memory(Pipeline& pipeline, std::string_view memory);

  /// Whether the next step is to fill that history with the first frame; returns what was before. For those who write
  /// to state where it is.
  LEAPP_API static bool fill_history(Pipeline& pipeline, std::string_view state, bool wanted);

  /// What ends the pipeline's steps; null: nobody does. Another after another bundle was swapped in.
  LEAPP_API static const std::shared_ptr<engine::Stop>& stop_of(const Pipeline& pipeline);

  /// The engines that Pipeline::load uses.
  LEAPP_API static Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& backend,
                                                                       const engine::Options& options);

  struct ReloadTarget;
  class StagedBundle;

 private:
  class Loader;
  static Result<Pipeline> load_unchanged(const std::filesystem::path& bundle, const std::string& node,
                                         const LoadOptions& options, const EngineOpener& open);
  static Result<Pipeline> load_once(const std::filesystem::path& yaml, const std::string& node,
                                    const LoadOptions& options, const EngineOpener& open);
};

}  // namespace leapp::runtime
