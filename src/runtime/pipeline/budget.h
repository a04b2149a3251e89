// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/bundle/reader.h"
#include "runtime/pipeline/plan.h"

/// What a bundle asks for, added up before anything of it is allocated or read.
namespace leapp::runtime {

/// A quarter of the machine's memory, or of what the process' control group may have if that is less.
[[nodiscard]] LEAPP_API std::uint64_t default_memory_limit();

/// Of an option that says 0 for the default.
[[nodiscard]] inline std::uint64_t memory_limit_of(std::uint64_t option) {
  return option == 0 ? default_memory_limit() : option;
}

struct MemoryNeed {
  std::uint64_t ports = 0;   ///< buffers of all ports
  std::uint64_t state = 0;   ///< the exported state, kept for resets
  std::uint64_t models = 0;  ///< files of models

  [[nodiscard]] std::uint64_t sum() const;
};

/// Of a plan and of the models that can be found; those that cannot are somebody else's error.
[[nodiscard]] MemoryNeed memory_need(const PipelinePlan& plan, const bundle::BundleSpec& spec,
                                     const std::filesystem::path& folder);

/// kInvalidArgument, with the sum and its parts, when that is more than `limit`.
Status check_memory(const MemoryNeed& need, std::uint64_t limit);

/// The same for the files of weights beside a model. REQUIRES: they are there.
Status check_external_memory(std::span<const std::filesystem::path> files, std::uint64_t limit);

}  // namespace leapp::runtime
