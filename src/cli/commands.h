// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One function, and one file, per subcommand; main.cpp has the table of them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/console/context.h"

namespace leapp::cli {

/// What the help of a subcommand says.
struct CommandText {
  const char* name = nullptr;
  const char* summary = nullptr;   ///< one line, for the list of subcommands too
  const char* examples = nullptr;  ///< lines that can be typed as they stand
};

/// Adds a subcommand with --json and its examples. When the user has chosen it, `run` is called, once all options are
/// read; what it returns is the process's exit code. Options are added to the result and live in what `run` holds.
CLI::App& add_command(CLI::App& app, Context& context, const CommandText& text, std::function<Result<ExitCode>()> run);

void add_bench(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_codegen(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_export_triton(CLI::App& app, Context& context);
void add_fuse(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_keygen(CLI::App& app, Context& context);
void add_replay(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_sign(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_view(CLI::App& app, Context& context);

}  // namespace leapp::cli
