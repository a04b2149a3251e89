// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "leapp/base/status.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/reader.h"
#include "leapp/bundle/spec.h"

namespace leapp::cli {

/// A bundle whose YAML could be read. Its wiring may have problems, and its files need not be there.
struct OpenedBundle {
  std::filesystem::path yaml;
  std::filesystem::path folder;
  std::string name;
  bundle::BundleSpec spec;
  bundle::WiringReport report;
};

/// `path` is the YAML file, or the folder that has one of its own name.
Result<OpenedBundle> open_bundle(const std::filesystem::path& path);

/// The file behind a node.
struct ModelFacts {
  enum class Checksum { kNone, kOk, kDiffers };

  bundle::ModelFile file;
  Digests digests;
  Checksum checksum = Checksum::kNone;  ///< kNone: the bundle has none for it
};

/// A Status when it cannot be found or read.
Result<ModelFacts> read_model_facts(const OpenedBundle& opened, const bundle::Model& model,
                                    const bundle::FileOptions& options = {});

/// The file of every node. Where one is not an ONNX model, the error says how to make it one.
Result<std::vector<bundle::ModelFile>> read_onnx_models(const OpenedBundle& opened, const bundle::FileOptions& options);

/// "node/port".
[[nodiscard]] std::string input_name(const bundle::BundleSpec& spec, bundle::PortIndex at);
[[nodiscard]] std::string output_name(const bundle::BundleSpec& spec, bundle::PortIndex at);

/// The value of "leapp config version", "torch version", ...; nothing when it is not written or null.
[[nodiscard]] std::optional<std::string> system_value(const bundle::BundleSpec& spec, std::string_view key);

}  // namespace leapp::cli
