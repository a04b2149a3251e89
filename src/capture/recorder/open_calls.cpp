// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/open_calls.h"

namespace leapp::capture {

ActivationId OpenCalls::open(const std::string& node) {
  open_[++last_] = node;
  count_ = static_cast<int>(open_.size());
  return last_;
}

void OpenCalls::close(ActivationId activation) {
  open_.erase(activation);
  count_ = static_cast<int>(open_.size());
}

const std::string& OpenCalls::name_of(ActivationId activation) const {
  static const std::string closed = "(closed)";
  const auto found = open_.find(activation);
  return found == open_.end() ? closed : found->second;
}

}  // namespace leapp::capture
