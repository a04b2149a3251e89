// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Watch a libtorch pipeline run and export it. The one public header that includes torch.
//
//   leapp::start("walk");
//   auto obs = leapp::annotate::input_tensors("policy", {{"obs", observation}}).value()[0];
//   auto action = net->forward(obs);
//   leapp::annotate::output_tensors("policy", {{"action", action}}, {.export_with = "jit"}).value();
//   leapp::stop();
//   auto report = leapp::compile_graph();   // writes ./walk/walk.yaml and ./walk/policy.pt
//
// One session at a time in a process. The annotations may be called from any thread; start, stop and compile_graph
// from one at a time. When no session is active, annotations hand back what they were given.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "leapp/base/finding.h"
#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"

#define LEAPP_API __attribute__((visibility("default")))

namespace leapp {

/// Tensors by name, in order.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// What a port is given: a tensor, or tensors nested in lists and maps. Nested ones become ports `name_key_0`.
struct Nested {
  using List = std::vector<Nested>;
  using Map = std::vector<std::pair<std::string, Nested>>;
  /// A leaf that is no tensor. It stays what it is in this call: a constant of the exported model.
  struct Other {
    std::string text;  ///< for the warning: "int 3"
  };

  std::variant<at::Tensor, List, Map, Other> data;

  Nested() = default;
  Nested(at::Tensor tensor) : data(std::move(tensor)) {}  // NOLINT: implicit, so that payloads read as literals
  Nested(List list) : data(std::move(list)) {}            // NOLINT
  Nested(Map map) : data(std::move(map)) {}               // NOLINT
  Nested(Other other) : data(std::move(other)) {}         // NOLINT

