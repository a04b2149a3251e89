// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnxruntime_c_api.h>

#include <deque>
#include <mutex>
#include <string>

namespace leapp::engine::ort {

/// The last lines that ONNX Runtime logged, which would otherwise be on the console. Any thread may add.
class SessionLog {
 public:
  static constexpr std::size_t kLines = 32;
  static constexpr std::size_t kLongest = 500;  ///< bytes of a line: it may quote what a stranger wrote

  /// An OrtLoggingFunction; `log` is a SessionLog.
  static void ORT_API_CALL add(void* log, OrtLoggingLevel severity, const char* category, const char* id,
                               const char* location, const char* message);

  /// The lines, joined; empty when there are none.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
};

}  // namespace leapp::engine::ort
