// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's own exporters ("onnx-dynamo", "onnx-torchscript", "pt2"). They are Python; the front
// end of a program that has an interpreter says how to reach them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exporter/prepare.h"
#include "leapp/base/status.h"

namespace leapp::exporter {

/// One node for one of the exporters.
struct PytorchRequest {
  const PreparedNode* node = nullptr;
  const graph::Graph* graph = nullptr;  ///< the node's, or that with both sides of its branches written out
  std::string backend;                  ///< "onnx-dynamo", "onnx-torchscript" or "pt2"
  std::vector<std::pair<std::string, std::string>> metadata;  ///< of an ONNX model, in this order
  std::string torchscript;                                    ///< the node as a .pt file, for "onnx-torchscript" only
  std::unordered_map<const graph::Value*, at::Tensor> constants;  ///< of the graph and its sides; not to be written to
  std::vector<at::Tensor> sample;                                 ///< the inputs of the node's first call
};

/// What an exporter made of it, or why not, and all it had to say meanwhile.
struct PytorchAnswer {
  Result<std::string> model = std::string();
  std::string chatter = {};
};

/// A loaded "pt2" model. May be called until the interpreter ends.
using Pt2Model = std::function<Result<std::vector<at::Tensor>>(const std::vector<at::Tensor>&)>;

/// The way into Python: what FrontEnd::pytorch_exporters gives. None of the functions throws; each may be called from
/// any thread.
struct PytorchExporters {
  std::function<PytorchAnswer(const PytorchRequest&)> emit;
  std::function<Result<Pt2Model>(const std::filesystem::path&)> load;
  std::function<Result<std::vector<std::string>>(const std::filesystem::path&)> inputs;
};

/// False in a program without Python.
[[nodiscard]] bool has_pytorch_exporters();

/// The bytes of the model, a single file. The chatter goes to the log, nothing of it to the console. kUnimplemented,
/// with the operator and the user's line: what the exporter cannot say, and any use without Python.
/// REQUIRES: no session records; `request.node`, `backend` and `metadata` are set, the rest is filled in here.
Result<std::string> export_with_pytorch(PytorchRequest request, Logger& log);

/// kUnimplemented without Python.
Result<Pt2Model> load_pt2(const std::filesystem::path& file);

/// The names of the inputs of a "pt2" model. kUnimplemented without Python.
Result<std::vector<std::string>> inputs_of_pt2(const std::filesystem::path& file);

}  // namespace leapp::exporter
