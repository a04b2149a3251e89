// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/status.h"

/// config.pbtxt of a model of NVIDIA's Triton Inference Server: the text form of its message ModelConfig.
namespace leapp::fleet {

struct TritonTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
};

/// What goes from one request of a sequence to the next, kept by the server.
struct TritonState {
  std::string input;
  std::string output;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::string file;  ///< under initial_state/: what it begins with; empty: zeros
};

struct TritonStep {
  std::string model;
  std::vector<std::pair<std::string, std::string>> inputs;   ///< of the model, of the ensemble
  std::vector<std::pair<std::string, std::string>> outputs;  ///< likewise
};

struct TritonConfig {
  std::string name;
  std::string backend;  ///< "onnxruntime", "pytorch", "python"; empty for an ensemble
  std::string file;     ///< of the model, in the folder of its version; empty: the back end's usual one
  std::vector<TritonTensor> inputs;
  std::vector<TritonTensor> outputs;
  bool sequences = false;           ///< requests belong to sequences
  std::vector<TritonState> states;  ///< kept by the server
  bool controls = false;            ///< the model is told where a sequence begins and ends, and which it is
  std::vector<TritonStep> steps;    ///< of an ensemble
  int instances = 1;
  std::uint64_t idle_microseconds = 0;
};

/// The beginning of a configuration: a folder with another one is not ours to replace.
inline constexpr const char* kTritonFirstWords = "# Written by leapp export-triton.";

/// kUnimplemented, with the tensor, for what Triton has no type for.
Result<std::string> triton_text(const TritonConfig& config);

/// The control inputs of a model with TritonConfig::controls.
inline constexpr const char* kTritonStart = "START";
inline constexpr const char* kTritonEnd = "END";
inline constexpr const char* kTritonSequence = "CORRID";

}  // namespace leapp::fleet
