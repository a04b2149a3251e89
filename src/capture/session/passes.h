// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "capture/recorder/op_recorder.h"
#include "capture/session/node_call.h"
#include "capture/trace/record.h"
#include "leapp/base/status.h"

namespace leapp::capture {

/// Which calls of which nodes are open, and in which pass. A pass ends where a node opens that has been closed in it.
/// Guarded by the recorder's lock.
class Passes {
 public:
  Passes(CaptureResult& recording, OpRecorder& recorder) : recording_(recording), recorder_(recorder) {}

  [[nodiscard]] std::uint64_t current() const { return current_; }
  [[nodiscard]] bool is_open(const std::string& node) const { return open_.contains(node); }
  /// `call`: the function that asks, for the message.
  [[nodiscard]] Status check_open(const char* call, const std::string& node) const;
  [[nodiscard]] std::map<std::string, NodeCall>& open_calls() { return open_; }
  /// Null: it is not open.
  [[nodiscard]] NodeCall* find(const std::string& node);

  /// The open call of `node`; a new one where there is none.
  NodeCall& open(const std::string& node);
  /// Of the call that ends. REQUIRES: it is open.
  NodeCall close(const std::string& node);
  /// As if it had not been opened. REQUIRES: it is open.
  void drop(const std::string& node);

 private:
  CaptureResult& recording_;
  OpRecorder& recorder_;
  std::map<std::string, NodeCall> open_;
  std::set<std::string> closed_;  // in this pass
  std::uint64_t current_ = 0;
};

}  // namespace leapp::capture
