// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/opened_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "base/text.h"
#include "inspect/words.h"

namespace leapp::inspect {
namespace {

namespace fs = std::filesystem;

bool same_digest(const std::string& written, const std::string& found) {
  return std::equal(written.begin(), written.end(), found.begin(), found.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

// Small enough to be kept beside everything else.
constexpr std::uint64_t kMostKept = std::uint64_t{32} << 20U;

}  // namespace

class KnownFiles {
 public:
  struct File {
    bundle::ModelFile file;  ///< without bytes where there was no room for them
    Digests digests;
  };

  Result<File> read(const OpenedBundle& opened, const bundle::Model& model, const bundle::FileOptions& options) {
    const auto known = files_.find(file_key(model));
    if (known != files_.end() && !known->second.file.path.empty()) return known->second;
    File found;
    LEAPP_ASSIGN_OR_RETURN(found.file, bundle::read_model(opened.folder, model, options));
    if (known != files_.end()) {
      found.digests = known->second.digests;
      return found;
    }
    LEAPP_ASSIGN_OR_RETURN(found.digests, digest_bytes(found.file.bytes));
    LEAPP_RETURN_IF_ERROR(bundle::check_unchanged(found.file));
    const std::uint64_t size = found.file.mapped ? 0 : found.file.bytes.size();
    const bool room = kept_ + size <= kMostKept;
    kept_ += room ? size : 0;
    files_.emplace(file_key(model), room ? found : File{{}, found.digests});
    return found;
  }

 private:
  std::map<std::string, File> files_;
  std::uint64_t kept_ = 0;
};

std::string file_key(const bundle::Model& model) {
  const bundle::ModelParameters& has = model.parameters;
  return fmt::format("{} {} {} {}", quote(has.model_path.value_or("")), quote(has.sha256sum.value_or("")),
                     quote(has.md5sum.value_or("")), quote(has.backend.value_or("")));
}

Result<OpenedBundle> open_bundle(const fs::path& path) {
  OpenedBundle opened;
  opened.known = std::make_shared<KnownFiles>();
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
  auto known = opened.known->read(opened, model, unchecked);
  if (!known.ok()) return Status(known.status().code(), in_option_words(known.status().message()));
  facts.file = std::move(known.value().file);
  facts.digests = std::move(known.value().digests);
  facts.size = facts.file.bytes.size();
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
  std::uint64_t total = 0;
  for (const bundle::Model& model : opened.spec.models) {
    if (model.parameters.format() != bundle::ModelFormat::kOnnx) {
      return failed_precondition(
          fmt::format("node {}: expected an ONNX model, found {}: export it with export_with=\"onnx\"", model.name,
                      quote(model.parameters.backend.value_or("none"))));
    }
    LEAPP_ASSIGN_OR_RETURN(bundle::ModelFile file, bundle::read_model(opened.folder, model, options));
    total += file.bytes.size();
    if (options.memory_limit > 0 && total > options.memory_limit) {
      return invalid_argument(
          fmt::format("node {}: its model and those before it have {}, the option memory_limit is {}", model.name,
                      bytes_text(total), bytes_text(options.memory_limit)));
    }
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

}  // namespace leapp::inspect
