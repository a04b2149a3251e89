// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "leapp/base/status.h"

namespace leapp::cli {

struct ZipMember {
  std::string name;
  std::vector<std::byte> bytes;
};

/// A member of which only the beginning was read, at most 128 KiB.
struct ZipStart {
  std::string name;
  std::uint64_t size = 0;  ///< of the whole, as the file announces it
  std::vector<std::byte> bytes;
};

struct ZipOptions {
  /// Asked before more than the beginning of a member is read: false leaves it out, a Status ends it all.
  std::function<Result<bool>(const ZipStart&)> wants;
  std::uint64_t memory_limit = std::uint64_t{8} << 30U;  ///< what is read may take that many bytes
};

/// The members that are wanted, in the order of the file's directory. Stored and deflated ones, also with 64-bit sizes.
/// The bytes may come from strangers: kDataLoss for whatever does not fit together (sizes, checksums, members that
/// occur twice or are together larger than the file), kInvalidArgument for more than the limit, before that memory is
/// taken; no memory is taken that the file's own size does not justify.
Result<std::vector<ZipMember>> read_zip(std::span<const std::byte> file, const ZipOptions& options = {});

/// The bytes of a zip file; all time stamps are the same, so equal members give equal bytes. kInvalidArgument for none,
/// and for two of the same name.
Result<std::vector<std::byte>> zip_bytes(std::span<const ZipMember> members, bool deflated);

}  // namespace leapp::cli
