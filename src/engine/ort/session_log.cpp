// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/session_log.h"

#include <string_view>

#include "base/text.h"

namespace leapp::engine::ort {

void ORT_API_CALL SessionLog::add(void* log, OrtLoggingLevel /*severity*/, const char* /*category*/, const char* /*id*/,
                                  const char* /*location*/, const char* message) {
  auto* self = static_cast<SessionLog*>(log);
  try {
    const std::lock_guard lock(self->mutex_);
    const std::string_view line = message == nullptr ? "" : message;
    self->lines_.emplace_back(line.substr(0, kLongest));
    if (line.size() > kLongest) self->lines_.back() += "...";
    if (self->lines_.size() > kLines) self->lines_.pop_front();
  } catch (...) {  // called from C: a line lost is better than an exception there
  }
}

std::string SessionLog::text() const {
  const std::lock_guard lock(mutex_);
  return join(lines_, "; ");
}

}  // namespace leapp::engine::ort
