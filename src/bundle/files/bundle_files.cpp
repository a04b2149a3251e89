// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <limits>
#include <new>

#include "base/hash.h"
#include "base/text.h"
#include "bundle/files/mapped_file.h"
#include "bundle/folder/file_system.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& file, const fs::path& folder) {
  const auto [rest, unused] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return rest == folder.end() && file != folder;
}

/// Whether the way to `path` goes through a symlink that lies in `folder`. Follows one link at a time, so that each can
/// be looked at.
bool passes_link_in(const fs::path& path, const fs::path& folder) {
  constexpr int kMostLinks = 40;  // as many as the system follows
  std::deque<fs::path> rest(path.begin(), path.end());
  fs::path walked;  // free of links
  for (int links = 0; !rest.empty();) {
    const fs::path part = rest.front();
    rest.pop_front();
    if (part == "..") {
      walked = walked.parent_path();
      continue;
    }
    walked /= part;
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(walked, error))) continue;
    if (is_inside(walked, folder) || ++links > kMostLinks) return true;
    const fs::path target = fs::read_symlink(walked, error);
    walked = walked.parent_path();  // an absolute target replaces it
    rest.insert(rest.begin(), target.begin(), target.end());
  }
  return false;
}

/// Whether `name`, as it is written, is a file outside of the folder that no link in it leads to.
bool is_named_outside(const fs::path& folder, const std::string& name) {
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error || name.find('\0') != std::string::npos) return false;
  const fs::path written = root / name;
  return !is_inside(written.lexically_normal(), root) && !passes_link_in(written, root);
}

/// A checksum as the YAML has it: `place` under the model's parameters, of `file`.
struct Recorded {
  std::string place;
  std::string sum;
  std::string file;
};

Status check_digest(const Model& model, const Recorded& recorded, const std::string& found) {
  std::string lower = recorded.sum;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower == found) return {};
  return data_loss(
      fmt::format("models.{}.parameters.{}: expected {}, found {} in {}: the model is not the one that was exported",
                  model.name, recorded.place, quote(recorded.sum), found, recorded.file));
}

/// Files of more bytes are mapped: an engine makes its own copy of the weights, and one is enough.
constexpr std::uint64_t kLargestRead = std::uint64_t{64} << 20U;

struct OpenFile {
  FileDescriptor descriptor;
  struct ::stat status {};
  std::uint64_t size = 0;
};

Result<OpenFile> open_to_read(const fs::path& path) {
  // Without O_NONBLOCK, opening a pipe would wait for someone to write to it.
  OpenFile file{FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  if (!file.descriptor.is_open()) return file_error("read", path, errno);
  if (::fstat(file.descriptor.number(), &file.status) != 0) return file_error("read", path, errno);
  if (!S_ISREG(file.status.st_mode))
    return io_error(fmt::format("cannot read {}: it is not a regular file", path.string()));
  file.size = static_cast<std::uint64_t>(file.status.st_size);
  return file;
}

/// What somebody has signed is read at once: what is compared and what is used are then the same.
Status fill(ModelFile& file, const FileOptions& options) {
  LEAPP_ASSIGN_OR_RETURN(OpenFile opened, open_to_read(file.path));
  if (options.memory_limit > 0 && opened.size > options.memory_limit) {
    return invalid_argument(fmt::format("{} has {}, the option memory_limit is {}", file.path.string(),
                                        bytes_text(opened.size), bytes_text(options.memory_limit)));
  }
  if (opened.size > kLargestRead && options.inspect == nullptr) {
    LEAPP_ASSIGN_OR_RETURN(file.mapped, MappedFile::map(std::move(opened.descriptor), opened.status, file.path));
    if (file.mapped) file.bytes = file.mapped->bytes();
    file.memory = file.mapped;
    if (file.mapped) return {};
  }
  LEAPP_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read_file(file.path, std::numeric_limits<std::int64_t>::max()));
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  file.bytes = *owner;
  file.memory = owner;
  return {};
}

}  // namespace

