// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "leapp/engine/stop.h"

namespace leapp::engine {

/// Where ONNX Runtime computes.
enum class Provider {
  kAuto,  ///< CUDA when this ONNX Runtime offers it and it starts, else the CPU
  kCpu,
  kCuda,  ///< an error when it is not there
};

/// What runs ONNX models.
enum class Prefer {
  kAuto,         ///< LEAPP's own engine where it covers the whole model and is the faster one, else ONNX Runtime
  kNative,       ///< LEAPP's own engine; an error that lists what it lacks when it does not cover the model
  kOnnxRuntime,  ///< always ONNX Runtime
};

/// How far ONNX Runtime may rewrite a model before running it. Rewrites known to break right models are never done.
enum class Optimisation { kOff, kBasic, kExtended, kAll };

/// How models are run. The defaults suit a control loop: one thread, the caller's, and nobody spins.
struct Options {
  /// Of ONNX models only. kAuto also takes ONNX Runtime where one of the options below asks it for something: a
  /// profile, CUDA, several threads.
  Prefer prefer = Prefer::kAuto;
  /// libonnxruntime.so, or a folder that has one. Empty: what LEAPP_ONNXRUNTIME names, one that the process has loaded
  /// already, the one in `onnxruntime_package`, the system's; in this order.
  std::string onnxruntime_library;
  /// Folder of the Python package `onnxruntime` (1.20 or newer: older ones have no library of their own); may be empty.
  std::string onnxruntime_package;
  /// libleapp_engine_torch2_13.so, of the torch that is to run models. Empty: what LEAPP_ENGINE_TORCH names, or the
  /// first that fits the libraries of torch it finds: beside this library, where the loader looks for libraries; newest
  /// first.
  std::string torch_engine_library;
  int intra_op_threads = 1;
  int inter_op_threads = 1;
  Provider provider = Provider::kAuto;
  Optimisation optimisation = Optimisation::kAll;
  /// ONNX Runtime writes a profile of each model to `{profile_prefix}_{time}.json` when the model is dropped; empty:
  /// no.
  std::string profile_prefix;
  /// What ends a run from outside; shared by all models of a pipeline. Null: Pipeline::load makes one.
  std::shared_ptr<Stop> stop;
};

}  // namespace leapp::engine
