// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "engine/ort/api.h"
#include "engine/ort/library.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/spec.h"

namespace leapp::bench {

/// What one would write by hand around ONNX Runtime: a session for each model, tensors in place, Run, and a copy for
/// each piece of state. One thread. Ends the program when something goes wrong.
class RawPipeline {
 public:
  RawPipeline(const engine::ort::Library& library, const bundle::BundleSpec& spec, const bundle::Wiring& wiring,
              const std::vector<std::filesystem::path>& models);

  void step();
  [[nodiscard]] float* input() { return reinterpret_cast<float*>(inputs_.at(first_input_).data()); }

 private:
  using Block = std::vector<std::byte>;

  struct Session {
    engine::ort::Owned<OrtSession> session{nullptr, nullptr};
    std::vector<const char*> input_names;
    std::vector<const char*> output_names;
    std::vector<OrtValue*> inputs;
    std::vector<OrtValue*> outputs;
  };

  void check(OrtStatus* status) const;
  OrtValue* tensor(const bundle::Port& port, Block& block);
  Session make_session(std::size_t node, const std::filesystem::path& model);

  const OrtApi& api_;
  const engine::ort::Library& library_;
  bundle::BundleSpec spec_;
  bundle::Wiring wiring_;
  std::map<bundle::PortIndex, bundle::PortIndex> sources_;
  std::map<bundle::PortIndex, Block> inputs_;
  std::map<bundle::PortIndex, Block> outputs_;
  bundle::PortIndex first_input_;
  std::vector<engine::ort::Owned<OrtValue>> values_;
  std::vector<Session> sessions_;
};

}  // namespace leapp::bench