Result<std::vector<std::byte>> read_file(const fs::path& path, std::uint64_t largest) {
  LEAPP_ASSIGN_OR_RETURN(const OpenFile opened, open_to_read(path));
  const FileDescriptor& file = opened.descriptor;
  const std::uint64_t size = opened.size;
  if (size > largest) {
    return io_error(fmt::format("cannot read {}: expected at most {} bytes, found {}", path.string(), largest, size));
  }
  std::vector<std::byte> bytes;
  try {
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    return out_of_memory(fmt::format("cannot read {}: no memory for {} bytes", path.string(), size));
  }
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ::ssize_t count = ::read(file.number(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("read", path, errno);
    if (count == 0) break;  // it became shorter while it was read
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Result<fs::path> locate_file(const fs::path& folder, const std::string& name, const FileOptions& options) {
  if (name.empty() || name.find('\0') != std::string::npos) {
    return invalid_argument(fmt::format("expected the name of a file, found {}", quote(name)));
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error) return file_error("find", folder, error.value());
  const fs::path written = root / name;
  const fs::path file = fs::canonical(written, error);
  if (error && (options.allow_outside || is_inside(written.lexically_normal(), root))) {
    return file_error("find", written, error.value());
  }
  if (error || (!options.allow_outside && !is_inside(file, root))) {
    return invalid_argument(
        fmt::format("{} leads out of the bundle's folder {}; allow_outside permits that", quote(name), root.string()));
  }
  const bool regular = fs::is_regular_file(file, error);
  if (error) return file_error("find", file, error.value());
  if (!regular) return io_error(fmt::format("{} is not a regular file", file.string()));
  return file;
}

Result<ModelFile> read_model(const fs::path& folder, const Model& model, const FileOptions& options) {
  const ModelParameters& parameters = model.parameters;
  if (!parameters.model_path) {
    return invalid_argument(fmt::format("models.{}: the node has no model, so the pipeline cannot run", model.name));
  }
  ModelFile file;
  // Bytes that the YAML pins by their SHA-256 may come from anywhere: they are those that were exported, or refused.
  const bool pinned =
      !options.allow_outside && parameters.sha256sum && is_named_outside(folder, *parameters.model_path);
  FileOptions where = options;
  where.allow_outside = options.allow_outside || pinned;
  auto path = locate_file(folder, *parameters.model_path, where);
  if (!path.ok()) {
    return Status(path.status().code(),
                  fmt::format("models.{}.parameters.model_path: {}", model.name, path.status().message()));
  }
  file.path = std::move(path).value();
  LEAPP_RETURN_IF_ERROR(fill(file, options));
  if (options.inspect) LEAPP_RETURN_IF_ERROR(options.inspect(file.path, file.bytes));
  if (!options.verify_checksums && !pinned) return file;
  if (parameters.sha256sum) {
    LEAPP_ASSIGN_OR_RETURN(const std::string sha256, sha256_of(file.bytes));
    LEAPP_RETURN_IF_ERROR(check_unchanged(file));
    LEAPP_RETURN_IF_ERROR(check_digest(model, {"sha256sum", *parameters.sha256sum, *parameters.model_path}, sha256));
  }
  if (options.md5_too || !parameters.sha256sum) LEAPP_RETURN_IF_ERROR(check_md5(model, file.bytes));
  return file;
}

Status check_unchanged(const ModelFile& file) { return file.mapped ? file.mapped->unchanged() : Status(); }

Status check_md5(const Model& model, std::span<const std::byte> bytes) {
  const ModelParameters& parameters = model.parameters;
  if (!parameters.md5sum) return {};
  LEAPP_ASSIGN_OR_RETURN(const std::string md5, md5_of(bytes));
  return check_digest(model, {"md5sum", *parameters.md5sum, parameters.model_path.value_or(model.name)}, md5);
}

YamlMap external_data_entry(const std::string& file, const std::string& sha256) {
  return {{std::string(kExternalData), YamlValue{YamlMap{{file, YamlValue{sha256}}}}}};
}

Status check_external_data(const Model& model, const std::string& name, const fs::path& file) {
  const auto value_of = [](const YamlMap& map, std::string_view key) -> const YamlValue* {
    const auto found = std::find_if(map.begin(), map.end(), [&](const auto& entry) { return entry.first == key; });
    return found == map.end() ? nullptr : &found->second;
  };
  const YamlValue* sums = value_of(model.parameters.extra, kExternalData);
  if (sums == nullptr) return {};
  const auto* files = std::get_if<YamlMap>(&sums->data);
  const std::string place = fmt::format("{}.{}", kExternalData, name);
  const YamlValue* sum = files == nullptr ? nullptr : value_of(*files, name);
  const auto* text = sum == nullptr ? nullptr : std::get_if<std::string>(&sum->data);
  if (text == nullptr) {
    return data_loss(fmt::format("models.{}.parameters.{}: expected the SHA-256 of the file", model.name, place));
  }
  LEAPP_ASSIGN_OR_RETURN(const std::string sha256, sha256_of_file(file));
  return check_digest(model, {place, *text, name}, sha256);
}

}  // namespace leapp::bundle
