// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/bundle_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "bundle/manifest.h"
#include "bundle/verified_files.h"

namespace leapp::runtime {

namespace fs = std::filesystem;

BundleWatch::BundleWatch(const ReloaderOptions& options)
    : bundle_(options.watch), signed_(!options.load.trusted_keys.empty()) {
  if (is_on()) told_ = seen_ = stamps();
}

BundleWatch::Stamp BundleWatch::stamp_of(const fs::path& file) {
  struct ::stat found {};
  if (::stat(file.c_str(), &found) != 0) return {};
  return {static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino), found.st_mtim.tv_sec,
          found.st_mtim.tv_nsec, static_cast<std::int64_t>(found.st_size)};
}

std::vector<BundleWatch::Stamp> BundleWatch::stamps() const {
  const fs::path yaml = bundle::yaml_of(bundle_);  // each time: the folder may be a link that is moved
  std::vector<Stamp> found{stamp_of(yaml)};
  fs::path manifest = yaml;
  if (signed_) found.push_back(stamp_of(manifest.replace_extension(bundle::kManifestSuffix)));
  // Who copies a bundle may copy its models last. A folder that cannot be listed is as good as its YAML.
  const fs::path folder = yaml.parent_path().empty() ? fs::path(".") : yaml.parent_path();
  const auto files = bundle::files_to_list(folder);
  for (const std::string& file : files.ok() ? files.value() : std::vector<std::string>()) {
    found.push_back(stamp_of(folder / file));
  }
  return found;
}

bool BundleWatch::look() {
  if (!is_on()) return false;
  std::vector<Stamp> now = stamps();
  const bool whole = std::none_of(now.begin(), now.end(), [](const Stamp& stamp) { return stamp.inode == 0; });
  const bool settled = now == seen_;
  seen_ = std::move(now);
  if (!whole || !settled || seen_ == told_) return false;
  told_ = seen_;
  return true;
}

}  // namespace leapp::runtime
