// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/check_bundle.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console/load_flags.h"
#include "cli/console/progress.h"
#include "cli/console/table.h"
#include "cli/console/timeout.h"
#include "inspect/words.h"

namespace leapp::cli {
namespace {

struct CheckFlags {
  std::string bundle;
  bool strict = false;
  CheckOptions check;
};

Result<ExitCode> check(const CheckFlags& flags, Context& context) {
  LEAPP_ASSIGN_OR_RETURN(const OpenedBundle opened, open_bundle(flags.bundle));
  Progress progress(context, "models read", opened.spec.models.size());
  CheckOptions options = flags.check;
  options.progress = [&](std::size_t done) {
    progress.at(done);
    heartbeat(ExitCode::kUnusable);
  };
  options.heartbeat = [](bool in_step) { heartbeat(in_step ? ExitCode::kFindings : ExitCode::kUnusable); };
  const CheckReport report = check_bundle(opened, options);
  const std::vector<CheckFinding>& findings = report.findings;
  if (context.json) {
    context.print_json({{"name", opened.name},
                        {"file", opened.yaml.string()},
                        {"target", options.target.empty() ? Json(nullptr) : Json(options.target)},
                        {"loaded", report.loaded},
                        {"engines", comparison_json(report.engines)},
                        {"errors", count_of(findings, Severity::kError)},
                        {"warnings", count_of(findings, Severity::kWarning)},
                        {"notes", count_of(findings, Severity::kNote)},
                        {"findings", findings_json(findings)}});
  } else {
    context.print(findings_text(findings, context) + comparison_text(report.engines));
    context.print(fmt::format("{}: {}\n", context.styled(one_line(opened.name), Style::kBold), counts_text(findings)));
  }
  const std::size_t notes = count_of(findings, Severity::kNote);
  const std::size_t counted = findings.size() - (flags.strict ? 0 : notes);
  return counted == 0 ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  const auto options = std::make_shared<CheckFlags>();
  CLI::App& command = add_command(app, context,
                                  {.name = "check",
                                   .summary = "Validate a bundle (exit code 1 if it has errors)",
                                   .examples = "  leapp check walk/walk.yaml\n"
                                               "  leapp check walk/walk.yaml --target isaac-ros --strict"},
                                  [options, &context] { return check(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_option("--target", options->check.target, "Also check what this consumer requires: isaac-ros")
      ->check(CLI::IsMember({"isaac-ros"}).description(""));
  command.add_flag("--strict", options->strict, "Count notes as findings");
  command.add_flag("--no-load", options->check.no_load, "Check the files only; do not load the models");
  add_load_options(command, options->check.load);
}

}  // namespace leapp::cli
