// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "mcap/crc32.h"

#include <array>
#include <bit>
#include <cstring>

namespace leapp::mcap {
namespace {

static_assert(std::endian::native == std::endian::little, "words of the file are read as they are");

constexpr std::size_t kLanes = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kLanes>;

// tables[n][b]: what the byte b does to the checksum when n more bytes follow.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1U) != 0 ? (value >> 1U) ^ 0xedb88320U : value >> 1U;
    tables[0][i] = value;
  }
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[lane - 1][i];
      tables[lane][i] = (before >> 8U) ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) noexcept {
  std::uint32_t sum = ~before;
  while (bytes.size() >= kLanes) {
    std::array<std::uint32_t, 2> words{};
    std::memcpy(words.data(), bytes.data(), kLanes);
    words[0] ^= sum;
    sum = 0;
    for (std::size_t i = 0; i < kLanes; ++i) {
      sum ^= kTables[kLanes - 1 - i][(words[i / 4] >> (8 * (i % 4))) & 0xffU];
    }
    bytes.remove_prefix(kLanes);
  }
  for (const char byte : bytes) sum = (sum >> 8U) ^ kTables[0][(sum ^ static_cast<unsigned char>(byte)) & 0xffU];
  return ~sum;
}

}  // namespace leapp::mcap
