// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "fleet/fused_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "base/text.h"
#include "bundle/files/safetensors.h"
#include "leapp/bundle/history.h"
#include "onnx_proto/reader.h"
#include "runtime/pipeline/fuse.h"
#include "runtime/pipeline/plan.h"
#include "runtime/pipeline/state.h"

namespace leapp::fleet {
namespace {

using bundle::PortIndex;

/// The ports that a fused node keeps, and a name for each.
class PortNames {
 public:
  PortNames(const bundle::BundleSpec& spec, const bundle::Wiring& wiring) : spec_(spec) {
    for (const PortIndex at : wiring.inputs) keep(at, true);
    for (const PortIndex at : wiring.outputs) keep(at, false);
    for (const bundle::Edge& edge : wiring.edges) {
      if (!edge.feedback) continue;
      keep(edge.to, true);
      keep(edge.from, false);
    }
    for (const auto& [key, plain] : kept_) ++uses_[plain];
    for (const auto& [key, plain] : kept_) names_[key] = choose(key, plain);
  }

  [[nodiscard]] std::string operator()(const bundle::Model& node, const bundle::Port& port, bool input) const {
    return names_.at({node.name, port.name, input});
  }

 private:
  using Key = std::tuple<std::string, std::string, bool>;  ///< node, port, whether it is an input

  void keep(PortIndex at, bool input) {
    const bundle::Model& model = spec_.models[at.node];
    const bundle::Port& port = (input ? model.inputs : model.outputs)[at.port];
    kept_[{model.name, port.name, input}] = port.name;
  }

  std::string choose(const Key& key, const std::string& plain) {
    std::string name = plain;
    if (uses_[plain] > 1) {
      const auto& [node, port, input] = key;
      const bool both = kept_.contains({node, port, !input});
      name = fmt::format("{}_{}{}", node, port, !both ? "" : input ? "_in" : "_out");
    }
    const std::string base = name;
    for (int i = 2; taken_.contains(name) || (name != plain && uses_.contains(name)); ++i) {
      name = fmt::format("{}_{}", base, i);
    }
    taken_.insert(name);
    return name;
  }

  const bundle::BundleSpec& spec_;
  std::map<Key, std::string> kept_;
  std::map<std::string, int> uses_;
  std::set<std::string> taken_;
  std::map<Key, std::string> names_;
};

class Writer {
 public:
  Writer(const inspect::OpenedBundle& opened, const FuseNames& names, const bundle::FileOptions& files)
      : opened_(opened), names_(names), files_(files) {}

  Result<FusedBundle> run() {
    LEAPP_RETURN_IF_ERROR(bundle::join_problems(opened_.report.problems));
    LEAPP_RETURN_IF_ERROR(bundle::join_problems(bundle::find_model_problems(opened_.spec)));
    LEAPP_RETURN_IF_ERROR(fuse_models());
    describe();
    LEAPP_RETURN_IF_ERROR(add_initial_values());
    return std::move(result_);
  }

 private:
  Status fuse_models() {
    LEAPP_ASSIGN_OR_RETURN(models_, read_onnx_models(opened_, files_));
    const PortNames port_names(opened_.spec, wiring());
    runtime::FuseRequest request{.spec = opened_.spec, .wiring = wiring(), .models = {}, .name = port_names};
    for (const bundle::ModelFile& file : models_) request.models.emplace_back(file.bytes);
    LEAPP_ASSIGN_OR_RETURN(result_.model, runtime::fuse_models(request));
    for (const bundle::ModelFile& file : models_) LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(file));
    fused_ = runtime::fuse_wiring(opened_.spec, wiring(), port_names);
    return set_parameters();
  }

  Status set_parameters() {
    const auto bytes = std::as_bytes(std::span(result_.model));
    LEAPP_ASSIGN_OR_RETURN(const Digests digests, digest_bytes(bytes));
    LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView view, onnx::read_model(bytes));
    fused_.model.name = names_.node;
    fused_.model.parameters = {
        .backend = "onnx", .model_path = names_.node + ".onnx", .md5sum = digests.md5, .sha256sum = digests.sha256};
    for (const onnx::OperatorSet& set : view.opset_imports) {
      if (set.domain.empty()) fused_.model.parameters.opset_version = set.version;
    }
    return {};
  }

  [[nodiscard]] const bundle::Wiring& wiring() const { return opened_.report.wiring; }
  [[nodiscard]] std::string fused_input(PortIndex at) const {
    return names_.node + "/" + fused_.model.inputs[at.port].name;
  }
  [[nodiscard]] std::string fused_output(PortIndex at) const {
    return names_.node + "/" + fused_.model.outputs[at.port].name;
  }

