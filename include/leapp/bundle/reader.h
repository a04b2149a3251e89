// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"

/// Reads bundles, ours and the peer's, config versions 1.0 to 1.4. The bytes may come from strangers: any byte string
/// ends in a Status or in something that is consistent in itself. All functions may be called from any thread.
namespace leapp::bundle {

/// Extents, and bytes, of one port are at most this many.
inline constexpr std::int64_t kLargestPort = std::int64_t{1} << 32;

/// Nodes of a bundle, ports of all its nodes together, and bytes of the name of one: at most this many.
inline constexpr std::size_t kMostNodes = 4096;
inline constexpr std::size_t kMostPorts = 16384;
inline constexpr std::size_t kLongestName = 1024;

/// Where the YAML file of a bundle is: `bundle` itself, or in the folder `bundle` the one that has the folder's name,
/// as it is written or, of a link, that of the folder it leads to. kNotFound when a folder has neither.
LEAPP_API Result<std::filesystem::path> locate_bundle(const std::filesystem::path& bundle);

/// What the text of a `{name}.yaml` says. kDataLoss when it is no bundle: the message has line, place, what was
/// expected and what was found. That its wiring makes sense is not looked at: see check.h.
LEAPP_API Result<BundleSpec> parse_bundle(std::string_view text);

/// Which files of a bundle may be read, and what is checked while reading.
struct FileOptions {
  /// Files of the bundle may be anywhere, not only in its folder and, for models, where read_model looks.
  bool allow_outside = false;
  bool verify_checksums = true;
  /// Compare `md5sum` even where there is a `sha256sum`, which says the same in half the time.
  bool md5_too = true;
  /// A model's file of more bytes is refused before it is read (a file of holes is soon made); 0: any size.
  std::uint64_t memory_limit = 0;
  /// If it is given, it is called with each file that was read, before anything is made of its bytes; what it refuses
  /// is not used.
  std::function<Status(const std::filesystem::path& file, std::span<const std::byte> bytes)> inspect = {};
};

/// parse_bundle of a file. kIo when it cannot be read. Where the file is a link that leads out of its folder, an error
/// says where something is wrong with it and not what was found there: it may be anybody's file.
LEAPP_API Result<BundleSpec> read_bundle(const std::filesystem::path& file, const FileOptions& options = {});

/// The file that `name` in the bundle in `folder` means, without symlinks. kIo when it is not a regular file,
/// kInvalidArgument when it lies outside the folder and may not.
LEAPP_API Result<std::filesystem::path> locate_file(const std::filesystem::path& folder, const std::string& name,
                                                    const FileOptions& options = {});

class MappedFile;

/// A model's file and what is in it. A large file that nobody has signed is mapped, not read: check_unchanged(), once
/// the bytes were used, says whether they were those of one file.
struct ModelFile {
  std::filesystem::path path;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> memory;        ///< that `bytes` is in
  std::shared_ptr<const MappedFile> mapped;  ///< null: it was read
};

/// kIo when the file was changed since it was mapped; what became shorter reads as zeros.
LEAPP_API Status check_unchanged(const ModelFile& file);

/// Reads the model and compares it with the checksums that are given: kDataLoss when one differs.
/// kInvalidArgument when the node has no model. A path that leads out of the folder as it is written, and not by a
/// symlink in the folder, is followed when the model has a `sha256sum`, which is then compared whatever the options
/// say.
LEAPP_API Result<ModelFile> read_model(const std::filesystem::path& folder, const Model& model,
                                       const FileOptions& options = {});

/// kDataLoss when the bytes are not those of the model's `md5sum`; ok when it has none.
LEAPP_API Status check_md5(const Model& model, std::span<const std::byte> bytes);

/// The key under a model's parameters that has the SHA-256 of each file beside it, by the name that the model calls it.
inline constexpr std::string_view kExternalData = "external_data";

/// That key with one file.
LEAPP_API YamlMap external_data_entry(const std::string& file, const std::string& sha256);

/// Compares a file of weights beside the model with its checksum, if the bundle has one: kDataLoss when it differs.
/// `name` is what the model calls it.
LEAPP_API Status check_external_data(const Model& model, const std::string& name, const std::filesystem::path& file);

/// A tensor of a safetensors file: dense, row-major, little-endian.
struct StoredTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  ///< not necessarily aligned
};

/// The tensors, in the order of their bytes, which stay `file`'s. kDataLoss for a header over 16 MiB, of more than
/// 65,536 tensors or that is not what the format asks for, and for holes, overlaps, names that occur twice and sizes
/// that overflow or do not fit.
LEAPP_API Result<std::vector<StoredTensor>> parse_safetensors(std::span<const std::byte> file);

/// The whole file. kIo when it cannot be read or is larger than `largest`.
LEAPP_API Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, std::uint64_t largest);

}  // namespace leapp::bundle
