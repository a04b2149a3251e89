// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/verified_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/folder_names.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "bundle/folder/file_system.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestKey = std::size_t{1} << 16U;
constexpr std::size_t kPiece = std::size_t{1} << 20U;

/// Opens a regular file that is no symlink.
Result<FileDescriptor> open_regular(const fs::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!file.is_open()) return file_error("read", path, errno);
  struct ::stat status {};
  if (::fstat(file.number(), &status) != 0) return file_error("read", path, errno);
  if (!S_ISREG(status.st_mode)) return io_error(fmt::format("{} is not a regular file", quote(path.string())));
  return file;
}

/// Reads `path` once, in pieces that are hashed and given to `use`.
template <typename Use>
Result<ManifestFile> read_pieces(const fs::path& path, Use use) {
  LEAPP_ASSIGN_OR_RETURN(const FileDescriptor file, open_regular(path));
  Sha256 sum;
  ManifestFile found;
  std::vector<std::byte> piece(kPiece);
  for (;;) {
    const ::ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("read", path, errno);
    if (count == 0) break;
    const std::span<const std::byte> bytes = std::span(piece).first(static_cast<std::size_t>(count));
    sum.update(bytes);
    found.size += bytes.size();
    LEAPP_RETURN_IF_ERROR(use(bytes));
  }
  LEAPP_ASSIGN_OR_RETURN(found.sha256, sum.finish());
  return found;
}

bool is_listed(const std::string& path) {
  const bool top = path.find('/') == std::string::npos;
  // A manifest that is just being written is none of the bundle's files either.
  return !top || (path != Logger::kFileName && !path.ends_with(kManifestSuffix) &&
                  !path.ends_with(part_of(kManifestSuffix).string()));
}

Result<std::vector<PublicKey>> keys_of(const Trust& trust) {
  std::vector<PublicKey> keys;
  for (std::size_t i = 0; i < trust.keys.size(); ++i) {
    const bool text = trust.keys[i].find("-----BEGIN") != std::string::npos;
    const std::string place = fmt::format("trusted key {}{}: ", i + 1, text ? "" : " (" + trust.keys[i] + ")");
    const auto pem = key_text(trust.keys[i]);
    if (!pem.ok()) return Status(pem.status().code(), place + pem.status().message());
    auto key = PublicKey::parse(pem.value());
    if (!key.ok()) return Status(key.status().code(), place + key.status().message());
    keys.push_back(std::move(key).value());
  }
  return keys;
}

template <typename Range>
std::string fingerprints(const Range& range, const auto& of) {
  std::vector<std::string> texts;
  texts.reserve(std::size(range));
  for (const auto& each : range) texts.push_back(of(each));
  return texts.empty() ? "none" : join(texts, ", ");
}

/// The key that has signed it.
Result<std::string> check_signature(const Manifest& manifest, std::string_view message,
                                    const std::vector<PublicKey>& keys) {
  const ManifestSignature* broken = nullptr;
  for (const PublicKey& key : keys) {
    for (const ManifestSignature& signature : manifest.signatures) {
      if (signature.key != key.fingerprint()) continue;
      if (key.verifies(message, signature.bytes)) return key.fingerprint();
      broken = &signature;
    }
  }
  if (broken != nullptr) {
    return data_loss(
        fmt::format("the signature by {} is not one of this manifest: one of the two was changed since", broken->key));
  }
  return data_loss(fmt::format("expected a signature by one of the trusted keys {}, found {}",
                               fingerprints(keys, [](const PublicKey& key) { return key.fingerprint(); }),
                               fingerprints(manifest.signatures, [](const ManifestSignature& s) { return s.key; })));
}

std::string list(std::string_view what, const std::vector<std::string>& files) {
  constexpr std::size_t kShown = 20;
  if (files.empty()) return "";
  const std::vector<std::string> first(files.begin(),
                                       files.begin() + static_cast<long>(std::min(files.size(), kShown)));
  return fmt::format("; {}: {}{}", what, join(first, ", "),
                     files.size() > kShown ? fmt::format(" and {} more", files.size() - kShown) : "");
}

