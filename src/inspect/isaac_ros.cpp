// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "inspect/lint.h"
#include "inspect/words.h"
#include "onnx_proto/external_data.h"
#include "runtime/pipeline/budget.h"

namespace leapp::inspect {
namespace {

constexpr std::array<std::string_view, 4> kFromHardware{"state/joint/position", "state/joint/velocity",
                                                        "state/body/rotation", "state/body/angular_velocity"};
constexpr std::array<std::string_view, 3> kToHardware{"target/joint/position", "kp", "kd"};

template <std::size_t Size>
bool is_among(const std::array<std::string_view, Size>& kinds, const std::string& kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

class IsaacRosCheck {
 public:
  explicit IsaacRosCheck(const OpenedBundle& opened) : opened_(opened), spec_(opened.spec) {}

  std::vector<CheckFinding> run() {
    one_onnx_file();
    for (const bundle::Model& model : spec_.models) {
      for (const bundle::Port& port : model.inputs) check_port(model.name + "/" + port.name, port);
      for (const bundle::Port& port : model.outputs) check_port(model.name + "/" + port.name, port);
    }
    unique_names();
    for (const bundle::PortIndex at : opened_.report.wiring.inputs) {
      topic(input_name(spec_, at), spec_.models[at.node].inputs[at.port].kind, true);
    }
    for (const bundle::PortIndex at : opened_.report.wiring.outputs) {
      topic(output_name(spec_, at), spec_.models[at.node].outputs[at.port].kind, false);
    }
    return std::move(findings_);
  }

 private:
  void error(std::string place, std::string message, std::string remedy) {
    findings_.push_back({Severity::kError, std::move(place), "isaac-ros: " + std::move(message), std::move(remedy)});
  }

  void one_onnx_file() {
    if (spec_.models.size() != 1) {
      error("models", fmt::format("expected exactly one node, found {}", spec_.models.size()),
            "leapp fuse makes one of them");
    }
    std::set<std::string> seen;
    for (const bundle::Model& model : spec_.models) {
      if (model.parameters.format() != bundle::ModelFormat::kOnnx) {
        error(fmt::format("models.{}.parameters.backend", model.name),
              fmt::format("expected onnx, found {}", quote(model.parameters.backend.value_or("none"))),
              "export the node with export_with=\"onnx\"");
        continue;
      }
      if (!seen.insert(file_key(model)).second) continue;
      const auto file = bundle::read_model(
          opened_.folder, model, {.verify_checksums = false, .memory_limit = runtime::default_memory_limit()});
      if (!file.ok()) continue;  // is found anyway
      const auto others = onnx::external_data_files(file.value().bytes);
      if (others.ok() && !others.value().empty()) {
        error(fmt::format("models.{}", model.name),
              fmt::format("expected one file, found weights in {} too", quote(*others.value().begin())),
              "write the weights into the model");
      }
    }
  }

  void check_port(const std::string& name, const bundle::Port& port) {
    if (port.dtype != DType::kFloat32) {
      error(name, fmt::format("expected float32, found {}", dtype_name(port.dtype)), "convert it inside the node");
    }
    if (!port.element_names) return;
    for (std::size_t axis = 0; axis < port.element_names->size(); ++axis) {
      const bool temporal = port.temporal_axis && port.temporal_axis->axis == axis;
      if ((*port.element_names)[axis] || temporal) continue;
      error(name, fmt::format("axis {} of element_names is null, and every axis needs names", axis),
            "name its elements, or leave the element names of the port out");
    }
  }

  void unique_names() {
    std::map<std::string, std::vector<std::string>> names;
    for (const bundle::Model& model : spec_.models) {
      for (const bundle::Port& port : model.inputs)
        names[port.name].push_back(model.name + "/" + port.name + " (input)");
      for (const bundle::Port& port : model.outputs) {
        names[port.name].push_back(model.name + "/" + port.name + " (output)");
      }
    }
    for (const auto& [name, ports] : names) {
      if (ports.size() == 1) continue;
      error(ports.front(),
            fmt::format("expected port names that are unique over the pipeline, found {} as {}", quote(name),
                        join(ports, ", ")),
            "rename them; leapp fuse does it");
    }
  }

  void topic(std::string name, const std::optional<std::string>& kind, bool input) {
    const bool hardware = kind && (input ? is_among(kFromHardware, *kind) : is_among(kToHardware, *kind));
    const std::string what = kind ? fmt::format("the kind {}", quote(*kind)) : "no kind";
    const std::string message =
        hardware ? fmt::format("isaac-ros: {} {} the hardware", what, input ? "comes from" : "goes to")
                 : fmt::format("isaac-ros: {}: the {} needs a topic", what, input ? "input" : "output");
    findings_.push_back({Severity::kNote, std::move(name), message,
                         hardware ? ""
                         : input  ? "name a topic that publishes it in the controller's configuration"
                                  : "name a topic to publish it on in the controller's configuration"});
  }

  const OpenedBundle& opened_;
  const bundle::BundleSpec& spec_;
  std::vector<CheckFinding> findings_;
};

}  // namespace

std::vector<CheckFinding> check_for_isaac_ros(const OpenedBundle& opened) { return IsaacRosCheck(opened).run(); }

}  // namespace leapp::inspect
