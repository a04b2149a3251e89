// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "capture/trace/trace.h"

namespace leapp::capture {

/// The calls of nodes that are under way, each with a number of its own. Guarded by the recorder's lock, but for
/// any_unlocked().
class OpenCalls {
 public:
  ActivationId open(const std::string& node);
  void close(ActivationId activation);

  [[nodiscard]] bool any() const { return !open_.empty(); }
  /// The same for who does not hold the lock. By the time it is read it may be otherwise.
  [[nodiscard]] bool any_unlocked() const { return count_.load() > 0; }
  [[nodiscard]] bool contains(ActivationId activation) const { return open_.contains(activation); }
  /// 0: none, or several.
  [[nodiscard]] ActivationId only() const { return open_.size() == 1 ? open_.begin()->first : 0; }
  /// Of the node; "(closed)" when the call is no longer open.
  [[nodiscard]] const std::string& name_of(ActivationId activation) const;

 private:
  std::map<ActivationId, std::string> open_;
  std::atomic<int> count_{0};
  ActivationId last_ = 0;
};

}  // namespace leapp::capture
