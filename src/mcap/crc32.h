// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace leapp::mcap {

/// The CRC-32 of zip and PNG. `before` is that of the bytes which come before these.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0) noexcept;

}  // namespace leapp::mcap
