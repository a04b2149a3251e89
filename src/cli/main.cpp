// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <utility>

#include "cli/commands.h"
#include "cli/console/number_validators.h"

namespace leapp::cli {
namespace {

using AddCommand = void (*)(CLI::App& app, Context& context);

// In the order of the help.
constexpr std::array<AddCommand, 13> kCommands{
    &add_inspect, &add_check,         &add_run,  &add_bench,  &add_diff, &add_fuse,   &add_codegen,
    &add_replay,  &add_export_triton, &add_view, &add_keygen, &add_sign, &add_verify,
};

void read_arguments(CLI::App& app, Context& context, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream problem;
    if (app.exit(error, out, problem) == 0) {
      context.print(out.str() + (out.str().ends_with('\n') ? "" : "\n"));
    } else {
      context.fail(problem.str());
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
    CLI::App app("Looks at, checks, runs and compares bundles, without torch and without Python.", "leapp");
    app.require_subcommand(1);
    app.failure_message([](const CLI::App* /*app*/, const CLI::Error& error) {
      return std::string(error.what()) + "; --help says more";
    });
    app.set_version_flag("--version", "leapp " LEAPP_VERSION);
    app.footer("leapp COMMAND --help says more.\nExit code: 0 fine, 1 findings, 2 wrong usage or an unreadable file.");
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
