// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The one place that knows what may stand behind `export_with` and in `backend_params`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "leapp/bundle/format.h"
#include "leapp/capture.h"

namespace leapp::exporter {

enum class BackendKind {
  kNone,         ///< a node without a model
  kGiven,        ///< a model of the user's
  kTorchScript,  ///< our emitter
  kOnnx,         ///< our emitter
  kPytorch,      ///< one of PyTorch's own exporters: onnx-dynamo, onnx-torchscript, pt2
};

struct Backend {
  BackendKind kind = BackendKind::kNone;
  std::string name;                           ///< as in `export_with`; empty for kNone and kGiven
  std::optional<bundle::ModelFormat> format;  ///< absent for kNone
  std::int64_t opset_version = 18;
  std::optional<std::int64_t> ir_version;  ///< absent: the lowest that the opset allows
  /// Bytes of weights that still go into the model's own file. Engines map a file of weights; what is in a model they
  /// copy.
  std::int64_t external_data_above = std::int64_t{256} << 20U;
  std::optional<std::int64_t> seed;  ///< of the model's own random numbers; absent: others in every run
  bool optimize = true;
  bool source_lines = false;  ///< jit: the model's tracebacks name the user's files and lines
  bool report = false;
  bool verify = false;
  std::filesystem::path model_path;  ///< kGiven: where the user's file is
  bool copy_original_model = true;
  std::vector<std::string> notes;  ///< parameters that are accepted and change nothing

  /// "jit", ".pt"; both empty for kNone.
  [[nodiscard]] std::string format_name() const;
  [[nodiscard]] std::string suffix() const;
};

/// Reads both options of a node. Unknown names list the known ones; a file that is not there is kInvalidArgument.
/// Parameters that other exporters know and that have nothing to change here are accepted, with a note.
Result<Backend> parse_backend(const std::string& node, const OutputOptions& options);

/// `options` with the path of a model of the user's made absolute: the working directory may change until
/// compile_graph.
OutputOptions with_absolute_path(OutputOptions options);

}  // namespace leapp::exporter
