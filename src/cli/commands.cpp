// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <fmt/format.h>

#include <utility>

namespace leapp::cli {

CLI::App& add_command(CLI::App& app, Context& context, const CommandText& text, std::function<Result<ExitCode>()> run) {
  CLI::App& command = *app.add_subcommand(text.name, text.summary);
  command.add_flag("--json", context.json, "Print one JSON document instead of text");
  command.footer(fmt::format("Examples:\n{}", text.examples));
  command.callback([&context, run = std::move(run)] { context.finish(run()); });
  return command;
}

}  // namespace leapp::cli
