// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/text.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/history.h"
#include "leapp/bundle/reader.h"
#include "onnx_proto/external_data.h"
#include "runtime/fuse.h"
#include "runtime/pipeline_access.h"
#include "runtime/pipeline_impl.h"

namespace leapp::runtime {
namespace {

namespace fs = std::filesystem;

template <typename End>
std::vector<std::string> names_of(const std::vector<End>& ends) {
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

bundle::NodePorts ports_of(const bundle::Model& model, const std::vector<bundle::Port>& ports) {
  std::vector<std::string> names;
  for (const bundle::Port& port : ports) names.push_back(port.name);
  return names.empty() ? bundle::NodePorts() : bundle::NodePorts{{model.name, names}};
}

// A pipeline of one node of `spec`, with nothing fed back.
Status keep_only(const std::string& node, bundle::BundleSpec& spec) {
  std::erase_if(spec.models, [&](const bundle::Model& model) { return model.name != node; });
  if (spec.models.empty()) return not_found(fmt::format("there is no node {}", quote(node)));
  const bundle::Model& model = spec.models.front();
  bundle::drop_histories(spec);
  spec.pipeline = {.inputs = ports_of(model, model.inputs), .outputs = ports_of(model, model.outputs)};
  return {};
}

std::vector<engine::TensorInfo> infos_of(const std::vector<bundle::Port>& ports) {
  std::vector<engine::TensorInfo> infos;
  for (const bundle::Port& port : ports) infos.push_back({port.name, port.dtype, port.shape});
  return infos;
}

engine::Report report_of(const engine::Model& model, const std::string& name) {
  engine::Report report = model.report();
  report.model = name;
  return report;
}

void add_all_outputs(const bundle::BundleSpec& spec, bundle::Wiring& wiring) {
  for (const std::size_t node : wiring.order) {
    for (std::size_t port = 0; port < spec.models[node].outputs.size(); ++port) {
      const bundle::PortIndex at{node, port};
      if (std::find(wiring.outputs.begin(), wiring.outputs.end(), at) == wiring.outputs.end()) {
        wiring.outputs.push_back(at);
      }
    }
  }
}

}  // namespace

/// Makes the inside of a pipeline from a bundle that was read and checked, in either of two ways.
class PipelineAccess::Loader {
 public:
  using Impl = Pipeline::Impl;

  Loader(fs::path yaml, const LoadOptions& options, EngineOpener open)
      : yaml_(std::move(yaml)),
        fuse_(options.fuse),
        all_outputs_(options.all_outputs),
        options_{
            .allow_outside = options.allow_outside, .verify_checksums = options.verify_checksums, .md5_too = false},
        open_(std::move(open)) {}

  /// `node`: only that one, if it is not empty.
  Status read(const std::string& node = {}) {
    LEAPP_ASSIGN_OR_RETURN(spec_, bundle::read_bundle(yaml_));
    if (!node.empty()) LEAPP_RETURN_IF_ERROR(at(keep_only(node, spec_)));
    auto wiring = bundle::check_wiring(spec_);
    if (!wiring.ok()) return at(wiring.status());
    wiring_ = std::move(wiring).value();
    if (all_outputs_) add_all_outputs(spec_, wiring_);
    files_.resize(spec_.models.size());
    return at(bundle::join_problems(bundle::find_model_problems(spec_)));
  }

  /// One model for all nodes when that is possible, else one for each.
  static Result<std::unique_ptr<Impl>> load(const std::shared_ptr<Loader>& self) {
    auto fused = self->fused();
    if (fused.ok()) {
      fused.value()->separate = [self] { return self->separate(); };
      return fused;
    }
    auto separate = self->separate();
    if (separate.ok()) separate.value()->fusion = fused.status();
    return separate;
  }

  [[nodiscard]] Status at(const Status& status) const {
    return status.ok() ? status : Status(status.code(), fmt::format("{}: {}", yaml_.string(), status.message()));
  }

 private:
  Result<std::unique_ptr<Impl>> separate();
  Result<std::unique_ptr<Impl>> fused();
  [[nodiscard]] Status may_fuse() const;
  Result<std::unique_ptr<Impl>> make(const bundle::BundleSpec& runs, const bundle::Wiring& wiring) const;
  Result<const bundle::ModelFile*> file(std::size_t node);
  void compare_md5(const bundle::Model& model, const std::shared_ptr<const bundle::ModelFile>& file);
  Status wait_for_md5();
  Result<bool> check_external_data(const bundle::Model& model, const bundle::ModelFile& file) const;
  Result<std::unique_ptr<engine::Model>> load_model(std::size_t node, Impl& impl);
  Result<engine::Engine*> engine(const std::string& backend, Impl& impl) const;

