// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/folder/file_system.h"
#include "leapp/base/dtype.h"
#include "leapp/base/status.h"

/// A safetensors file of which no more is read than is asked for: its header says what is in it, and the bytes of a
/// tensor come when somebody wants them.
namespace leapp::bundle {

inline constexpr std::size_t kSafetensorsStart = 8;  ///< bytes before the header
inline constexpr std::uint64_t kLargestHeader = std::uint64_t{16} << 20U;
inline constexpr std::size_t kMostTensors = 65'536;

/// A tensor of the file and where its bytes are, counted from the end of the header.
struct TensorRange {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// The header's size, from the first eight bytes of a file.
Result<std::uint64_t> safetensors_header_size(std::span<const std::byte> start, std::uint64_t file_size);

/// What a header says, in the order of the bytes: kDataLoss as parse_safetensors.
Result<std::vector<TensorRange>> parse_safetensors_header(std::string_view header, std::uint64_t data_size);

class SafetensorsFile {
 public:
  /// Opens the file and reads its header. kIo when it cannot be read or is not a regular file, kDataLoss as above.
  static Result<SafetensorsFile> open(const std::filesystem::path& path);
  /// The same of bytes that somebody has read, and looked at, already.
  static Result<SafetensorsFile> parse(std::vector<std::byte> bytes);

  [[nodiscard]] const std::vector<TensorRange>& tensors() const { return tensors_; }

  /// The bytes of one of them. kIo when there are fewer.
  Result<std::vector<std::byte>> read(const TensorRange& tensor) const;

 private:
  SafetensorsFile(std::filesystem::path path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  Status read_header(std::uint64_t size);
  Status read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  std::optional<std::vector<std::byte>> memory_;  ///< what is read instead of the file
  std::uint64_t data_ = 0;                        ///< where the bytes of the tensors begin
  std::vector<TensorRange> tensors_;
};

}  // namespace leapp::bundle
