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

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leapp/base/status.h"

#define LEAPP_API __attribute__((visibility("default")))

namespace leapp {

/// Ports by name, in order.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

struct StartOptions {
  std::string save_path = ".";
  bool verbose = false;        ///< everything on the console, not only warnings and errors
  int max_cached_io = 5;       ///< re-entries whose inputs and outputs are kept as samples
  std::string python_version;  ///< for the bundle's system information; empty from C++
  std::string torch_version;   ///< likewise; empty: the version this was built against
};

struct CompileOptions {
  bool visualize = true;
  std::optional<bool> verbose;  ///< overrides the console for this call
  bool validate = true;
  double rtol = 1e-3;
  double atol = 1e-5;
  bool strict = true;  ///< a failed node makes the call fail, after everything is written
};

struct OutputOptions {
  /// "jit" (also "jit-script", "jit-trace"); absent: the node gets no model.
  std::optional<std::string> export_with;
};

struct NodeResult {
  std::string node;
  std::string status;  ///< "passed", "failed", "errored" or "skipped"
  int samples = 0;
  int outputs = 0;
  std::string message;
  [[nodiscard]] bool ok() const { return status == "passed" || status == "skipped"; }
};

struct CompileReport {
  std::string folder;
  std::vector<NodeResult> nodes;
  /// Not ok when `strict` was asked for and a node failed.
  Status validation;
};

/// Makes `{save_path}/{name}/` and begins to watch every operator of the process. `name` may be a path; its last part
/// names the graph. While active: warns and starts over.
LEAPP_API Status start(const std::string& name, const StartOptions& options = {});

/// Ends capture: the hook and all tables are gone. kFailedPrecondition when not started or a node is open.
LEAPP_API Status stop();

/// Writes the bundle and checks what it wrote. May be called again; the files come out the same.
LEAPP_API Result<CompileReport> compile_graph(const CompileOptions& options = {});

/// True between start() and stop().
LEAPP_API bool is_active();

/// Gives constants made from `tensor` a readable name ("actor.0.weight"). A parameter stays one in the exported module.
/// Nothing happens when not started.
LEAPP_API void name_tensor(const at::Tensor& tensor, const std::string& name, bool parameter = false);

namespace annotate {

/// Opens `node`, or adds inputs to it while it is open. What comes back aliases the tensors given; compute with that.
/// On failure nothing has changed.
LEAPP_API Result<std::vector<at::Tensor>> input_tensors(const std::string& node, const NamedTensors& tensors);

/// Closes `node` and hands back `tensors`. On failure the node stays open.
LEAPP_API Result<std::vector<at::Tensor>> output_tensors(const std::string& node, const NamedTensors& tensors,
                                                         const OutputOptions& options = {});

}  // namespace annotate
}  // namespace leapp
