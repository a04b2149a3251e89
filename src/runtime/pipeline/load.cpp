// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/memory.h"
#include "base/text.h"
#include "bundle/files/verified_files.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/history.h"
#include "leapp/bundle/reader.h"
#include "onnx_proto/external_data.h"
#include "onnx_proto/folding.h"
#include "onnx_proto/limits.h"
#include "runtime/batch/batch.h"
#include "runtime/batch/batch_model.h"
#include "runtime/pipeline/budget.h"
#include "runtime/pipeline/declared_shapes.h"
#include "runtime/pipeline/fuse.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/pipeline/pipeline_impl.h"
#include "runtime/pipeline/private_copies.h"
#include "runtime/reload/file_stamp.h"

namespace leapp::runtime {
namespace {

namespace fs = std::filesystem;

template <typename End>
std::vector<std::string> names_of(const std::vector<End>& ends) {
  std::vector<std::string> names;
  for (const EndPlan& end : ends) names.push_back(end.name);
  return names;
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

// What runs a model of that name, and a note where that is not the engine that suits because something is missing
// there.
void add_report(const engine::EngineModel& model, const std::string& name, std::vector<engine::Report>& reports,
                std::vector<std::string>& notes) {
  engine::Report report = model.report();
  report.model = name;
  const bool lacks = std::any_of(report.operators.begin(), report.operators.end(),
                                 [](const engine::OperatorReport& row) { return !row.native; });
  if (!report.native && lacks) notes.push_back(fmt::format("{} runs on {}: {}", name, report.engine, report.why));
  reports.push_back(std::move(report));
}

std::uint64_t sizes_of(std::span<const fs::path> files) {
  std::uint64_t sum = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) sum += size;
  }
  return sum;
}

void add_all_outputs(const bundle::BundleSpec& spec, bundle::Wiring& wiring) {
  std::set<bundle::PortIndex> known(wiring.outputs.begin(), wiring.outputs.end());
  for (const std::size_t node : wiring.order) {
    for (std::size_t port = 0; port < spec.models[node].outputs.size(); ++port) {
      if (known.insert({node, port}).second) wiring.outputs.push_back({node, port});
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
        allow_torchscript_(options.allow_torchscript),
        batch_(options.batch),
        memory_limit_(memory_limit_of(options.memory_limit)),
        stop_(options.engine.stop),
        options_{
            .allow_outside = options.allow_outside, .verify_checksums = options.verify_checksums, .md5_too = false},
        open_(std::move(open)) {}

  /// From here on only what was signed is read.
  Status trust(const LoadOptions& options) {
    if (options.trusted_keys.empty()) {
      if (options.minimum_serial == 0) return {};
      return invalid_argument(
          fmt::format("minimum_serial: expected trusted_keys with it, found none, and {}", options.minimum_serial));
    }
    LEAPP_ASSIGN_OR_RETURN(auto files,
                           bundle::VerifiedFiles::open(yaml_, {options.trusted_keys, options.minimum_serial}));
    verified_ = std::make_shared<bundle::VerifiedFiles>(std::move(files));
    options_.inspect = [files = verified_, yaml = yaml_](const fs::path& file, std::span<const std::byte> bytes) {
      return files->check(file == yaml ? files->folder() / yaml.filename() : file, bytes);
    };
    return {};
  }

  /// What was signed and is read by nobody.
  Status check_rest() { return verified_ ? verified_->check_rest() : Status(); }

  /// `node`: only that one, if it is not empty.
  Status read(const std::string& node = {}) {
    if (batch_ == 0 || batch_ > kMostRows) {
      return invalid_argument(fmt::format("batch: expected 1 to {} rows, found {}", kMostRows, batch_));
    }
    LEAPP_ASSIGN_OR_RETURN(spec_, bundle::read_bundle(yaml_, options_));
    if (!node.empty()) LEAPP_RETURN_IF_ERROR(at(keep_only(node, spec_)));
    auto wiring = bundle::check_wiring(spec_);
    if (!wiring.ok()) return at(wiring.status());
    wiring_ = std::move(wiring).value();
    if (all_outputs_) add_all_outputs(spec_, wiring_);
    files_.resize(spec_.models.size());
    LEAPP_RETURN_IF_ERROR(at(bundle::join_problems(bundle::find_model_problems(spec_))));
    LEAPP_RETURN_IF_ERROR(at(check_torchscript()));
    const PipelinePlan plan = make_plan(widened_ports(spec_, batch_), wiring_);
    const MemoryNeed need = memory_need(plan, spec_, yaml_.parent_path());
    memory_taken_ = need.ports + need.state;
    return at(check_memory(need, memory_limit_));
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
  /// Loads it for as many rows as there are; what became of that goes to `impl`.
  Result<std::unique_ptr<engine::EngineModel>> load_rows(engine::Engine& engine, const engine::ModelSource& source,
                                                         const bundle::Model& node, Impl& impl) const;
  [[nodiscard]] bool some_node_widens();
  [[nodiscard]] Status check_torchscript() const;
  [[nodiscard]] Status check_limits(const bundle::Model& model, const bundle::ModelFile& file) const;
  Result<std::unique_ptr<Impl>> make(const bundle::BundleSpec& runs, const bundle::Wiring& wiring) const;
  Result<const bundle::ModelFile*> file(std::size_t node);
  void compare_md5(const bundle::Model& model, const std::shared_ptr<const bundle::ModelFile>& file);
  Status wait_for_md5();
  Result<std::vector<fs::path>> find_external_data(const bundle::Model& model, const bundle::ModelFile& file) const;
  Result<engine::ModelSource> source_of(const bundle::Model& model, const bundle::ModelFile& file,
                                        std::optional<PrivateCopies>& copies) const;
  Result<std::unique_ptr<engine::EngineModel>> load_model(std::size_t node, Impl& impl);
  Result<engine::Engine*> engine(const std::string& backend, Impl& impl) const;

  fs::path yaml_;
  bool fuse_;
  bool all_outputs_;
  bool allow_torchscript_;
  std::size_t batch_;
  std::uint64_t memory_limit_;
  std::uint64_t memory_taken_ = 0;  ///< of it, by ports and state
  std::shared_ptr<engine::Stop> stop_;
  bundle::FileOptions options_;
  std::shared_ptr<bundle::VerifiedFiles> verified_;  ///< null: nobody asked for a signature
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
    const Status fits = check_limits(model, read);
    LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(read));
    LEAPP_RETURN_IF_ERROR(fits);
    files_[node] = std::make_shared<const bundle::ModelFile>(std::move(read));
    compare_md5(model, files_[node]);
  }
  return files_[node].get();
}

Status PipelineAccess::Loader::check_torchscript() const {
  if (allow_torchscript_) return {};
  for (const bundle::Model& model : spec_.models) {
    if (model.parameters.backend == "onnx") continue;
    return failed_precondition(
        fmt::format("models.{}: a {} model is a program and is not run unless the option allow_torchscript is set",
                    model.name, model.parameters.backend.value_or("")));
  }
  return {};
}

Status PipelineAccess::Loader::check_limits(const bundle::Model& model, const bundle::ModelFile& file) const {
  if (model.parameters.backend != "onnx") return {};
  Status found = onnx::check_limits(file.bytes, {.tensor_bytes = memory_limit_});
  if (found.ok()) found = check_declared_shapes(model, file.bytes);
  if (found.ok()) return found;
  return {found.code(), fmt::format("models.{} ({}): {}", model.name, file.path.filename().string(), found.message())};
}

// The SHA-256 says that the bytes are the right ones before anybody parses them. The MD5, for which one would wait a
// third of the time that loading takes, can only say that the YAML contradicts itself: it is compared meanwhile.
void PipelineAccess::Loader::compare_md5(const bundle::Model& model,
                                         const std::shared_ptr<const bundle::ModelFile>& file) {
  if (!options_.verify_checksums || !model.parameters.sha256sum || !model.parameters.md5sum) return;
  // A small one is done before a thread has begun. By default a task that gets no thread of its own runs when it is
  // waited for.
  constexpr std::size_t kWorthAThread = std::size_t{1} << 20U;
  const auto policy =
      file->bytes.size() < kWorthAThread ? std::launch::deferred : std::launch::async | std::launch::deferred;
  md5_.push_back(std::async(policy, [model, file] { return bundle::check_md5(model, file->bytes); }));
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

// Weights beside an ONNX model are read by the engine itself: look first where it would look.
Result<std::vector<fs::path>> PipelineAccess::Loader::find_external_data(const bundle::Model& model,
                                                                         const bundle::ModelFile& file) const {
  std::vector<fs::path> paths;
  if (model.parameters.backend != "onnx") return paths;
  const std::string place = fmt::format("models.{} ({}): ", model.name, file.path.filename().string());
  auto names = onnx::external_data_files(file.bytes);
  if (!names.ok()) return Status(names.status().code(), place + names.status().message());
  for (const std::string& name : names.value()) {
    const auto path = bundle::locate_file(yaml_.parent_path(), (file.path.parent_path() / name).string(), options_);
    if (!path.ok()) return Status(path.status().code(), place + "external data: " + path.status().message());
    paths.push_back(path.value());
  }
  const Status fits = check_external_memory(paths, memory_limit_);
  if (!fits.ok()) return Status(fits.code(), place + fits.message());
  if (!options_.verify_checksums) return paths;
  auto path = paths.begin();
  for (const std::string& name : names.value()) {
    LEAPP_RETURN_IF_ERROR(bundle::check_external_data(model, name, *path++));
  }
  return paths;
}

// The bytes of the model, or where there are weights beside it its file: of a signed bundle a copy, for between
// checking a file and an engine that opens it somebody could change it.
Result<engine::ModelSource> PipelineAccess::Loader::source_of(const bundle::Model& model, const bundle::ModelFile& file,
                                                              std::optional<PrivateCopies>& copies) const {
  engine::ModelSource source{.name = fmt::format("models.{} ({})", model.name, file.path.filename().string()),
                             .path = file.path,
                             .bytes = file.bytes,
                             .inputs = infos_of(model.inputs),
                             .memory_limit = memory_limit_,
                             .memory_taken = memory_taken_,
                             .stop = stop_};
  LEAPP_ASSIGN_OR_RETURN(const std::vector<fs::path> external, find_external_data(model, file));
  if (model.parameters.backend == "onnx") {
    source.fold_constants = onnx::folds_cheaply(file.bytes, file.bytes.size() + sizes_of(external));
  }
  if (external.empty()) return source;
  source.bytes = {};
  if (!verified_) return source;
  copies.emplace(*verified_);
  LEAPP_ASSIGN_OR_RETURN(source.path, copies->add(file.path, file.bytes));
  for (const fs::path& path : external) LEAPP_RETURN_IF_ERROR(copies->add(path));
  return source;
}

Result<engine::Engine*> PipelineAccess::Loader::engine(const std::string& backend, Impl& impl) const {
  std::unique_ptr<engine::Engine>& engine = impl.engines[backend];
  if (!engine) {
    LEAPP_ASSIGN_OR_RETURN(engine, open_(backend));
  }
  return engine.get();
}

Result<std::unique_ptr<engine::EngineModel>> PipelineAccess::Loader::load_model(std::size_t node, Impl& impl) {
  const bundle::Model& model = spec_.models[node];
  LEAPP_ASSIGN_OR_RETURN(const bundle::ModelFile* read, file(node));
  std::optional<PrivateCopies> copies;
  LEAPP_ASSIGN_OR_RETURN(const engine::ModelSource source, source_of(model, *read, copies));
  auto opened = engine(*model.parameters.backend, impl);
  if (!opened.ok()) {
    return Status(opened.status().code(), fmt::format("node {}: {}", model.name, opened.status().message()));
  }
  auto loaded = load_rows(*opened.value(), source, model, impl);
  LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(*read));
  if (loaded.ok() && loaded.value()->report().engine.empty()) {
    const std::string& backend = *model.parameters.backend;
    const std::string why = backend == "onnx" ? "it was asked for" : fmt::format("it is a '{}' model", backend);
    loaded.value()->set_report({model.name, opened.value()->description(), false, why, {}});
  }
  files_[node].reset();
  return loaded;
}

Result<std::unique_ptr<engine::EngineModel>> PipelineAccess::Loader::load_rows(engine::Engine& engine,
                                                                               const engine::ModelSource& source,
                                                                               const bundle::Model& node,
                                                                               Impl& impl) const {
  if (batch_ == 1) return engine.load(source);
  const bool onnx = node.parameters.backend.value_or("onnx") == "onnx";
  LEAPP_ASSIGN_OR_RETURN(BatchedModel batched, load_batched({engine, source, node, onnx, batch_}));
  if (!batched.widened.ok()) {
    const std::string name = node.name.empty() ? "the fused model" : "node " + node.name;
    if (impl.widened.ok()) impl.widened = {batched.widened.code(), name + ": " + batched.widened.message()};
    impl.notes.push_back(
        fmt::format("{} runs once for each of the {} rows: {}", name, batch_, batched.widened.message()));
  }
  return std::move(batched.model);
}

// Where all nodes in one cannot take many rows at once, some of them by themselves may.
bool PipelineAccess::Loader::some_node_widens() {
  for (std::size_t node = 0; node < spec_.models.size(); ++node) {
    const auto read = file(node);
    if (read.ok() && widen_model({read.value()->bytes, spec_.models[node], batch_, memory_limit_}).ok()) return true;
  }
  return false;
}

Result<std::unique_ptr<Pipeline::Impl>> PipelineAccess::Loader::make(const bundle::BundleSpec& runs,
                                                                     const bundle::Wiring& wiring) const {
  const PipelinePlan one = make_plan(runs, wiring);
  const bundle::BundleSpec wide = widened_ports(runs, batch_);
  PipelinePlan plan = make_plan(wide, wiring);
  LEAPP_ASSIGN_OR_RETURN(InitialValues values, read_initial_values(yaml_.parent_path(), spec_, one, options_));
  for (std::vector<std::byte>& value : values) repeat_rows(value, batch_);
  LEAPP_ASSIGN_OR_RETURN(Buffers buffers, Buffers::allocate(plan.buffers));
  auto impl = std::make_unique<Impl>(std::move(buffers));
  impl->initial_values = std::move(values);
  if (!spec_.pipeline.initial_values && !plan.states.empty()) {
    impl->notes.push_back(
        fmt::format("{}: pipeline.initial_values: there is none, so {} from zeros", yaml_.string(),
                    join(names_of(plan.states), ", ") + (plan.states.size() > 1 ? " start" : " starts")));
  }
  impl->state_names = names_of(plan.states);
  impl->face = PortTable::make(plan, impl->buffers);
  impl->spec = spec_;
  impl->yaml = yaml_;
  if (verified_) impl->signature = verified_->signature();
  impl->models = wide.models;
  impl->batch = batch_;
  impl->plan = std::move(plan);
  impl->identify_states();
  LEAPP_ASSIGN_OR_RETURN(const std::vector<bundle::History> histories, bundle::histories_of(spec_, wiring_));
  impl->first_frame = FirstFrame::make(histories, one, impl->buffers, batch_);
  return impl;
}

Result<std::unique_ptr<Pipeline::Impl>> PipelineAccess::Loader::separate() {
  auto impl = make(spec_, wiring_);
  if (!impl.ok()) return at(impl.status());
  Impl& made = *impl.value();
  std::vector<std::string> lacking;  // what an engine does not cover is told of all nodes at once
  for (const NodePlan& node : made.plan.nodes) {
    auto model = load_model(node.model, made);
    if (!model.ok() && model.status().code() == StatusCode::kUnimplemented) {
      lacking.push_back(model.status().message());
      continue;
    }
    if (!model.ok()) return at(model.status());
    add_report(*model.value(), made.models[node.model].name, made.engine_reports, made.notes);
    made.nodes.push_back({std::move(model).value(), {}});
  }
  if (!lacking.empty()) return at(unimplemented(join(lacking, "\n")));
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
  for (const auto& one : files_) LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(*one));
  // ONNX Runtime is about to make copies of its own.
  files_.assign(files_.size(), nullptr);
  FusedPipeline fused = fuse_wiring(spec_, wiring_, whole_name);
  bundle::BundleSpec runs;
  runs.models.push_back(std::move(fused.model));
  LEAPP_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, make(runs, fused.wiring));
  LEAPP_ASSIGN_OR_RETURN(engine::Engine * engine, this->engine("onnx", *impl));
  const engine::ModelSource source{.name = "the fused model",
                                   .path = yaml_,
                                   .bytes = std::as_bytes(std::span(bytes)),
                                   .inputs = infos_of(runs.models[0].inputs),
                                   .memory_limit = memory_limit_,
                                   .memory_taken = memory_taken_,
                                   .fold_constants = onnx::folds_cheaply(std::as_bytes(std::span(bytes)), bytes.size()),
                                   .stop = stop_};
  LEAPP_ASSIGN_OR_RETURN(auto model, load_rows(*engine, source, runs.models[0], *impl));
  if (!impl->widened.ok() && some_node_widens()) return impl->widened;
  if (model->report().engine.empty()) {
    model->set_report({"", engine->description(), false, "it was asked for", {}});
  }
  LEAPP_RETURN_IF_ERROR(wait_for_md5());
  add_report(*model, "the fused model", impl->engine_reports, impl->notes);
  impl->nodes.push_back({std::move(model), {}});
  return impl;
}

