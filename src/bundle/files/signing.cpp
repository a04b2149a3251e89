// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/signing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/ed25519.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "bundle/files/manifest.h"
#include "bundle/files/verified_files.h"
#include "bundle/folder/file_system.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

/// A bundle that is about to be signed, or verified.
struct BundlePaths {
  fs::path yaml;  ///< in the canonical folder
  fs::path folder;
  fs::path manifest;
};

Result<BundlePaths> paths_of(const fs::path& bundle) {
  const fs::path yaml = yaml_of(bundle);
  std::error_code error;
  const fs::path parent = yaml.parent_path();
  const fs::path folder = fs::canonical(parent.empty() ? fs::path(".") : parent, error);
  if (error) return file_error("find", parent, error.value());
  const fs::path name = yaml.filename();
  if (!fs::exists(fs::symlink_status(folder / name, error))) {
    return io_error(fmt::format("{} is not a bundle: expected {}, found none", quote(bundle.string()),
                                quote((folder / name).string())));
  }
  return BundlePaths{folder / name, folder, folder / (name.stem().string() + std::string(kManifestSuffix))};
}

Status at(const BundlePaths& paths, const Status& status) {
  return {status.code(), fmt::format("{}: {}", paths.yaml.string(), status.message())};
}

/// What the YAML wants to read has to be among the files, and to be what its checksum says.
Status check_reference(const BundlePaths& paths, const Manifest& manifest, const std::string& name,
                       const std::string& where, const std::optional<std::string>& sum) {
  const auto path = locate_file(paths.folder, name);
  if (!path.ok()) {
    return {path.status().code(),
            fmt::format("{}: {}: a signed bundle has all its files in its folder", where, path.status().message())};
  }
  const ManifestFile* file = manifest.find(manifest_path(paths.folder, path.value()));
  if (file == nullptr) {
    return invalid_argument(fmt::format("{}: {} is a file that is never signed (log.txt, *.manifest)", where, name));
  }
  std::string lower = sum.value_or(file->sha256);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower == file->sha256) return {};
  return data_loss(
      fmt::format("{}: the YAML's sha256sum is {}, that of {} is {}: it is not the model that was exported", where,
                  *sum, name, file->sha256));
}

Status check_references(const BundlePaths& paths, const Manifest& manifest, const BundleSpec& spec) {
  for (const Model& model : spec.models) {
    if (!model.parameters.model_path) continue;
    const std::string where = fmt::format("models.{}.parameters.model_path", model.name);
    LEAPP_RETURN_IF_ERROR(
        check_reference(paths, manifest, *model.parameters.model_path, where, model.parameters.sha256sum));
  }
  if (!spec.pipeline.initial_values) return {};
  return check_reference(paths, manifest, *spec.pipeline.initial_values, "pipeline.initial_values", std::nullopt);
}

Result<Manifest> describe(const BundlePaths& paths, std::uint64_t serial) {
  Manifest manifest{.bundle = paths.yaml.filename().string(), .serial = serial, .files = {}, .signatures = {}};
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_to_list(paths.folder));
  for (const std::string& path : names) {
    LEAPP_ASSIGN_OR_RETURN(ManifestFile file, hash_file(paths.folder, path));
    manifest.files.push_back(std::move(file));
  }
  const ManifestFile* yaml = manifest.find(manifest.bundle);
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(paths.yaml, kLargestManifest));
  LEAPP_ASSIGN_OR_RETURN(const std::string sum, sha256_of(bytes));
  if (yaml == nullptr || yaml->sha256 != sum) return io_error("it was changed while it was being signed");
  LEAPP_ASSIGN_OR_RETURN(const BundleSpec spec,
                         parse_bundle({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  LEAPP_RETURN_IF_ERROR(check_references(paths, manifest, spec));
  return manifest;
}

/// Signatures that others have made of the same text.
std::vector<ManifestSignature> signatures_to_keep(const BundlePaths& paths, const Manifest& manifest) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(paths.manifest, error))) return {};
  const auto bytes = read_file(paths.manifest, kLargestManifest);
  if (!bytes.ok()) return {};
  auto old = parse_manifest({reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()});
  if (!old.ok() || signed_text(old.value()) != signed_text(manifest)) return {};
  return std::move(old.value().signatures);
}

