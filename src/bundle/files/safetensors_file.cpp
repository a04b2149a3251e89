// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/safetensors_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace leapp::bundle {

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe would wait for someone to write to it.
  SafetensorsFile result(path, FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
  if (!result.file_.is_open()) return file_error("read", path, errno);
  struct ::stat status {};
  if (::fstat(result.file_.number(), &status) != 0) return file_error("read", path, errno);
  if (!S_ISREG(status.st_mode)) return io_error(fmt::format("cannot read {}: it is not a regular file", path.string()));
  LEAPP_RETURN_IF_ERROR(result.read_header(static_cast<std::uint64_t>(status.st_size)));
  return result;
}

Result<SafetensorsFile> SafetensorsFile::parse(std::vector<std::byte> bytes) {
  SafetensorsFile result({}, FileDescriptor(-1));
  result.memory_ = std::move(bytes);
  LEAPP_RETURN_IF_ERROR(result.read_header(result.memory_->size()));
  return result;
}

Status SafetensorsFile::read_header(std::uint64_t size) {
  if (size < kSafetensorsStart) return data_loss("not a safetensors file: shorter than 8 bytes");
  std::array<std::byte, kSafetensorsStart> start{};
  LEAPP_RETURN_IF_ERROR(read_at(0, start));
  LEAPP_ASSIGN_OR_RETURN(const std::uint64_t length, safetensors_header_size(start, size));
  std::string header(length, '\0');
  LEAPP_RETURN_IF_ERROR(read_at(kSafetensorsStart, std::as_writable_bytes(std::span(header))));
  data_ = kSafetensorsStart + length;
  LEAPP_ASSIGN_OR_RETURN(tensors_, parse_safetensors_header(header, size - data_));
  return {};
}

Result<std::vector<std::byte>> SafetensorsFile::read(const TensorRange& tensor) const {
  std::vector<std::byte> bytes(tensor.size);
  LEAPP_RETURN_IF_ERROR(read_at(data_ + tensor.offset, bytes));
  return bytes;
}

Status SafetensorsFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (memory_) {  // the header was compared with their size
    std::copy_n(memory_->begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
    return {};
  }
  while (!bytes.empty()) {
    const ::ssize_t count = ::pread(file_.number(), bytes.data(), bytes.size(), static_cast<::off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("read", path_, errno);
    if (count == 0) return io_error(fmt::format("cannot read {}: it became shorter while it was read", path_.string()));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

}  // namespace leapp::bundle