Result<Pipeline> PipelineAccess::load(const fs::path& bundle, const LoadOptions& options, EngineOpener open) {
  return load_node(bundle, {}, options, std::move(open));
}

Result<Pipeline> PipelineAccess::load_node(const fs::path& bundle, const std::string& node, const LoadOptions& options,
                                           EngineOpener open) {
  return without_exceptions([&] { return load_unchanged(bundle, node, options, open); });
}

Result<Pipeline> PipelineAccess::load_unchanged(const fs::path& bundle, const std::string& node,
                                                const LoadOptions& options, const EngineOpener& open) {
  constexpr int kMostAttempts = 10;
  LEAPP_ASSIGN_OR_RETURN(const fs::path yaml, bundle::locate_bundle(bundle));
  for (int attempt = 1;; ++attempt) {
    const BundleStamp before(yaml);
    auto pipeline = load_once(yaml, node, options, open);
    // A YAML of one export and models of another are no bundle, whether they fit or not.
    if (before == BundleStamp(yaml)) return pipeline;
    if (attempt < kMostAttempts) continue;
    if (!pipeline.ok()) return pipeline;
    return io_error(
        fmt::format("{}: it was replaced each of the {} times that it was read", yaml.string(), kMostAttempts));
  }
}

Result<Pipeline> PipelineAccess::load_once(const fs::path& yaml, const std::string& node, const LoadOptions& options,
                                           const EngineOpener& open) {
  const auto loader = std::make_shared<Loader>(yaml, options, open);
  LEAPP_RETURN_IF_ERROR(loader->trust(options));
  LEAPP_RETURN_IF_ERROR(loader->read(node));
  LEAPP_ASSIGN_OR_RETURN(std::unique_ptr<Pipeline::Impl> impl, Loader::load(loader));
  LEAPP_RETURN_IF_ERROR(loader->check_rest());
  impl->stop = options.engine.stop;
  if (options.timeout.count() > 0) {
    if (!impl->stop) impl->stop = std::make_shared<engine::Stop>();
    impl->watchdog = std::make_unique<Watchdog>(impl->stop, options.timeout);
  }
  Pipeline pipeline(std::move(impl));
  if (options.prepare) LEAPP_RETURN_IF_ERROR(loader->at(pipeline.prepare()));
  return pipeline;
}

Result<Pipeline> Pipeline::load(const fs::path& bundle, const LoadOptions& given) {
  return without_exceptions([&] {
    LoadOptions options = given;
    if (!options.engine.stop) options.engine.stop = std::make_shared<engine::Stop>();
    const auto open = [engine = options.engine](const std::string& backend) { return open_engine(backend, engine); };
    return PipelineAccess::load(bundle, options, open);
  });
}

}  // namespace leapp::runtime
