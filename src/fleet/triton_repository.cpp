// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "fleet/triton_repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "bundle/yaml/yaml_tree.h"
#include "fleet/file_names.h"
#include "fleet/fused_bundle.h"
#include "fleet/triton_python.h"
#include "onnx_proto/writer.h"
#include "runtime/pipeline/plan.h"
#include "runtime/pipeline/state.h"

namespace leapp::fleet {
namespace {

namespace fs = std::filesystem;
using bundle::PortIndex;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// `wish`, or with a number behind it what nobody has yet.
std::string fresh(std::set<std::string>& taken, const std::string& wish) {
  std::string name = wish;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", wish, i);
  return name;
}

TritonTensor tensor_of(const std::string& name, const bundle::Port& port) { return {name, port.dtype, port.shape}; }

/// What each feedback input begins with, by "node/port"; empty: zeros.
Result<std::map<std::string, std::vector<std::byte>>> initial_values(const inspect::OpenedBundle& opened,
                                                                     const bundle::FileOptions& files) {
  const runtime::PipelinePlan plan = runtime::make_plan(opened.spec, opened.report.wiring);
  LEAPP_ASSIGN_OR_RETURN(runtime::InitialValues values,
                         runtime::read_initial_values(opened.folder, opened.spec, plan, files));
  std::map<std::string, std::vector<std::byte>> named;
  for (std::size_t i = 0; i < values.size(); ++i) named[plan.states[i].name] = std::move(values[i]);
  return named;
}

class Maker {
 public:
  Maker(const inspect::OpenedBundle& opened, const TritonRequest& request, const bundle::FileOptions& files)
      : opened_(opened), request_(request), files_(files) {
    FileNames names;
    for (const bundle::Model& model : opened.spec.models) {
      model_names_.push_back(request.name + "_" + names(model.name));
    }
  }

  Result<TritonRepository> run() {
    LEAPP_RETURN_IF_ERROR(bundle::join_problems(opened_.report.problems));
    LEAPP_RETURN_IF_ERROR(bundle::join_problems(bundle::find_model_problems(opened_.spec)));
    LEAPP_ASSIGN_OR_RETURN(initial_, initial_values(opened_, files_));
    if (request_.backend == TritonBackend::kPython) {
      LEAPP_RETURN_IF_ERROR(add_python());
    } else if (auto fused = fuse_bundle(opened_, {request_.name, request_.name}, files_); fused.ok()) {
      LEAPP_RETURN_IF_ERROR(add_fused(fused.value()));
    } else {
      made_.note = fused.status().message();
      LEAPP_RETURN_IF_ERROR(add_ensemble());
    }
    for (const TritonConfig& config : made_.models) {
      LEAPP_ASSIGN_OR_RETURN(std::string text, triton_text(config));
      add(config.name, "config.pbtxt", std::move(text));
    }
    return std::move(made_);
  }

 private:
  void add(const std::string& model, const std::string& file, std::string content) {
    made_.files.emplace_back(model + "/" + file, std::move(content));
  }

  /// What is written is in memory before.
  Status take_memory(std::uint64_t bytes) {
    memory_ += bytes;
    if (memory_ <= files_.memory_limit) return {};
    return invalid_argument(fmt::format("the models have more than {}, the option memory_limit is {}",
                                        bytes_text(memory_ - 1), bytes_text(files_.memory_limit)));
  }

  TritonConfig config_of(const std::string& name, const char* backend) const {
    return {.name = name,
            .backend = backend,
            .instances = request_.instances,
            .idle_microseconds = request_.idle_seconds * 1'000'000};
  }

  /// Notes the state of a feedback edge; `original` is the input's name in the bundle.
  void add_state(TritonConfig& config, TritonState state, const std::string& original) {
    const std::vector<std::byte>& value = initial_[original];
    const bool zero = std::all_of(value.begin(), value.end(), [](std::byte byte) { return byte == std::byte{0}; });
    if (!zero) {
      state.file = state_files_[config.name](state.input);
      add(config.name, "initial_state/" + state.file, text_of(value));
    }
    config.sequences = true;
    config.states.push_back(std::move(state));
  }