/// A disk that does not answer is no reason to say that somebody took the manifest away.
Status check_manifest_file(const fs::path& file) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(file, error).type();
  if (type == fs::file_type::none) return file_error("read", file, error.value());
  std::string found;
  if (type == fs::file_type::not_found) found = "expected a signed bundle, found no manifest: leapp sign makes one";
  if (type == fs::file_type::symlink) found = "expected a regular file, found a symlink";
  if (!found.empty()) return data_loss(fmt::format("{}: {}", file.string(), found));
  return open_regular(file).status();
}

Status check_listed(fs::file_type type, const std::string& path) {
  if (type != fs::file_type::regular) {
    return data_loss(fmt::format("expected regular files only, found {} {}",
                                 type == fs::file_type::symlink ? "the symlink" : "the special file", quote(path)));
  }
  if (is_manifest_path(path)) return {};
  return data_loss(fmt::format("expected names in UTF-8 without control characters, found {}", quote(path)));
}

}  // namespace

fs::path yaml_of(const fs::path& bundle) {
  if (auto found = locate_bundle(bundle); found.ok()) return std::move(found).value();
  std::error_code error;
  const fs::path folder = fs::canonical(bundle, error);
  return folder / (folder.filename().string() + ".yaml");  // whoever reads it says that there is none
}

Result<std::string> key_text(const std::string& key) {
  if (key.find("-----BEGIN") != std::string::npos) return key;
  if (key.empty()) return invalid_argument("expected a key as PEM, or the path of its file, found nothing");
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(key, kLargestKey));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Status check_keys(std::span<const std::string> keys) { return keys_of({keys}).status(); }

std::string manifest_path(const fs::path& folder, const fs::path& path) {
  return path.lexically_relative(folder).generic_string();
}

Result<std::vector<std::string>> files_to_list(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::vector<fs::path> pending{folder}; !pending.empty();) {
    const fs::path place = std::move(pending.back());
    pending.pop_back();
    for (const std::string& name : folder_names(place, error)) {
      const fs::file_type type = fs::symlink_status(place / name, error).type();
      if (error) return file_error("read", place / name, error.value());
      if (type == fs::file_type::directory) {
        pending.push_back(place / name);
        continue;
      }
      const std::string path = manifest_path(folder, place / name);
      if (!is_listed(path)) continue;
      LEAPP_RETURN_IF_ERROR(check_listed(type, path));
      files.push_back(path);
    }
    if (error) return file_error("list", place, error.value());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<ManifestFile> hash_file(const fs::path& folder, const std::string& path) {
  LEAPP_ASSIGN_OR_RETURN(ManifestFile found, read_pieces(folder / path, [](auto /*piece*/) { return Status(); }));
  found.path = path;
  return found;
}

Result<VerifiedFiles> VerifiedFiles::open(const fs::path& yaml, const Trust& trust) {
  LEAPP_ASSIGN_OR_RETURN(const std::vector<PublicKey> keys, keys_of(trust));
  VerifiedFiles files;
  std::error_code error;
  const fs::path parent = yaml.parent_path();
  files.folder_ = fs::canonical(parent.empty() ? fs::path(".") : parent, error);
  if (error) return file_error("find", parent, error.value());
  files.file_ = files.folder_ / (yaml.stem().string() + std::string(kManifestSuffix));
  const auto failed = [&](const Status& status) {
    return Status(status.code(), fmt::format("{}: {}", files.file_.string(), status.message()));
  };
  if (!fs::exists(fs::symlink_status(yaml, error))) return file_error("read", yaml, error.value());
  LEAPP_RETURN_IF_ERROR(check_manifest_file(files.file_));
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(files.file_, kLargestManifest));
  auto manifest = parse_manifest({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!manifest.ok()) return failed(manifest.status());
  files.manifest_ = std::move(manifest).value();
  const auto key = check_signature(files.manifest_, signed_text(files.manifest_), keys);
  if (!key.ok()) return failed(key.status());
  files.signature_ = {key.value(), files.manifest_.serial, files.manifest_.files.size(),
                      files.manifest_.signatures.size()};
  if (files.manifest_.bundle != yaml.filename().string()) {
    return failed(data_loss(fmt::format("expected the manifest of {}, found that of {}",
                                        quote(yaml.filename().string()), quote(files.manifest_.bundle))));
  }
  if (files.manifest_.serial < trust.minimum_serial) {
    return failed(data_loss(fmt::format("expected serial {} or later, found {}: it is an earlier release",
                                        trust.minimum_serial, files.manifest_.serial)));
  }
  if (const Status listing = files.check_listing(); !listing.ok()) return failed(listing);
  return files;
}

Status VerifiedFiles::check_listing() const {
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::string> found, files_to_list(folder_));
  std::vector<std::string> missing;
  std::vector<std::string> changed;
  std::vector<std::string> added;
  for (const ManifestFile& file : manifest_.files) {
    if (!std::binary_search(found.begin(), found.end(), file.path)) {
      missing.push_back(file.path);
      continue;
    }
    std::error_code error;
    const std::uintmax_t size = fs::file_size(folder_ / file.path, error);
    if (error) return file_error("read", folder_ / file.path, error.value());
    if (size == file.size) continue;
    changed.push_back(fmt::format("{} ({} bytes, expected {})", file.path, size, file.size));
  }
  std::copy_if(found.begin(), found.end(), std::back_inserter(added),
               [&](const std::string& path) { return manifest_.find(path) == nullptr; });
  if (missing.empty() && changed.empty() && added.empty()) return {};
  return data_loss(fmt::format("the folder is not the one that was signed{}{}{}", list("missing", missing),
                               list("changed", changed), list("not signed", added)));
}

