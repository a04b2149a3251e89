// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fleet/triton_config.h"
#include "inspect/opened_bundle.h"

namespace leapp::fleet {

enum class TritonBackend {
  kAuto,    ///< one ONNX model where the nodes can be one, else an ensemble
  kPython,  ///< a model in Python that runs the bundle through LEAPP's runtime: any bundle, any wiring
};

struct TritonRequest {
  std::string name;  ///< of the model
  TritonBackend backend = TritonBackend::kAuto;
  int instances = 4;
  std::uint64_t idle_seconds = 60;
};

/// A model repository: files by their path in it.
struct TritonRepository {
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<TritonConfig> models;  ///< the one that clients call is the last
  std::string note;                  ///< why it is an ensemble; empty when it is none
};

/// An error says what keeps the bundle from being served so, and what to do about it.
Result<TritonRepository> make_triton_repository(const inspect::OpenedBundle& opened, const TritonRequest& request,
                                                const bundle::FileOptions& files);

}  // namespace leapp::fleet