  // ---- one ONNX model ----

  Status add_fused(const FusedBundle& fused) {
    const bundle::Model& model = fused.spec.models.front();
    TritonConfig config = config_of(request_.name, "onnxruntime");
    const auto plain = [&](const std::string& name) { return name.substr(model.name.size() + 1); };
    const auto port = [](const std::vector<bundle::Port>& ports, const std::string& name) {
      return *std::find_if(ports.begin(), ports.end(), [&](const bundle::Port& one) { return one.name == name; });
    };
    for (const auto& [original, name] : fused.inputs) {
      config.inputs.push_back(tensor_of(plain(name), port(model.inputs, plain(name))));
    }
    for (const auto& [original, name] : fused.outputs) {
      config.outputs.push_back(tensor_of(plain(name), port(model.outputs, plain(name))));
    }
    std::string bytes = fused.model;
    std::map<std::string, std::string> originals;
    for (const auto& [original, name] : fused.states) originals[name] = original;
    std::set<std::string> tensors;
    for (const bundle::Port& one : model.inputs) tensors.insert(one.name);
    for (const bundle::Port& one : model.outputs) tensors.insert(one.name);
    std::vector<std::pair<std::string, onnx::ValueInfo>> copies;
    for (const auto& [from, targets] : fused.spec.pipeline.feedback_flow) {
      for (std::size_t i = 0; i < targets.size(); ++i) {
        const bundle::Port input = port(model.inputs, plain(targets[i]));
        std::string output = plain(from);
        if (i > 0) {  // Triton takes an output for one state only
          output = fresh(tensors, fmt::format("{}_for_{}", plain(from), input.name));
          copies.emplace_back(plain(from),
                              onnx::ValueInfo{output, onnx::data_type_of(input.dtype).value_or(0), input.shape});
        }
        add_state(config, {input.name, output, input.dtype, input.shape, ""}, originals.at(targets[i]));
      }
    }
    if (!copies.empty()) bytes += onnx::write_added_copies(copies);
    add(config.name, "1/model.onnx", std::move(bytes));
    made_.models.push_back(std::move(config));
    return {};
  }

  // ---- an ensemble ----

  /// What a port is called in the node's own model: TorchScript takes tensors by position.
  [[nodiscard]] std::string tensor_name(std::size_t node, std::size_t at, bool input) const {
    const bundle::Model& model = opened_.spec.models[node];
    const std::string& name = (input ? model.inputs : model.outputs)[at].name;
    return model.parameters.backend == "jit" ? fmt::format("{}__{}", name, at) : name;
  }

