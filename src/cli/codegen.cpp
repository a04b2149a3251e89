// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/generate.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/text.h"
#include "bundle/folder/folder.h"
#include "cli/commands.h"
#include "cli/console/load_flags.h"
#include "cli/console/table.h"
#include "inspect/numbers.h"
#include "inspect/opened_bundle.h"
#include "inspect/words.h"
#include "runtime/pipeline/budget.h"
#include "runtime/pipeline/fuse.h"
#include "runtime/pipeline/plan.h"
#include "runtime/pipeline/state.h"

namespace leapp::cli {
namespace {

namespace fs = std::filesystem;

struct CodegenOptions {
  std::string bundle;
  std::string output;
  bundle::FileOptions files{.memory_limit = runtime::default_memory_limit()};
};

/// The bundle as the generator wants it: one model, its wiring and initial values.
class OneModel {
 public:
  OneModel(const OpenedBundle& opened, const bundle::FileOptions& files) : opened_(opened), files_(files) {}

  Status read() {
    LEAPP_RETURN_IF_ERROR(bundle::join_problems(opened_.report.problems));
    LEAPP_RETURN_IF_ERROR(bundle::join_problems(bundle::find_model_problems(opened_.spec)));
    LEAPP_ASSIGN_OR_RETURN(const std::vector<bundle::ModelFile> models, read_onnx_models(opened_, files_));
    runtime::FuseRequest request{.spec = opened_.spec, .wiring = wiring(), .models = {}};
    for (const bundle::ModelFile& file : models) request.models.emplace_back(file.bytes);
    LEAPP_ASSIGN_OR_RETURN(bytes_, runtime::fuse_models(request));
    for (const bundle::ModelFile& file : models) LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(file));
    fused_ = runtime::fuse_wiring(opened_.spec, wiring(), runtime::whole_name);
    return read_values();
  }

  [[nodiscard]] codegen::Request request() const {
    return {opened_.name, std::as_bytes(std::span(bytes_)), fused_.model, fused_.wiring, values_, files_.memory_limit};
  }

 private:
  [[nodiscard]] const bundle::Wiring& wiring() const { return opened_.report.wiring; }

  // The plan knows the states by the names of their ports; the generator by their edges.
  Status read_values() {
    const runtime::PipelinePlan plan = runtime::make_plan(opened_.spec, wiring());
    LEAPP_ASSIGN_OR_RETURN(const runtime::InitialValues values,
                           runtime::read_initial_values(opened_.folder, opened_.spec, plan, files_));
    for (const bundle::Edge& edge : fused_.wiring.edges) {
      values_.emplace_back();
      for (std::size_t i = 0; i < plan.states.size(); ++i) {
        if (plan.states[i].name == fused_.model.inputs[edge.to.port].name) values_.back() = values[i];
      }
    }
    return {};
  }

  const OpenedBundle& opened_;
  const bundle::FileOptions& files_;
  std::string bytes_;
  runtime::FusedPipeline fused_;
  std::vector<std::vector<std::byte>> values_;
};

bool is_generated(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string line;
  return std::getline(stream, line) && line.starts_with(codegen::kFirstWords);
}

// A folder that holds anything but what an earlier run wrote is somebody's: nothing of it is touched.
Status check_target(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status))
    return invalid_argument(fmt::format("--output: expected a folder, found the file {}", folder.string()));
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file(error) && !entry->is_symlink(error) && is_generated(entry->path())) continue;
    return invalid_argument(
        fmt::format("--output: expected a new folder or one with generated files only, found {} in it",
                    entry->path().filename().string()));
  }
  if (error) return io_error(fmt::format("--output: cannot read {}: {}", folder.string(), error.message()));
  return {};
}

