// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/private_copies.h"

#include <cerrno>
#include <cstdlib>

#include "bundle/files/verified_files.h"
#include "bundle/folder/file_system.h"

namespace leapp::runtime {

namespace fs = std::filesystem;

PrivateCopies::~PrivateCopies() {
  if (!folder_.empty()) bundle::remove_tree(folder_);
}

// The same path below the folder as in the bundle, for models name their weights relative to themselves.
Result<fs::path> PrivateCopies::place_for(const fs::path& file) {
  std::error_code error;
  if (folder_.empty()) {
    const fs::path parent = fs::temp_directory_path(error);
    if (error) return bundle::file_error("find", "the folder for temporary files", error.value());
    std::string name = (parent / "leapp-verified-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return bundle::file_error("make", name, errno);
    folder_ = name;
  }
  const fs::path place = folder_ / bundle::manifest_path(files_.folder(), file);
  fs::create_directories(place.parent_path(), error);
  if (error) return bundle::file_error("make", place.parent_path(), error.value());
  return place;
}

Result<fs::path> PrivateCopies::add(const fs::path& file, std::span<const std::byte> bytes) {
  LEAPP_ASSIGN_OR_RETURN(fs::path place, place_for(file));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  LEAPP_RETURN_IF_ERROR(bundle::create_file(place, text, 0600));
  return place;
}

Status PrivateCopies::add(const fs::path& file) {
  LEAPP_ASSIGN_OR_RETURN(const fs::path place, place_for(file));
  return files_.copy(file, place);
}

}  // namespace leapp::runtime
