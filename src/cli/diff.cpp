// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/console/load_flags.h"
#include "cli/console/progress.h"
#include "cli/console/table.h"
#include "inspect/differences.h"
#include "inspect/opened_bundle.h"
#include "inspect/words.h"
#include "runtime/pipeline/budget.h"

namespace leapp::cli {
namespace {

struct DiffOptions {
  std::string a;
  std::string b;
  double atol = 0;
  bundle::FileOptions files{.verify_checksums = false, .memory_limit = runtime::default_memory_limit()};
};

std::string side_text(const std::string& text) { return text.empty() ? "-" : text; }

std::string table_text(const std::vector<BundleDifference>& differences, const Context& context) {
  Table table({{"what"}, {"where"}, {"A"}, {"B"}, {"max |diff|", true}});
  for (const BundleDifference& one : differences) {
    table.add({one.what, one.place, side_text(one.a), side_text(one.b),
               one.largest ? fmt::format("{:.3g}", *one.largest) : ""});
  }
  return table.text(context);
}

Json to_json(const std::vector<BundleDifference>& differences) {
  const auto side = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json list = Json::array();
  for (const BundleDifference& one : differences) {
    Json entry = {{"what", one.what}, {"where", one.place}, {"a", side(one.a)}, {"b", side(one.b)}};
    // JSON has no infinity.
    if (one.largest) entry["max_abs_diff"] = std::isfinite(*one.largest) ? Json(*one.largest) : Json("inf");
    list.push_back(std::move(entry));
  }
  return list;
}

void append(std::vector<BundleDifference>& all, std::vector<BundleDifference> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Result<ExitCode> diff(const DiffOptions& options, Context& context) {
  LEAPP_ASSIGN_OR_RETURN(const OpenedBundle a, open_bundle(options.a));
  LEAPP_ASSIGN_OR_RETURN(const OpenedBundle b, open_bundle(options.b));
  std::vector<BundleDifference> differences = diff_specs(a.spec, b.spec);
  {
    Progress progress(context, "models compared", a.spec.models.size());
    append(differences,
           diff_models(a, b, {.atol = options.atol, .files = options.files, .progress = [&](std::size_t done) {
                                progress.at(done);
                              }}));
  }
  append(differences, diff_initial_values(a, b, {.atol = options.atol, .files = options.files}));
  const std::vector<BundleDifference> systems = diff_systems(a.spec, b.spec);
  if (context.json) {
    context.print_json({{"a", a.yaml.string()},
                        {"b", b.yaml.string()},
                        {"same", differences.empty()},
                        {"differences", to_json(differences)},
                        {"system_information", to_json(systems)}});
  } else {
    context.print(fmt::format("A  {}\nB  {}\n", one_line(a.yaml.string()), one_line(b.yaml.string())));
    if (!systems.empty()) context.print("\nmade with\n" + table_text(systems, context));
    context.print(differences.empty() ? "\n" + context.styled("no differences", Style::kGreen) + "\n"
                                      : fmt::format("\n{}\n", plural(differences.size(), "difference")) +
                                            table_text(differences, context));
  }
  return differences.empty() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App& command = add_command(app, context,
                                  {.name = "diff",
                                   .summary = "Compare two bundles (exit code 1 if they differ)",
                                   .examples = "  leapp diff walk_v1/walk.yaml walk_v2/walk.yaml\n"
                                               "  leapp diff walk_v1 walk_v2 --atol 1e-6 --json"},
                                  [options, &context] { return diff(*options, context); });
  command.add_option("a", options->a, "A bundle's YAML file or its folder")->required();
  command.add_option("b", options->b, "another")->required();
  command.add_flag("--allow-outside", options->files.allow_outside, "Allow models outside the bundles' folders");
  add_memory_limit(command, options->files.memory_limit);
  command.add_option("--atol", options->atol, "Absolute tolerance for weights (0)")->check(CLI::NonNegativeNumber);
}

}  // namespace leapp::cli
