// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/opened_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "cli/words.h"

namespace leapp::cli {
namespace {

namespace fs = std::filesystem;

bool same_digest(const std::string& written, const std::string& found) {
  return std::equal(written.begin(), written.end(), found.begin(), found.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

}  // namespace

Result<OpenedBundle> open_bundle(const fs::path& path) {
  OpenedBundle opened;
  LEAPP_ASSIGN_OR_RETURN(opened.yaml, bundle::locate_bundle(path));
  opened.folder = opened.yaml.parent_path();
  opened.name = opened.yaml.stem().string();
  LEAPP_ASSIGN_OR_RETURN(opened.spec, bundle::read_bundle(opened.yaml));
  opened.report = bundle::resolve_wiring(opened.spec);
  return opened;
}

Result<ModelFacts> read_model_facts(const OpenedBundle& opened, const bundle::Model& model,
                                    const bundle::FileOptions& options) {
  ModelFacts facts;
  const bundle::FileOptions unchecked{
      .allow_outside = options.allow_outside, .verify_checksums = false, .memory_limit = options.memory_limit};
  auto file = bundle::read_model(opened.folder, model, unchecked);
  if (!file.ok()) return Status(file.status().code(), in_option_words(file.status().message()));
  facts.file = std::move(file).value();
  LEAPP_ASSIGN_OR_RETURN(facts.digests, digest_bytes(facts.file.bytes));
  LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(facts.file));
  const bundle::ModelParameters& written = model.parameters;
  if (written.sha256sum || written.md5sum) {
    const bool same = (!written.sha256sum || same_digest(*written.sha256sum, facts.digests.sha256)) &&
                      (!written.md5sum || same_digest(*written.md5sum, facts.digests.md5));
    facts.checksum = same ? ModelFacts::Checksum::kOk : ModelFacts::Checksum::kDiffers;
  }
  return facts;
}

Result<std::vector<bundle::ModelFile>> read_onnx_models(const OpenedBundle& opened,
                                                        const bundle::FileOptions& options) {
  std::vector<bundle::ModelFile> models;
  for (const bundle::Model& model : opened.spec.models) {
    if (model.parameters.format() != bundle::ModelFormat::kOnnx) {
      return failed_precondition(
          fmt::format("node {}: expected an ONNX model, found {}: export it with export_with=\"onnx\"", model.name,
                      quote(model.parameters.backend.value_or("none"))));
    }
    LEAPP_ASSIGN_OR_RETURN(bundle::ModelFile file, bundle::read_model(opened.folder, model, options));
    models.push_back(std::move(file));
  }
  return models;
}

std::string input_name(const bundle::BundleSpec& spec, bundle::PortIndex at) {
  return spec.models[at.node].name + "/" + spec.models[at.node].inputs[at.port].name;
}

std::string output_name(const bundle::BundleSpec& spec, bundle::PortIndex at) {
  return spec.models[at.node].name + "/" + spec.models[at.node].outputs[at.port].name;
}

std::optional<std::string> system_value(const bundle::BundleSpec& spec, std::string_view key) {
  for (const auto& [name, value] : spec.system_information) {
    if (name == key) return value;
  }
  return std::nullopt;
}

}  // namespace leapp::cli
