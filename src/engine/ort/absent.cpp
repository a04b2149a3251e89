// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/ort_engine.h"

// Takes the place of the engine in a build that found no headers of ONNX Runtime.
namespace leapp::engine {

Result<std::unique_ptr<Engine>> open_onnxruntime(const Options& /*options*/) {
  return unimplemented(
      "ONNX models cannot be run: this build of LEAPP found no headers of ONNX Runtime; configure it with "
      "-DONNXRUNTIME_ROOT=<folder that has include/onnxruntime_c_api.h>");
}

}  // namespace leapp::engine
