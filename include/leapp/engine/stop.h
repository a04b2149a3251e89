// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "leapp/base/export.h"

namespace leapp::engine {

/// Ends what runs, from outside: the step of a pipeline, or its first run while it is loaded. ONNX Runtime looks at it
/// between two operators, a pipeline between two nodes; TorchScript has no place to look.
class LEAPP_API Stop {
 public:
  Stop() = default;
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  /// From now on nothing runs, and what runs ends as soon as it looks. Any thread may call it, a signal handler too.
  void request() noexcept;
  [[nodiscard]] bool requested() const noexcept { return requested_.load(); }
  /// Forgets the request. REQUIRES: nothing runs.
  void clear() noexcept { requested_.store(false); }

  /// For engines: what ends the run that is under way for as long as this object lives. `stop` may be null. One at a
  /// time.
  class LEAPP_API Run {
   public:
    using End = void (*)(void* what);

    Run(Stop* stop, End end, void* what) noexcept;
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    Stop* stop_;
  };

 private:
  std::atomic<bool> requested_{false};
  std::atomic<Run::End> end_{nullptr};
  std::atomic<void*> what_{nullptr};
  std::atomic<int> ending_{0};  ///< calls of `end_` that are under way
};

}  // namespace leapp::engine
