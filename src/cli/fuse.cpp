// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bundle/folder/folder.h"
#include "bundle/folder/owned_files.h"
#include "bundle/writer.h"
#include "cli/commands.h"
#include "cli/console/load_flags.h"
#include "cli/console/progress.h"
#include "cli/console/table.h"
#include "cli/console/timeout.h"
#include "fleet/fused_bundle.h"
#include "inspect/compare.h"
#include "inspect/opened_bundle.h"
#include "inspect/words.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/budget.h"
#include "runtime/pipeline/mock.h"

namespace leapp::cli {
namespace {

namespace fs = std::filesystem;

struct FuseOptions {
  std::string bundle;
  std::string output;
  std::string node;
  std::size_t steps = 100;
  std::uint64_t seed = 0;
  Tolerance tolerance;
  runtime::LoadOptions load;
};

/// How two pipelines that should do the same compare, port by port.
struct Agreement {
  struct Port {
    std::string original;
    std::string fused;
    double largest = 0;
    std::optional<std::size_t> first_step;  ///< outside the tolerance
  };
  std::vector<Port> ports;

  [[nodiscard]] bool good() const {
    return std::none_of(ports.begin(), ports.end(), [](const Port& port) { return port.first_step.has_value(); });
  }
};

/// Steps the original and the fused bundle with the same inputs.
class Comparison {
 public:
  Comparison(const FuseOptions& options, const FusedBundle& fused) : options_(options), fused_(fused) {}

  Result<Agreement> run(const fs::path& original, const fs::path& written, const Context& context) {
    runtime::LoadOptions load = options_.load;
    load.fuse = false;
    LEAPP_ASSIGN_OR_RETURN(a_, runtime::Pipeline::load(original, load));
    LEAPP_ASSIGN_OR_RETURN(b_, runtime::Pipeline::load(written, load));
    for (const auto& [from, to] : fused_.outputs) agreement_.ports.push_back({from, to, 0, std::nullopt});
    for (const auto& [from, to] : fused_.states) agreement_.ports.push_back({from, to, 0, std::nullopt});
    for (const auto& [from, to] : fused_.inputs) sources_.emplace_back(options_.seed, from);
    Progress progress(context, "steps compared", options_.steps);
    for (std::size_t step = 0; step < options_.steps; ++step) {
      LEAPP_RETURN_IF_ERROR(feed());
      heartbeat(ExitCode::kFindings);
      if (a_->step() != runtime::StepResult::kOk) return a_->error();
      if (b_->step() != runtime::StepResult::kOk) return b_->error();
      LEAPP_RETURN_IF_ERROR(compare_step(step));
      progress.at(step + 1);
    }
    return std::move(agreement_);
  }

 private:
  Status feed() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      LEAPP_ASSIGN_OR_RETURN(const TensorView from, a_->input(fused_.inputs[i].first));
      LEAPP_ASSIGN_OR_RETURN(const TensorView to, b_->input(fused_.inputs[i].second));
      sources_[i].fill(from);
      std::memcpy(to.data, from.data, from.size() * dtype_size(from.dtype));
    }
    return {};
  }

  Status compare_step(std::size_t step) {
    for (std::size_t i = 0; i < agreement_.ports.size(); ++i) {
      Agreement::Port& port = agreement_.ports[i];
      const bool output = i < fused_.outputs.size();
      LEAPP_ASSIGN_OR_RETURN(const TensorView a,
                             output ? std::as_const(*a_).output(port.original) : a_->feedback_input(port.original));
      LEAPP_ASSIGN_OR_RETURN(const TensorView b,
                             output ? std::as_const(*b_).output(port.fused) : b_->feedback_input(port.fused));
      const std::span<const std::byte> expected(static_cast<const std::byte*>(a.data), a.size() * dtype_size(a.dtype));
      const TensorDifference found = compare(b, expected, options_.tolerance);
      port.largest = std::max(port.largest, found.largest);
      if (found.first && !port.first_step) port.first_step = step;
    }
    return {};
  }

  const FuseOptions& options_;
  const FusedBundle& fused_;
  std::optional<runtime::Pipeline> a_;
  std::optional<runtime::Pipeline> b_;
  std::vector<runtime::MockSource> sources_;
  Agreement agreement_;
};

/// Where the new bundle goes, and what it is called.
struct Target {
  fs::path folder;
  fs::path yaml;  ///< as the user would name it
  FuseNames names;
};

Result<Target> choose_target(const FuseOptions& options, const OpenedBundle& opened) {
  const std::string output = options.output.empty() ? opened.name + "_fused" : options.output;
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(output, error), error);
  const std::string name = folder.filename().string();
  if (error || name.empty() || name == "." || name == "..") {
    return invalid_argument(fmt::format("--output: expected the folder of the new bundle, found {}", output));
  }
  if (fs::exists(folder, error) &&
      fs::equivalent(folder, opened.folder.empty() ? fs::path(".") : opened.folder, error)) {
    return invalid_argument("--output: expected another folder than the bundle's own");
  }
  const std::string node = options.node.empty() ? opened.name : options.node;
  if (node == "." || node == ".." || node.find_first_of("/\\") != std::string::npos) {
    return invalid_argument(fmt::format("--node: expected a name without slashes, found {}", node));
  }
  return Target{folder, fs::path(output) / (name + ".yaml"), {name, node}};
}

