// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>

#include "leapp/base/status.h"
#include "leapp/engine/options.h"

namespace leapp::engine::ort {

/// Newer functions of OrtApi must not be touched, although the headers have them.
inline constexpr std::uint32_t kApiVersion = 17;

/// An ONNX Runtime in this process, with the one environment that all our sessions share. Lives until the process ends:
/// ONNX Runtime does not survive being unloaded.
struct Library {
  const OrtApi* api = nullptr;
  OrtEnv* env = nullptr;
  std::string description;  ///< "ONNX Runtime 1.31.1 (/path/libonnxruntime.so.1)"
  /// Whether its sessions can be made to ask us for memory (memory.h): not where somebody else in the process has
  /// registered an allocator of his own, with ONNX Runtime before 1.22.
  bool counts_memory = false;
};

/// Finds one, as Options::onnxruntime_library says. A place that was named on purpose and has none is an error; so is
/// a library without API version 17.
Result<const Library*> find_library(const Options& options);

}  // namespace leapp::engine::ort