  Status add_node(std::size_t node) {
    const bundle::Model& model = opened_.spec.models[node];
    const std::string backend = model.parameters.backend.value_or("");
    if (backend != "onnx" && backend != "jit") {
      return unimplemented(fmt::format(
          "node {}: Triton has no back end for {} models; --backend python serves the bundle through LEAPP's runtime",
          model.name, quote(backend)));
    }
    LEAPP_ASSIGN_OR_RETURN(const bundle::ModelFile file, bundle::read_model(opened_.folder, model, files_));
    TritonConfig config = config_of(model_names_[node], backend == "onnx" ? "onnxruntime" : "pytorch");
    LEAPP_RETURN_IF_ERROR(add_feedback(node, config));
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const std::string name = tensor_name(node, i, true);
      const bool state = std::any_of(config.states.begin(), config.states.end(),
                                     [&](const TritonState& one) { return one.input == name; });
      if (!state) config.inputs.push_back(tensor_of(name, model.inputs[i]));
    }
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      if (used_.contains({node, i})) config.outputs.push_back(tensor_of(tensor_name(node, i, false), model.outputs[i]));
    }
    LEAPP_RETURN_IF_ERROR(take_memory(file.bytes.size()));
    add(config.name, backend == "onnx" ? "1/model.onnx" : "1/model.pt", text_of(file.bytes));
    LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(file));
    made_.models.push_back(std::move(config));
    return {};
  }

  Status add_feedback(std::size_t node, TritonConfig& config) {
    std::set<std::size_t> seen;
    for (const bundle::Edge& edge : opened_.report.wiring.edges) {
      if (!edge.feedback || edge.to.node != node) continue;
      const bundle::Port& port = opened_.spec.models[node].inputs[edge.to.port];
      if (edge.from.node != node || !seen.insert(edge.from.port).second) {
        return unimplemented(fmt::format(
            "feedback from {} to {}: Triton keeps state within a model only, and for one input; export the nodes so "
            "that they can be one model (leapp fuse), or use --backend python",
            inspect::output_name(opened_.spec, edge.from), inspect::input_name(opened_.spec, edge.to)));
      }
      add_state(
          config,
          {tensor_name(node, edge.to.port, true), tensor_name(node, edge.from.port, false), port.dtype, port.shape, ""},
          inspect::input_name(opened_.spec, edge.to));
    }
    return {};
  }

  Status add_ensemble() {
    const bundle::Wiring& wiring = opened_.report.wiring;
    for (const PortIndex at : wiring.outputs) used_.insert(at);
    for (const bundle::Edge& edge : wiring.edges) {
      if (!edge.feedback) used_.insert(edge.from);
    }
    for (const std::size_t node : wiring.order) LEAPP_RETURN_IF_ERROR(add_node(node));
    TritonConfig ensemble{.name = request_.name};
    name_ends(ensemble);
    for (const std::size_t node : wiring.order) ensemble.steps.push_back(step_of(node));
    made_.models.push_back(std::move(ensemble));
    return {};
  }

  /// The ensemble's own inputs and outputs: the ports' names, with the node's before it where two have the same.
  void name_ends(TritonConfig& ensemble) {
    const bundle::Wiring& wiring = opened_.report.wiring;
    std::map<std::string, int> uses;
    for (const PortIndex at : wiring.inputs) ++uses[opened_.spec.models[at.node].inputs[at.port].name];
    for (const PortIndex at : wiring.outputs) ++uses[opened_.spec.models[at.node].outputs[at.port].name];
    std::set<std::string> taken;
    for (const auto& [name, count] : uses) {
      if (count == 1) taken.insert(name);
    }
    const auto name = [&](const bundle::Model& model, const bundle::Port& port, const char* suffix) {
      if (uses[port.name] == 1) return port.name;
      const bool both = std::any_of(model.inputs.begin(), model.inputs.end(),
                                    [&](const bundle::Port& one) { return one.name == port.name; }) &&
                        std::any_of(model.outputs.begin(), model.outputs.end(),
                                    [&](const bundle::Port& one) { return one.name == port.name; });
      return fresh(taken, model.name + "_" + port.name + (both ? suffix : ""));
    };
    for (const PortIndex at : wiring.inputs) {
      const bundle::Model& model = opened_.spec.models[at.node];
      inputs_[at] = name(model, model.inputs[at.port], "_in");
      ensemble.inputs.push_back(tensor_of(inputs_[at], model.inputs[at.port]));
    }
    for (const PortIndex at : wiring.outputs) {
      const bundle::Model& model = opened_.spec.models[at.node];
      outputs_[at] = name(model, model.outputs[at.port], "_out");
      ensemble.outputs.push_back(tensor_of(outputs_[at], model.outputs[at.port]));
    }
    for (const PortIndex at : used_) {
      if (!outputs_.contains(at)) outputs_[at] = inspect::output_name(opened_.spec, at);
    }
    for (const bundle::Edge& edge : wiring.edges) {
      if (!edge.feedback) inputs_[edge.to] = outputs_.at(edge.from);
    }
  }

  [[nodiscard]] TritonStep step_of(std::size_t node) const {
    TritonStep step{.model = model_names_[node]};
    for (std::size_t i = 0; i < opened_.spec.models[node].inputs.size(); ++i) {
      const auto at = inputs_.find({node, i});
      if (at != inputs_.end()) step.inputs.emplace_back(tensor_name(node, i, true), at->second);
    }
    for (std::size_t i = 0; i < opened_.spec.models[node].outputs.size(); ++i) {
      const auto at = outputs_.find({node, i});
      if (at != outputs_.end()) step.outputs.emplace_back(tensor_name(node, i, false), at->second);
    }
    return step;
  }

  // ---- our runtime, in Python ----

  Status add_python() {
    TritonConfig config = config_of(request_.name, "python");
    for (const PortIndex at : opened_.report.wiring.inputs) {
      config.inputs.push_back(
          tensor_of(inspect::input_name(opened_.spec, at), opened_.spec.models[at.node].inputs[at.port]));
    }
    for (const PortIndex at : opened_.report.wiring.outputs) {
      config.outputs.push_back(
          tensor_of(inspect::output_name(opened_.spec, at), opened_.spec.models[at.node].outputs[at.port]));
    }
    config.sequences = config.controls = !initial_.empty();
    add(config.name, "1/model.py", kTritonModel);
    const std::string name = file_name(opened_.name);
    const std::string folder = "1/bundle/" + name + "/";
    LEAPP_ASSIGN_OR_RETURN(const auto yaml, bundle::read_file(opened_.yaml, bundle::kLargestYaml));
    add(config.name, folder + name + ".yaml", text_of(yaml));
    if (const auto& values = opened_.spec.pipeline.initial_values) {
      LEAPP_ASSIGN_OR_RETURN(const fs::path path, bundle::locate_file(opened_.folder, *values, files_));
      LEAPP_ASSIGN_OR_RETURN(const auto bytes, bundle::read_file(path, files_.memory_limit));
      LEAPP_RETURN_IF_ERROR(add_of_bundle(config.name, folder, *values, text_of(bytes)));
    }
    std::set<std::string> known;
    for (const bundle::Model& model : opened_.spec.models) {
      if (!known.insert(inspect::file_key(model)).second) continue;
      LEAPP_ASSIGN_OR_RETURN(const bundle::ModelFile file, bundle::read_model(opened_.folder, model, files_));
      LEAPP_RETURN_IF_ERROR(take_memory(file.bytes.size()));
      LEAPP_RETURN_IF_ERROR(add_of_bundle(config.name, folder, *model.parameters.model_path, text_of(file.bytes)));
      LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(file));
    }
    made_.models.push_back(std::move(config));
    return {};
  }

  /// A file of the bundle, under the name that its YAML has for it. Links in the bundle may make a name lead to another
  /// place than it says; here there are none, and it has to be inside as it is written: above it is what Triton runs.
  Status add_of_bundle(const std::string& model, const std::string& folder, const std::string& name,
                       std::string content) {
    const fs::path inside = fs::path(name).lexically_normal();
    if (inside.is_absolute() || *inside.begin() == ".." || inside == ".") {
      return unimplemented(fmt::format("{} lies outside of the bundle", quote(name)));
    }
    add(model, folder + inside.generic_string(), std::move(content));
    return {};
  }

  const inspect::OpenedBundle& opened_;
  const TritonRequest& request_;
  const bundle::FileOptions& files_;
  std::vector<std::string> model_names_;          ///< of the nodes, in an ensemble
  std::map<std::string, FileNames> state_files_;  ///< by model
  std::map<std::string, std::vector<std::byte>> initial_;
  std::uint64_t memory_ = 0;
  std::set<PortIndex> used_;                  ///< outputs that somebody reads, or gets
  std::map<PortIndex, std::string> inputs_;   ///< of nodes: the ensemble's tensor
  std::map<PortIndex, std::string> outputs_;  ///< likewise
  TritonRepository made_;
};

}  // namespace

Result<TritonRepository> make_triton_repository(const inspect::OpenedBundle& opened, const TritonRequest& request,
                                                const bundle::FileOptions& files) {
  return Maker(opened, request, files).run();
}

}  // namespace leapp::fleet
