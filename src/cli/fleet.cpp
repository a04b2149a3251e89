// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// `leapp replay` is written in Python, as Ray and Parquet are: this hands over to it.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace leapp::cli {
namespace {

// As `python -m leapp`, but for the folder one stands in, which Python would look for modules in before all others: it
// may be a stranger's, and a json.py in it would run.
constexpr const char* kStart =
    "import sys; sys.path[:1] = filter(None, sys.path[:1]); import runpy; "
    "runpy.run_module('leapp', run_name='__main__', alter_sys=True)";

Result<ExitCode> hand_over(const CLI::App& command) {
  const char* named = std::getenv("LEAPP_PYTHON");
  std::vector<std::string> words{named != nullptr && *named != '\0' ? named : "python3", "-c", kStart, "replay"};
  for (const std::string& word : command.remaining()) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  return not_found(fmt::format(
      "replay runs in Python, and {} cannot be started: {}; LEAPP_PYTHON names the one that has the package leapp",
      words[0], std::strerror(errno)));
}

}  // namespace

void add_replay(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("replay", "Replay recorded episodes (needs the Python package)");
  command->prefix_command();
  command->set_help_flag();  // Python's own says more
  command->callback([command, &context] { context.finish(hand_over(*command)); });
}

}  // namespace leapp::cli