  void describe() {
    bundle::BundleSpec& spec = result_.spec;
    spec.pipeline.configs = opened_.spec.pipeline.configs;
    spec.system_information = opened_.spec.system_information;
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < wiring().inputs.size(); ++i) {
      const PortIndex at = fused_.wiring.inputs[i];
      inputs.push_back(fused_.model.inputs[at.port].name);
      result_.inputs.emplace_back(inspect::input_name(opened_.spec, wiring().inputs[i]), fused_input(at));
    }
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < wiring().outputs.size(); ++i) {
      const PortIndex at = fused_.wiring.outputs[i];
      outputs.push_back(fused_.model.outputs[at.port].name);
      result_.outputs.emplace_back(inspect::output_name(opened_.spec, wiring().outputs[i]), fused_output(at));
    }
    if (!inputs.empty()) spec.pipeline.inputs = {{names_.node, std::move(inputs)}};
    if (!outputs.empty()) spec.pipeline.outputs = {{names_.node, std::move(outputs)}};
    describe_feedback();
    spec.models = {fused_.model};
    name_histories();
    for (std::size_t i = 0; i < spec.models[0].outputs.size(); ++i) {
      const auto& given = fused_.wiring.outputs;
      const bool state = std::find(given.begin(), given.end(), PortIndex{0, i}) == given.end();
      if (state && !bundle::is_state_output(spec, {0, i}))
        spec.models[0].outputs[i].extra.emplace_back(bundle::kStateKey, true);
    }
  }

  void describe_feedback() {
    std::size_t next = 0;
    for (const bundle::Edge& edge : wiring().edges) {
      if (!edge.feedback) continue;
      const bundle::Edge& fused = fused_.wiring.edges[next++];
      const std::string from = fused_output(fused.from);
      bundle::EdgeMap& flow = result_.spec.pipeline.feedback_flow;
      const auto found = std::find_if(flow.begin(), flow.end(), [&](const auto& row) { return row.first == from; });
      auto& row = found == flow.end() ? flow.emplace_back(from, std::vector<std::string>()) : *found;
      row.second.push_back(fused_input(fused.to));
      result_.states.emplace_back(inspect::input_name(opened_.spec, edge.to), fused_input(fused.to));
    }
  }

  /// They speak of ports, which have other names now.
  void name_histories() {
    const auto histories = bundle::histories_of(opened_.spec, wiring());
    bundle::drop_histories(result_.spec);
    if (!histories.ok()) return;  // its problems were asked for at first
    std::map<std::string, std::string> names;
    for (const auto* list : {&result_.inputs, &result_.states}) names.insert(list->begin(), list->end());
    for (bundle::History history : histories.value()) {
      bundle::rename_history(history, [&](const std::string& name) { return names.at(name); });
      for (bundle::Port& port : result_.spec.models[0].inputs) {
        if (names_.node + "/" + port.name == history.name) bundle::set_history(port, history.parts);
      }
    }
  }

  Status add_initial_values() {
    if (result_.states.empty() || !opened_.spec.pipeline.initial_values) return {};
    const runtime::PipelinePlan plan = runtime::make_plan(opened_.spec, wiring());
    LEAPP_ASSIGN_OR_RETURN(const runtime::InitialValues values,
                           runtime::read_initial_values(opened_.folder, opened_.spec, plan, files_));
    std::vector<bundle::TensorEntry> entries;
    for (std::size_t i = 0; i < plan.states.size(); ++i) {
      const runtime::BufferPlan& buffer = plan.buffers[plan.states[i].place.buffer];
      for (const auto& [original, fused] : result_.states) {
        if (original == plan.states[i].name) entries.push_back({fused, buffer.dtype, buffer.shape, values[i]});
      }
    }
    result_.spec.pipeline.initial_values = names_.bundle + "_initial_values.safetensors";
    LEAPP_ASSIGN_OR_RETURN(result_.initial_values, bundle::safetensors_bytes(entries));
    return {};
  }

  const inspect::OpenedBundle& opened_;
  const FuseNames& names_;
  const bundle::FileOptions& files_;
  std::vector<bundle::ModelFile> models_;
  runtime::FusedPipeline fused_;
  FusedBundle result_;
};

}  // namespace

Result<FusedBundle> fuse_bundle(const inspect::OpenedBundle& opened, const FuseNames& names,
                                const bundle::FileOptions& files) {
  return Writer(opened, names, files).run();
}

}  // namespace leapp::fleet