Result<const ManifestFile*> VerifiedFiles::find(const fs::path& file) const {
  const std::string path = manifest_path(folder_, file);
  const ManifestFile* found = manifest_.find(path);
  if (found != nullptr) return found;
  return data_loss(fmt::format("{}: expected one of the {} files that were signed, found {}", file_.string(),
                               manifest_.files.size(), quote(path)));
}

Status VerifiedFiles::compare(const ManifestFile& expected, const ManifestFile& found) const {
  if (expected.sha256 == found.sha256 && expected.size == found.size) return {};
  return data_loss(fmt::format("{}: {} was changed since it was signed: expected {} ({} bytes), found {} ({} bytes)",
                               file_.string(), expected.path, expected.sha256, expected.size, found.sha256,
                               found.size));
}

Status VerifiedFiles::check(const fs::path& file, std::span<const std::byte> bytes) {
  LEAPP_ASSIGN_OR_RETURN(const ManifestFile* expected, find(file));
  ManifestFile found{.path = expected->path, .sha256 = {}, .size = bytes.size()};
  LEAPP_ASSIGN_OR_RETURN(found.sha256, sha256_of(bytes));
  checked_.insert(expected->path);
  return compare(*expected, found);
}

Status VerifiedFiles::copy(const fs::path& file, const fs::path& to) {
  LEAPP_ASSIGN_OR_RETURN(const ManifestFile* expected, find(file));
  const FileDescriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!target.is_open()) return file_error("write", to, errno);
  auto found =
      read_pieces(file, [&](std::span<const std::byte> piece) { return write_all(target.number(), piece, to); });
  Status status = found.ok() ? compare(*expected, found.value()) : found.status();
  checked_.insert(expected->path);
  if (!status.ok()) ::unlink(to.c_str());
  return status;
}

Status VerifiedFiles::check_rest() {
  std::vector<std::string> changed;
  for (const ManifestFile& file : manifest_.files) {
    if (checked_.contains(file.path)) continue;
    const auto found = hash_file(folder_, file.path);
    if (!found.ok()) return {StatusCode::kDataLoss, fmt::format("{}: {}", file_.string(), found.status().message())};
    checked_.insert(file.path);
    if (!compare(file, found.value()).ok()) changed.push_back(file.path);
  }
  if (changed.empty()) return {};
  return data_loss(
      fmt::format("{}: the folder is not the one that was signed{}", file_.string(), list("changed", changed)));
}

}  // namespace leapp::bundle