Result<KeyPair> make_pair_of_keys() {
  LEAPP_ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::make());
  LEAPP_ASSIGN_OR_RETURN(const PublicKey known, key.public_key());
  KeyPair pair;
  LEAPP_ASSIGN_OR_RETURN(pair.private_pem, key.to_pem());
  LEAPP_ASSIGN_OR_RETURN(pair.public_pem, known.to_pem());
  pair.fingerprint = known.fingerprint();
  return pair;
}

Result<KeyPair> write_pair_of_keys(const fs::path& private_file, const fs::path& public_file) {
  LEAPP_ASSIGN_OR_RETURN(KeyPair pair, make_pair_of_keys());
  LEAPP_RETURN_IF_ERROR(create_file(private_file, pair.private_pem, 0600));
  if (const Status status = create_file(public_file, pair.public_pem, 0644); !status.ok()) {
    ::unlink(private_file.c_str());
    return status;
  }
  return pair;
}

Result<Signature> sign_files(const fs::path& bundle, const std::string& private_key, const SignOptions& options) {
  const auto in_key = [&](const Status& status) {
    const bool text = private_key.find("-----BEGIN") != std::string::npos;
    return Status(status.code(), fmt::format("key{}: {}", text ? "" : " (" + private_key + ")", status.message()));
  };
  const auto pem = key_text(private_key);
  if (!pem.ok()) return in_key(pem.status());
  const auto key = PrivateKey::parse(pem.value());
  if (!key.ok()) return in_key(key.status());
  LEAPP_ASSIGN_OR_RETURN(const PublicKey known, key.value().public_key());
  LEAPP_ASSIGN_OR_RETURN(const BundlePaths paths, paths_of(bundle));
  auto described = describe(paths, options.serial);
  if (!described.ok()) return at(paths, described.status());
  Manifest& manifest = described.value();
  LEAPP_ASSIGN_OR_RETURN(const Ed25519Signature signature, key.value().sign(signed_text(manifest)));
  manifest.signatures = signatures_to_keep(paths, manifest);
  std::erase_if(manifest.signatures, [&](const ManifestSignature& one) { return one.key == known.fingerprint(); });
  manifest.signatures.push_back({known.fingerprint(), signature});
  std::sort(manifest.signatures.begin(), manifest.signatures.end(),
            [](const ManifestSignature& a, const ManifestSignature& b) { return a.key < b.key; });
  LEAPP_RETURN_IF_ERROR(replace_file(paths.manifest, manifest_text(manifest), true));
  return Signature{known.fingerprint(), manifest.serial, manifest.files.size(), manifest.signatures.size()};
}

Result<Signature> verify_files(const fs::path& bundle, std::span<const std::string> trusted_keys,
                               std::uint64_t minimum_serial) {
  if (trusted_keys.empty()) return invalid_argument("expected at least one trusted key, found none");
  LEAPP_ASSIGN_OR_RETURN(const BundlePaths paths, paths_of(bundle));
  LEAPP_ASSIGN_OR_RETURN(VerifiedFiles files, VerifiedFiles::open(paths.yaml, {trusted_keys, minimum_serial}));
  LEAPP_RETURN_IF_ERROR(files.check_rest());
  return files.signature();
}

}  // namespace

// Memory that runs out is an error like others.

Result<KeyPair> make_key_pair() {
  return without_exceptions([] { return make_pair_of_keys(); });
}

Result<KeyPair> write_key_pair(const fs::path& private_file, const fs::path& public_file) {
  return without_exceptions([&] { return write_pair_of_keys(private_file, public_file); });
}

Result<Signature> sign_bundle(const fs::path& bundle, const std::string& private_key, const SignOptions& options) {
  return without_exceptions([&] { return sign_files(bundle, private_key, options); });
}

Result<Signature> verify_bundle(const fs::path& bundle, std::span<const std::string> trusted_keys,
                                std::uint64_t minimum_serial) {
  return without_exceptions([&] { return verify_files(bundle, trusted_keys, minimum_serial); });
}

}  // namespace leapp::bundle