Status write_all(bundle::StagedFolder& staged, const FusedBundle& fused, const FuseNames& names) {
  LEAPP_RETURN_IF_ERROR(staged.write(*fused.spec.models.front().parameters.model_path, fused.model));
  if (!fused.initial_values.empty()) {
    LEAPP_RETURN_IF_ERROR(staged.write(*fused.spec.pipeline.initial_values, fused.initial_values));
  }
  return staged.write(names.bundle + ".yaml", bundle::yaml_text(fused.spec));
}

std::string agreement_text(const Agreement& agreement, const Context& context) {
  Table table({{"original"}, {"fused"}, {"max |diff|", true}, {"first step outside", true}});
  for (const Agreement::Port& port : agreement.ports) {
    table.add({port.original, port.fused, fmt::format("{:.3g}", port.largest),
               port.first_step ? std::to_string(*port.first_step) : ""},
              port.first_step ? Style::kRed : Style::kPlain);
  }
  return table.text(context);
}

Json agreement_json(const Agreement& agreement) {
  Json ports = Json::array();
  for (const Agreement::Port& port : agreement.ports) {
    ports.push_back({{"original", port.original},
                     {"fused", port.fused},
                     {"max_abs_diff", port.largest},
                     {"first_step_outside", port.first_step ? Json(*port.first_step) : Json(nullptr)}});
  }
  return ports;
}

void print(const FuseOptions& options, const Target& target, const Agreement& agreement, Context& context) {
  const std::string yaml = target.yaml.string();
  if (context.json) {
    context.print_json({{"written", agreement.good() ? Json(yaml) : Json(nullptr)},
                        {"node", target.names.node},
                        {"steps", options.steps},
                        {"agrees", agreement.good()},
                        {"rtol", options.tolerance.rtol},
                        {"atol", options.tolerance.atol},
                        {"ports", agreement_json(agreement)}});
    return;
  }
  context.print(agreement_text(agreement, context));
  context.print(agreement.good() ? fmt::format("{} over {}; written to {}\n", context.styled("agrees", Style::kGreen),
                                               plural(options.steps, "step"), one_line(yaml))
                                 : fmt::format("{} from the original: nothing was written\n",
                                               context.styled("differs", Style::kRed)));
}

Result<ExitCode> fuse(const FuseOptions& options, Context& context) {
  LEAPP_ASSIGN_OR_RETURN(const OpenedBundle opened, open_bundle(options.bundle));
  LEAPP_ASSIGN_OR_RETURN(const Target target, choose_target(options, opened));
  const bundle::FileOptions files{.allow_outside = options.load.allow_outside,
                                  .verify_checksums = options.load.verify_checksums,
                                  .memory_limit = runtime::memory_limit_of(options.load.memory_limit)};
  auto fused = fuse_bundle(opened, target.names, files);
  if (!fused.ok()) {
    return Status(fused.status().code(), fmt::format("{}: {}", opened.yaml.string(), fused.status().message()));
  }
  LEAPP_ASSIGN_OR_RETURN(bundle::StagedFolder staged, bundle::StagedFolder::create(target.folder));
  LEAPP_RETURN_IF_ERROR(write_all(staged, fused.value(), target.names));
  Comparison comparison(options, fused.value());
  LEAPP_ASSIGN_OR_RETURN(const Agreement agreement,
                         comparison.run(opened.yaml, staged.path(target.names.bundle + ".yaml"), context));
  if (agreement.good()) {
    LEAPP_RETURN_IF_ERROR(staged.commit(bundle::files_of_bundle(target.folder, target.names.bundle)));
  }
  print(options, target, agreement, context);
  return agreement.good() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_fuse(CLI::App& app, Context& context) {
  const auto options = std::make_shared<FuseOptions>();
  CLI::App& command = add_command(app, context,
                                  {.name = "fuse",
                                   .summary = "Fuse all ONNX nodes into one and verify the result",
                                   .examples = "  leapp fuse walk/walk.yaml --output walk_fused\n"
                                               "  leapp check walk_fused --target isaac-ros"},
                                  [options, &context] { return fuse(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_option("-o,--output", options->output, "Folder of the new bundle (the old name with _fused)");
  command.add_option("--node", options->node, "Name of the new node (the old bundle's name)");
  command.add_option("-n,--steps", options->steps, "Number of steps to compare (100)")->check(CLI::PositiveNumber);
  command.add_option("--seed", options->seed, "Seed of the random inputs (0)");
  command.add_option("--rtol", options->tolerance.rtol, "Relative tolerance (0.001)")->check(CLI::NonNegativeNumber);
  command.add_option("--atol", options->tolerance.atol, "Absolute tolerance (0.00001)")->check(CLI::NonNegativeNumber);
  add_load_options(command, options->load);
}

}  // namespace leapp::cli