  /// REQUIRES: it is one.
  [[nodiscard]] const at::Tensor& tensor() const { return std::get<at::Tensor>(data); }
  operator const at::Tensor&() const { return tensor(); }  // NOLINT: a payload of one tensor is that tensor
  const Nested& operator[](std::size_t index) const { return std::get<List>(data).at(index); }
  /// REQUIRES: a map with that key.
  const Nested& operator[](const std::string& key) const;
};

/// What a tensor means to whoever deploys the pipeline; written beside the port in the YAML.
using Semantics = bundle::Semantics;

/// A named value that goes into or comes out of a node.
struct PortValue {
  std::string name;
  Nested value;
  Semantics semantics = {};  ///< REQUIRES: empty unless `value` is a tensor
};

/// The ports of one annotation, in order.
using Payload = std::vector<PortValue>;

/// What happens to state and edges that the program has and did not announce.
enum class Leaks {
  kPromote,   ///< a port is made for them, with a warning
  kError,     ///< compile_graph fails and says what to write
  kConstant,  ///< they are baked in as they were, with a warning
};

/// Options of start().
struct StartOptions {
  std::string save_path = ".";
  bool verbose = false;                 ///< everything on the console, not only warnings and errors
  bool dry_run = false;                 ///< no models: compile_graph writes YAML, log and picture only
  std::vector<std::string> non_traced;  ///< nodes that get ports and edges but no model
  int max_cached_io = 5;                ///< re-entries whose inputs and outputs are kept as samples
  Leaks leaks = Leaks::kPromote;
  std::string python_version;  ///< for the bundle's system information; empty from C++
  std::string torch_version;   ///< likewise; empty: the version this was built against
};

/// What holds for the whole pipeline: how often it steps, and fields of your own.
struct GraphConfigs {
  std::optional<double> frequency;  ///< in Hz, > 0
  bundle::YamlMap extra;
};

/// Options of compile_graph().
struct CompileOptions {
  bool visualize = true;
  std::optional<bool> verbose;  ///< overrides the console for this call
  bool validate = true;
  bool dry_run = false;
  /// How far a model may be off: |exported - source| <= atol + rtol * |source|. One that is given decides, the other is
  /// then 1e-3 or 1e-5. Neither: as far as rounding in the outputs' dtypes explains, which is worked out where it
  /// matters.
  std::optional<double> rtol;
  std::optional<double> atol;
  bool strict = true;  ///< a failed node makes the call fail, after everything is written
  GraphConfigs graph_configs = {};
};

/// Options of output_tensors().
struct OutputOptions {
  /// "jit", "jit-script", "jit-trace", "onnx", "onnx-dynamo", "onnx-torchscript", "pt2"; absent: a model of the user's
  /// (`backend_params` has "model_path"), or none.
  std::optional<std::string> export_with;
  /// "opset_version", "ir_version"; "model_path", "copy_original_model"; "optimize", "report", "verify".
  bundle::YamlMap backend_params = {};
  /// Outputs that do not depend on the node's inputs.
  Payload static_outputs = {};
};

/// What became of one node.
struct NodeResult {
  std::string node;
  CheckStatus status = CheckStatus::kSkipped;
  int samples = 0;  ///< that the model was run on
  int outputs = 0;
  std::string message;            ///< why it was skipped; the text of the findings
  std::vector<Finding> findings;  ///< those that fail first
  [[nodiscard]] bool ok() const { return status == CheckStatus::kPassed || status == CheckStatus::kSkipped; }
};

/// What compile_graph() wrote, node by node.
struct CompileReport {
  std::string folder;
  std::vector<NodeResult> nodes;
  /// Not ok when `strict` was asked for and a node failed.
  Status validation;
};

/// Makes `{save_path}/{name}/` and begins to watch every operator of the process. `name` may be a path; its last part
/// names the graph. While active: warns and starts over.
LEAPP_API Status start(const std::string& name, const StartOptions& options = {});

/// Ends capture in any case: the hook and all tables are gone. A call that is not finished is dropped, with a line in
/// the log. kFailedPrecondition when not started, or when an operator went wrong and no call told so yet.
LEAPP_API Status stop();

/// Writes the bundle and checks what it wrote. May be called again; the files come out the same.
LEAPP_API Result<CompileReport> compile_graph(const CompileOptions& options = {});

/// True between start() and stop().
LEAPP_API bool is_active();

/// Gives constants made from `tensor` a readable name ("actor.0.weight"). A parameter stays one in the exported module.
/// Nothing happens when not started.
LEAPP_API void name_tensor(const at::Tensor& tensor, const std::string& name, bool parameter = false);

/// True for a tensor whose value depends on the inputs or the state of an open node.
LEAPP_API bool is_live(const at::Tensor& tensor);

namespace annotate {

/// Opens `node`, or adds inputs to it while it is open. What comes back has the structure of what was given and aliases
/// its tensors; compute with that. Announced again in the same call, an input that holds the same is that input; one
/// that holds something else takes its place. On failure nothing has changed.
LEAPP_API Result<std::vector<Nested>> input_tensors(const std::string& node, const Payload& tensors);

/// Closes `node` and hands back `tensors`. On failure the node stays open.
LEAPP_API Result<std::vector<Nested>> output_tensors(const std::string& node, const Payload& tensors,
                                                     const OutputOptions& options = {});

/// Declares state of the open node: an input whose next value `update_state` names. Like input_tensors otherwise. A
/// value of the node itself is what the state holds now; how it was computed is not part of the model.
LEAPP_API Result<std::vector<at::Tensor>> state_tensors(const std::string& node, const NamedTensors& tensors);

/// The states of that name, declared or found, of `node`, are histories of its input `from`: a reset to the first frame
/// fills them with it (runtime/pipeline.h). `from` empty: they are none, whatever they look like. Without this,
/// histories are found by their update. compile_graph fails for a state or an input that is not there, or when frames
/// of the input do not fit the state. kInvalidArgument when something else was said before. Nothing happens when not
/// started.
LEAPP_API Status reset_from(const std::string& node, const std::vector<std::string>& states, const std::string& from);

/// The values that states declared before have in the next call. Hands them back.
LEAPP_API Result<std::vector<at::Tensor>> update_state(const std::string& node, const NamedTensors& tensors);

/// Tensors to write into, nested as in input_tensors. Content that survives from one call to the next and matters is
/// feedback state of that name.
LEAPP_API Result<std::vector<Nested>> register_buffer(const std::string& node, const Payload& tensors);

/// A place that holds a tensor now and may hold another one when the node closes, such as a buffer of a module.
struct Buffer {
  std::string name;                 ///< "memory.hidden"; the port is "memory_hidden"
  std::function<at::Tensor()> get;  ///< called by `module` and when the node closes, without any lock of ours
};

/// Buffers that change while the node is open, by reassignment or in place, become feedback state.
/// REQUIRES: the module has not run in this call of the node.
LEAPP_API Status module(const std::string& node, const std::vector<Buffer>& buffers);

/// `target` holds the bits of `source` and continues its trace.
LEAPP_API Status mirror_leapp_tags(const at::Tensor& source, const at::Tensor& target);

}  // namespace annotate
}  // namespace leapp
