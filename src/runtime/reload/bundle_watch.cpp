// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/reload/bundle_watch.h"

#include <algorithm>
#include <utility>

#include "bundle/files/manifest.h"
#include "bundle/files/verified_files.h"

namespace leapp::runtime {

namespace fs = std::filesystem;

BundleWatch::BundleWatch(const ReloaderOptions& options)
    : bundle_(options.watch), signed_(!options.load.trusted_keys.empty()) {
  if (is_on()) told_ = seen_ = stamps();
}

std::vector<FileStamp> BundleWatch::stamps() const {
  const fs::path yaml = bundle::yaml_of(bundle_);  // each time: the folder may be a link that is moved
  std::vector<FileStamp> found{FileStamp::of(yaml)};
  fs::path manifest = yaml;
  if (signed_) found.push_back(FileStamp::of(manifest.replace_extension(bundle::kManifestSuffix)));
  // Who copies a bundle may copy its models last. A folder that cannot be listed is as good as its YAML.
  const fs::path folder = yaml.parent_path().empty() ? fs::path(".") : yaml.parent_path();
  const auto files = bundle::files_to_list(folder);
  for (const std::string& file : files.ok() ? files.value() : std::vector<std::string>()) {
    found.push_back(FileStamp::of(folder / file));
  }
  return found;
}

bool BundleWatch::look() {
  if (!is_on()) return false;
  std::vector<FileStamp> now = stamps();
  const bool whole = std::none_of(now.begin(), now.end(), [](const FileStamp& stamp) { return stamp.inode == 0; });
  const bool settled = now == seen_;
  seen_ = std::move(now);
  if (!whole || !settled || seen_ == told_) return false;
  told_ = seen_;
  return true;
}

}  // namespace leapp::runtime
