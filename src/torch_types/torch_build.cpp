// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "torch_types/torch_build.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <algorithm>

namespace leapp {

std::string_view built_for_torch() { return TORCH_VERSION; }

std::string running_torch() {
  constexpr std::string_view kKey = "TORCH_VERSION=";
  const std::string settings = at::show_config();
  const std::size_t at = settings.find(kKey);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + kKey.size();
  return settings.substr(begin, settings.find_first_of(", \n", begin) - begin);
}

std::string_view torch_minor(std::string_view version) {
  const std::size_t first = version.find('.');
  if (first == std::string_view::npos) return version;
  return version.substr(0, std::min(version.find_first_not_of("0123456789", first + 1), version.size()));
}

std::string torch_mismatch() {
  const std::string running = running_torch();
  if (running.empty() || torch_minor(running) == torch_minor(built_for_torch())) return "";
  return "it was built for torch " + std::string(built_for_torch()) + ", and torch " + running + " is loaded";
}

}  // namespace leapp
