// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "leapp/base/status.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/reader.h"
#include "leapp/bundle/spec.h"

namespace leapp::inspect {

/// What files were found to be: thousands of nodes may have the same one, which is read and hashed once.
class KnownFiles;

/// A bundle whose YAML could be read. Its wiring may have problems, and its files need not be there.
struct OpenedBundle {
  std::filesystem::path yaml;
  std::filesystem::path folder;
  std::string name;
  bundle::BundleSpec spec;
  bundle::WiringReport report;
  std::shared_ptr<KnownFiles> known;  ///< of read_model_facts
};

/// `path` is the YAML file, or the folder that has one of its own name.
Result<OpenedBundle> open_bundle(const std::filesystem::path& path);

/// The file behind a node.
struct ModelFacts {
  enum class Checksum { kNone, kOk, kDiffers };

  bundle::ModelFile file;
  std::uint64_t size = 0;  ///< of the file
  Digests digests;
  Checksum checksum = Checksum::kNone;  ///< kNone: the bundle has none for it
};

/// "model_path" and checksums of a node: nodes that have the same have the same file.
[[nodiscard]] std::string file_key(const bundle::Model& model);

/// A Status when it cannot be found or read. The bytes of large files are the same memory as long as somebody has them.
Result<ModelFacts> read_model_facts(const OpenedBundle& opened, const bundle::Model& model,
                                    const bundle::FileOptions& options = {});

/// The file of every node, in memory: together they have at most the options' memory_limit. Where one is not an ONNX
/// model, the error says how to make it one.
Result<std::vector<bundle::ModelFile>> read_onnx_models(const OpenedBundle& opened, const bundle::FileOptions& options);

/// "node/port".
[[nodiscard]] std::string input_name(const bundle::BundleSpec& spec, bundle::PortIndex at);
[[nodiscard]] std::string output_name(const bundle::BundleSpec& spec, bundle::PortIndex at);

/// The value of "leapp config version", "torch version", ...; nothing when it is not written or null.
[[nodiscard]] std::optional<std::string> system_value(const bundle::BundleSpec& spec, std::string_view key);

}  // namespace leapp::inspect
