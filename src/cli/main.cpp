// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/console/number_validators.h"
#include "inspect/words.h"

namespace leapp::cli {
namespace {

using AddCommand = void (*)(CLI::App& app, Context& context);

// In the order of the help.
constexpr std::array<AddCommand, 15> kCommands{
    &add_inspect,       &add_check, &add_run,    &add_bench, &add_diff,   &add_fuse,   &add_codegen,    &add_replay,
    &add_export_triton, &add_view,  &add_keygen, &add_sign,  &add_verify, &add_doctor, &add_completion,
};

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string meant = closest(word, candidates);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

// What CLI11 says of an unknown command or option, in the terms of what was typed; empty for other errors.
std::string unknown_word(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  if (argc < 2) return "";
  const std::string first = argv[1];
  const auto command = std::find(commands.begin(), commands.end(), first);
  if (command == commands.end()) {
    if (first.starts_with('-')) return "";
    return fmt::format("unknown command {}{}\nRun leapp --help for the list.", one_line(first),
                       suggestion(first, commands));
  }
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_subcommand(first)->get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  for (int i = 2; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (!word.starts_with("--") || word == "--") continue;
    if (std::find(options.begin(), options.end(), word) != options.end()) continue;
    return fmt::format("leapp {0} has no option {1}{2}\nRun leapp {0} --help for the list.", first, one_line(word),
                       suggestion(word, options));
  }
  return "";
}

void read_arguments(CLI::App& app, Context& context, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream problem;
    if (app.exit(error, out, problem) == 0) {
      context.print(out.str() + (out.str().ends_with('\n') ? "" : "\n"));
    } else {
      const std::string unknown = unknown_word(app, argc, argv);
      context.fail(unknown.empty() ? problem.str() : unknown);
    }
  }
}

/// Files get the lowest number that is free: that of an output which the caller has closed must not be, or what is
/// printed ends up in a file. Reading from this one, and writing to the other two, fails as it would without it.
void occupy_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    if (::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor) std::_Exit(2);
  }
}

int run(int argc, char** argv) {
  occupy_closed_descriptors();
  // A reader that went away is seen when writing to it.
  (void)std::signal(SIGPIPE, SIG_IGN);
  // A file that may not become larger (ulimit -f), too.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  Context context;
  try {
    CLI::App app("Inspect, validate, run and compare LEAPP bundles, without torch or Python.", "leapp");
    app.require_subcommand(1);
    app.failure_message([](const CLI::App* /*app*/, const CLI::Error& error) {
      return std::string(error.what()) + "; run with --help for usage";
    });
    app.set_version_flag("--version", "leapp " LEAPP_VERSION);
    app.footer(
        "Run leapp COMMAND --help for the options of a command.\n"
        "Exit codes: 0 success, 1 findings, 2 usage error or unreadable file.");
    for (const AddCommand add : kCommands) add(app, context);
    expect_plain_numbers(app);
    read_arguments(app, context, argc, argv);
  } catch (const std::bad_alloc&) {
    context.fail("not enough memory");
  } catch (const std::exception& error) {
    context.fail(error.what());
  }
  return context.flush();
}

}  // namespace

}  // namespace leapp::cli

int main(int argc, char** argv) { return leapp::cli::run(argc, argv); }