Status write(const fs::path& output, const codegen::Sources& sources) {
  std::error_code error;
  fs::path folder = output.empty() ? output : fs::weakly_canonical(fs::absolute(output, error), error);
  if (folder.filename().empty()) folder = folder.parent_path();  // a slash at the end
  if (error || folder.filename().empty()) {
    return invalid_argument(fmt::format("--output: expected a folder, found {}", quote(output.string())));
  }
  LEAPP_RETURN_IF_ERROR(check_target(folder));
  std::vector<std::string> earlier;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    earlier.push_back(entry->path().filename().string());
  }
  LEAPP_ASSIGN_OR_RETURN(bundle::StagedFolder staged, bundle::StagedFolder::create(folder));
  LEAPP_RETURN_IF_ERROR(staged.write(sources.name + ".h", sources.header));
  LEAPP_RETURN_IF_ERROR(staged.write(sources.name + ".cpp", sources.source));
  return staged.commit(earlier);
}

void print_refusal(const codegen::Sources& sources, Context& context) {
  if (context.json) {
    Json rows = Json::array();
    for (const native::Uncovered& one : sources.uncovered) {
      rows.push_back({{"operator", one.op}, {"node", one.node}, {"makes", one.port}, {"why", one.why}});
    }
    return context.print_json({{"written", nullptr}, {"not_covered", rows}});
  }
  Table table({{"operator"}, {"node"}, {"makes"}, {"why it has no source form"}});
  for (const native::Uncovered& one : sources.uncovered) table.add({one.op, one.node, one.port, one.why});
  context.print(table.text(context));
  context.print(
      fmt::format("{} nothing was written\n",
                  context.styled(plural(sources.uncovered.size(), "operator") + " not covered:", Style::kRed)));
}

void print_written(const CodegenOptions& options, const OpenedBundle& opened, const codegen::Sources& sources,
                   Context& context) {
  const fs::path folder(options.output);
  const std::string header = (folder / (sources.name + ".h")).string();
  const std::string source = (folder / (sources.name + ".cpp")).string();
  if (context.json) {
    return context.print_json({{"written", {header, source}},
                               {"namespace", sources.name},
                               {"steps", sources.steps},
                               {"weight_bytes", sources.weight_bytes},
                               {"state_bytes", sources.state_bytes}});
  }
  context.print(fmt::format("{}: {}, {} bytes of weights, {} bytes of state and working memory\n",
                            one_line(opened.name), plural(sources.steps, "step"), sources.weight_bytes,
                            sources.state_bytes));
  context.print(fmt::format("namespace {}; written to {} and {}\n", sources.name, one_line(header), one_line(source)));
}

Result<ExitCode> codegen(const CodegenOptions& options, Context& context) {
  LEAPP_ASSIGN_OR_RETURN(const OpenedBundle opened, open_bundle(options.bundle));
  const auto at = [&](const Status& status) {
    return Status(status.code(), fmt::format("{}: {}", opened.yaml.string(), status.message()));
  };
  OneModel model(opened, options.files);
  if (const Status status = model.read(); !status.ok()) return at(status);
  const auto sources = codegen::generate(model.request());
  if (!sources.ok()) return at(sources.status());
  if (!sources.value().uncovered.empty()) {
    print_refusal(sources.value(), context);
    return ExitCode::kFindings;
  }
  LEAPP_RETURN_IF_ERROR(write(options.output, sources.value()));
  print_written(options, opened, sources.value(), context);
  return ExitCode::kFine;
}

}  // namespace

void add_codegen(CLI::App& app, Context& context) {
  const auto options = std::make_shared<CodegenOptions>();
  CLI::App& command = add_command(app, context,
                                  {.name = "codegen",
                                   .summary = "Generate C++17 source: one file and a header",
                                   .examples = "  leapp codegen walk/walk.yaml --output walk_source\n"
                                               "  c++ -std=c++17 -O2 -c walk_source/walk.cpp"},
                                  [options, &context] { return codegen(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_option("-o,--output", options->output, "Output folder: new, or with generated files only")->required();
  command.add_flag("--allow-outside", options->files.allow_outside, "Allow models outside the bundle's folder");
  command.add_flag_callback(
      "--no-checksums", [options] { options->files.verify_checksums = false; },
      "do not compare the models with their checksums");
  add_memory_limit(command, options->files.memory_limit);
}

}  // namespace leapp::cli
