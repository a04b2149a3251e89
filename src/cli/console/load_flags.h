// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "leapp/runtime/options.h"

namespace leapp::cli {

/// --engine: what runs ONNX models. `prefer` must outlive `to`, a command or a group of its options.
void add_engine_option(CLI::App& to, engine::Prefer& prefer);

/// --memory-limit, for those that read models. `limit` must outlive `to`, and is what it was without the option.
void add_memory_limit(CLI::App& to, std::uint64_t& limit);

/// What the subcommands that run a bundle have in common. The options write into `load`, which must outlive `command`.
void add_load_options(CLI::App& command, runtime::LoadOptions& load);

/// --trusted-key, for those that read nothing of a bundle but by loading it.
void add_trust_options(CLI::App& command, runtime::LoadOptions& load);

}  // namespace leapp::cli
