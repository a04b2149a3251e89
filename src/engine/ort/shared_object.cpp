// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/shared_object.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

namespace leapp::engine::ort {
namespace {

std::uint64_t end_of(std::uint64_t offset, std::uint64_t size) {
  std::uint64_t end = 0;
  return __builtin_add_overflow(offset, size, &end) ? ~std::uint64_t{0} : end;
}

}  // namespace

Status check_whole(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) return {};
  std::ifstream stream(file, std::ios::binary);
  Elf64_Ehdr head{};
  if (!stream.read(reinterpret_cast<char*>(&head), sizeof head)) return {};
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return {};
  if (head.e_phentsize != sizeof(Elf64_Phdr)) return {};
  std::uint64_t end = end_of(head.e_shoff, std::uint64_t{head.e_shnum} * head.e_shentsize);
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  stream.seekg(static_cast<std::streamoff>(head.e_phoff));
  stream.read(reinterpret_cast<char*>(segments.data()),
              static_cast<std::streamsize>(segments.size() * sizeof(Elf64_Phdr)));
  if (!stream) end = std::max(end, end_of(head.e_phoff, segments.size() * sizeof(Elf64_Phdr)));
  for (const Elf64_Phdr& segment : segments) {
    if (stream && segment.p_type == PT_LOAD) end = std::max(end, end_of(segment.p_offset, segment.p_filesz));
  }
  if (end <= size) return {};
  return data_loss(fmt::format("{} is cut off: its headers describe {} bytes, it has {}", file.string(), end, size));
}

}  // namespace leapp::engine::ort
