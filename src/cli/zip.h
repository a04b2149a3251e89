// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "leapp/base/status.h"

namespace leapp::cli {

struct ZipMember {
  std::string name;
  std::vector<std::byte> bytes;
};

/// The members, in the order of the file's directory. Stored and deflated ones, also with 64-bit sizes. The bytes may
/// come from strangers: kDataLoss for whatever does not fit together (sizes, checksums, members that occur twice or are
/// together larger than the file) and for more than 8 GB; no memory is taken that the file's own size does not justify.
Result<std::vector<ZipMember>> read_zip(std::span<const std::byte> file);

/// The bytes of a zip file; all time stamps are the same, so equal members give equal bytes. kInvalidArgument for none,
/// and for two of the same name.
Result<std::vector<std::byte>> zip_bytes(std::span<const ZipMember> members, bool deflated);

}  // namespace leapp::cli