  fs::path yaml_;
  bool fuse_;
  bool all_outputs_;
  bundle::FileOptions options_;
  EngineOpener open_;
  bundle::BundleSpec spec_;
  bundle::Wiring wiring_;
  std::vector<std::shared_ptr<const bundle::ModelFile>> files_;  ///< what was read and is not yet loaded
  std::vector<std::future<Status>> md5_;                         ///< of models that have been read
};

Result<const bundle::ModelFile*> PipelineAccess::Loader::file(std::size_t node) {
  if (!files_[node]) {
    const bundle::Model& model = spec_.models[node];
    LEAPP_ASSIGN_OR_RETURN(bundle::ModelFile read, bundle::read_model(yaml_.parent_path(), model, options_));
    files_[node] = std::make_shared<const bundle::ModelFile>(std::move(read));
    compare_md5(model, files_[node]);
  }
  return files_[node].get();
}

// The SHA-256 says that the bytes are the right ones before anybody parses them. The MD5, for which one would wait a
// third of the time that loading takes, can only say that the YAML contradicts itself: it is compared meanwhile.
void PipelineAccess::Loader::compare_md5(const bundle::Model& model,
                                         const std::shared_ptr<const bundle::ModelFile>& file) {
  if (!options_.verify_checksums || !model.parameters.sha256sum || !model.parameters.md5sum) return;
  // By default a task that gets no thread of its own runs when it is waited for.
  md5_.push_back(std::async([model, file] { return bundle::check_md5(model, file->bytes); }));
}

Status PipelineAccess::Loader::wait_for_md5() {
  Status found;
  for (std::future<Status>& sum : md5_) {
    const Status status = sum.get();
    if (found.ok()) found = status;
  }
  md5_.clear();
  return found;
}

// Weights beside an ONNX model are read by the engine itself: look first where it would look. True: there are some.
Result<bool> PipelineAccess::Loader::check_external_data(const bundle::Model& model,
                                                         const bundle::ModelFile& file) const {
  if (model.parameters.backend != "onnx") return false;
  const std::string place = fmt::format("models.{} ({}): ", model.name, file.path.filename().string());
  auto names = onnx::external_data_files(file.bytes);
  if (!names.ok()) return Status(names.status().code(), place + names.status().message());
  for (const std::string& name : names.value()) {
    const auto path = bundle::locate_file(yaml_.parent_path(), (file.path.parent_path() / name).string(), options_);
    if (!path.ok()) return Status(path.status().code(), place + "external data: " + path.status().message());
    if (options_.verify_checksums) {
      LEAPP_RETURN_IF_ERROR(bundle::check_external_data(model, name, path.value()));
    }
  }
  return !names.value().empty();
}

Result<engine::Engine*> PipelineAccess::Loader::engine(const std::string& backend, Impl& impl) const {
  std::unique_ptr<engine::Engine>& engine = impl.engines[backend];
  if (!engine) {
    LEAPP_ASSIGN_OR_RETURN(engine, open_(backend));
  }
  return engine.get();
}

Result<std::unique_ptr<engine::Model>> PipelineAccess::Loader::load_model(std::size_t node, Impl& impl) {
  const bundle::Model& model = spec_.models[node];
  LEAPP_ASSIGN_OR_RETURN(const bundle::ModelFile* read, file(node));
  LEAPP_ASSIGN_OR_RETURN(const bool external, check_external_data(model, *read));
  auto opened = engine(*model.parameters.backend, impl);
  if (!opened.ok()) {
    return Status(opened.status().code(), fmt::format("node {}: {}", model.name, opened.status().message()));
  }
  auto loaded = opened.value()->load({.name = fmt::format("models.{} ({})", model.name, read->path.filename().string()),
                                      .path = read->path,
                                      .bytes = external ? std::span<const std::byte>() : read->bytes,
                                      .inputs = infos_of(model.inputs)});
  if (loaded.ok() && loaded.value()->report().engine.empty()) {
    loaded.value()->set_report({model.name, opened.value()->description(), false, "", {}});
  }
  files_[node].reset();
  return loaded;
}

Result<std::unique_ptr<Pipeline::Impl>> PipelineAccess::Loader::make(const bundle::BundleSpec& runs,
                                                                     const bundle::Wiring& wiring) const {
  Plan plan = make_plan(runs, wiring);
  LEAPP_ASSIGN_OR_RETURN(InitialValues values, read_initial_values(yaml_.parent_path(), spec_, plan, options_));
  LEAPP_ASSIGN_OR_RETURN(Buffers buffers, Buffers::allocate(plan.buffers));
  auto impl = std::make_unique<Impl>(std::move(buffers));
  impl->initial_values = std::move(values);
  if (!spec_.pipeline.initial_values && !plan.states.empty()) {
    impl->notes.push_back(
        fmt::format("{}: pipeline.initial_values: there is none, so {} from zeros", yaml_.string(),
                    join(names_of(plan.states), ", ") + (plan.states.size() > 1 ? " start" : " starts")));
  }
  impl->input_names = names_of(plan.inputs);
  impl->output_names = names_of(plan.outputs);
  impl->state_names = names_of(plan.states);
  impl->spec = spec_;
  impl->models = runs.models;
  impl->plan = std::move(plan);
  LEAPP_ASSIGN_OR_RETURN(const std::vector<bundle::History> histories, bundle::histories_of(spec_, wiring_));
  impl->first_frame = FirstFrame::make(histories, impl->plan, impl->buffers);
  return impl;
}

Result<std::unique_ptr<Pipeline::Impl>> PipelineAccess::Loader::separate() {
  auto impl = make(spec_, wiring_);
  if (!impl.ok()) return at(impl.status());
  for (const NodePlan& node : impl.value()->plan.nodes) {
    auto model = load_model(node.model, *impl.value());
    if (!model.ok()) return at(model.status());
    impl.value()->engine_reports.push_back(report_of(*model.value(), impl.value()->models[node.model].name));
    impl.value()->nodes.push_back({std::move(model).value(), {}});
  }
  LEAPP_RETURN_IF_ERROR(at(wait_for_md5()));
  return impl;
}

Status PipelineAccess::Loader::may_fuse() const {
  if (!fuse_) return failed_precondition("the option fuse is off");
  if (spec_.models.size() < 2) return failed_precondition("there is only one node");
  for (const bundle::Model& model : spec_.models) {
    if (model.parameters.backend != "onnx") {
      return failed_precondition(fmt::format("node {}: expected an ONNX model, found {}", model.name,
                                             quote(model.parameters.backend.value_or("none"))));
    }
  }
  return {};
}

Result<std::unique_ptr<Pipeline::Impl>> PipelineAccess::Loader::fused() {
  LEAPP_RETURN_IF_ERROR(may_fuse());
  FuseRequest request{.spec = spec_, .wiring = wiring_, .models = {}};
  for (std::size_t node = 0; node < spec_.models.size(); ++node) {
    LEAPP_ASSIGN_OR_RETURN(const bundle::ModelFile* read, file(node));
    request.models.emplace_back(read->bytes);
  }
  LEAPP_ASSIGN_OR_RETURN(const std::string bytes, fuse_models(request));
  // ONNX Runtime is about to make copies of its own.
  files_.assign(files_.size(), nullptr);
  FusedPipeline fused = fuse_wiring(spec_, wiring_, whole_name);
  bundle::BundleSpec runs;
  runs.models.push_back(std::move(fused.model));
  LEAPP_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, make(runs, fused.wiring));
  LEAPP_ASSIGN_OR_RETURN(engine::Engine * engine, this->engine("onnx", *impl));
  LEAPP_ASSIGN_OR_RETURN(auto model, engine->load({.name = "the fused model",
                                                   .path = yaml_,
                                                   .bytes = std::as_bytes(std::span(bytes)),
                                                   .inputs = infos_of(runs.models[0].inputs)}));
  if (model->report().engine.empty()) model->set_report({"", engine->description(), false, "", {}});
  LEAPP_RETURN_IF_ERROR(wait_for_md5());
  impl->engine_reports.push_back(report_of(*model, "the fused model"));
  impl->nodes.push_back({std::move(model), {}});
  return impl;
}

Result<Pipeline> PipelineAccess::load(const fs::path& bundle, const LoadOptions& options, EngineOpener open) {
  return load_node(bundle, {}, options, std::move(open));
}

Result<Pipeline> PipelineAccess::load_node(const fs::path& bundle, const std::string& node, const LoadOptions& options,
                                           EngineOpener open) {
  const auto loader = std::make_shared<Loader>(yaml_of(bundle), options, std::move(open));
  LEAPP_RETURN_IF_ERROR(loader->read(node));
  LEAPP_ASSIGN_OR_RETURN(std::unique_ptr<Pipeline::Impl> impl, Loader::load(loader));
  Pipeline pipeline(std::move(impl));
  if (options.prepare) LEAPP_RETURN_IF_ERROR(loader->at(pipeline.prepare()));
  return pipeline;
}

Result<Pipeline> Pipeline::load(const fs::path& bundle, const LoadOptions& options) {
  return PipelineAccess::load(
      bundle, options, [engine = options.engine](const std::string& backend) { return open_engine(backend, engine); });
}

}  // namespace leapp::runtime
