// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "leapp/bundle/check.h"
#include "leapp/bundle/reader.h"
#include "onnx_proto/external_data.h"
#include "runtime/pipeline_access.h"
#include "runtime/pipeline_impl.h"

namespace leapp::runtime {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const std::vector<EndPlan>& ends) {
  std::vector<std::string> names;
  for (const EndPlan& end : ends) names.push_back(end.name);
  return names;
}

// A folder stands for the YAML file of its name.
fs::path yaml_of(const fs::path& bundle) {
  std::error_code error;
  if (!fs::is_directory(bundle, error)) return bundle;
  const fs::path folder = fs::canonical(bundle, error);
  return folder / (folder.filename().string() + ".yaml");
}

Status in_file(const fs::path& yaml, const Status& status) {
  return {status.code(), fmt::format("{}: {}", yaml.string(), status.message())};
}

/// What stays the same while one bundle is loaded.
struct Loading {
  fs::path folder;
  bundle::FileOptions files;
  const EngineOpener& open;
};

// Weights beside an ONNX model are read by the engine itself: look first where it would look. True: there are some.
Result<bool> check_external_data(const Loading& loading, const bundle::Model& model, const bundle::ModelFile& file) {
  if (model.parameters.backend != "onnx") return false;
  const std::string place = fmt::format("models.{} ({}): ", model.name, file.path.filename().string());
  auto names = onnx::external_data_files(file.bytes);
  if (!names.ok()) return Status(names.status().code(), place + names.status().message());
  for (const std::string& name : names.value()) {
    const auto path = bundle::locate_file(loading.folder, (file.path.parent_path() / name).string(), loading.files);
    if (!path.ok()) return Status(path.status().code(), place + "external data: " + path.status().message());
    if (loading.files.verify_checksums) {
      LEAPP_RETURN_IF_ERROR(bundle::check_external_data(model, name, path.value()));
    }
  }
  return !names.value().empty();
}

Result<std::unique_ptr<engine::Model>> load_model(const Loading& loading, const bundle::Model& model,
                                                  std::map<std::string, std::unique_ptr<engine::Engine>>& engines) {
  LEAPP_ASSIGN_OR_RETURN(const bundle::ModelFile file, bundle::read_model(loading.folder, model, loading.files));
  LEAPP_ASSIGN_OR_RETURN(const bool external, check_external_data(loading, model, file));
  const std::string& backend = *model.parameters.backend;
  std::unique_ptr<engine::Engine>& engine = engines[backend];
  if (!engine) {
    auto opened = loading.open(backend);
    if (!opened.ok()) {
      return Status(opened.status().code(), fmt::format("node {}: {}", model.name, opened.status().message()));
    }
    engine = std::move(opened).value();
  }
  return engine->load({.name = fmt::format("models.{} ({})", model.name, file.path.filename().string()),
                       .path = file.path,
                       .bytes = external ? std::span<const std::byte>() : file.bytes});
}

}  // namespace

Result<Pipeline> PipelineAccess::load(const fs::path& bundle, const LoadOptions& options, const EngineOpener& open) {
  const fs::path yaml = yaml_of(bundle);
  const Loading loading{yaml.parent_path(), {options.allow_outside, options.verify_checksums}, open};
  LEAPP_ASSIGN_OR_RETURN(bundle::BundleSpec spec, bundle::read_bundle(yaml));
  auto wiring = bundle::check_wiring(spec);
  if (!wiring.ok()) return in_file(yaml, wiring.status());
  const Status models = bundle::join_problems(bundle::find_model_problems(spec));
  if (!models.ok()) return in_file(yaml, models);

  Plan plan = make_plan(spec, wiring.value());
  auto initial_values = read_initial_values(loading.folder, spec, plan, loading.files);
  if (!initial_values.ok()) return in_file(yaml, initial_values.status());
  auto buffers = Buffers::allocate(plan.buffers);
  if (!buffers.ok()) return in_file(yaml, buffers.status());
  auto impl = std::make_unique<Pipeline::Impl>(std::move(buffers).value());
  for (const NodePlan& node : plan.nodes) {
    auto model = load_model(loading, spec.models[node.model], impl->engines);
    if (!model.ok()) return in_file(yaml, model.status());
    impl->nodes.push_back({std::move(model).value(), {}});
  }
  impl->initial_values = std::move(initial_values).value();
  impl->input_names = names_of(plan.inputs);
  impl->output_names = names_of(plan.outputs);
  impl->state_names = names_of(plan.states);
  impl->spec = std::move(spec);
  impl->plan = std::move(plan);
  Pipeline pipeline(std::move(impl));
  if (options.prepare) {
    const Status prepared = pipeline.prepare();
    if (!prepared.ok()) return in_file(yaml, prepared);
  }
  return pipeline;
}

Result<Pipeline> Pipeline::load(const fs::path& bundle, const LoadOptions& options) {
  return PipelineAccess::load(bundle, options,
                              [&](const std::string& backend) { return open_engine(backend, options.engine); });
}

}  // namespace leapp::runtime
