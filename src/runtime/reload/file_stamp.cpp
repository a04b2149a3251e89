// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/reload/file_stamp.h"

#include <sys/stat.h>

namespace leapp::runtime {

namespace fs = std::filesystem;

FileStamp FileStamp::of(const fs::path& file) {
  struct ::stat found {};
  if (::stat(file.c_str(), &found) != 0) return {};
  return {static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino), found.st_mtim.tv_sec,
          found.st_mtim.tv_nsec, static_cast<std::int64_t>(found.st_size)};
}

BundleStamp::BundleStamp(const fs::path& yaml)
    : folder_(FileStamp::of(yaml.has_parent_path() ? yaml.parent_path() : fs::path("."))), yaml_(FileStamp::of(yaml)) {
  folder_ = {.device = folder_.device, .inode = folder_.inode};
}

}  // namespace leapp::runtime
