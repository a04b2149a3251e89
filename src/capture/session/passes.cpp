// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/passes.h"

#include <fmt/format.h>

#include <utility>

#include "capture/session/checks.h"

namespace leapp::capture {

Status Passes::check_open(const char* call, const std::string& node) const {
  LEAPP_RETURN_IF_ERROR(check_node_name(node));
  if (is_open(node)) return {};
  return failed_precondition(
      fmt::format("{}: node '{}' is not open; call input_tensors('{}', ...) first", call, node, node));
}

NodeCall* Passes::find(const std::string& node) {
  const auto found = open_.find(node);
  return found == open_.end() ? nullptr : &found->second;
}

NodeCall& Passes::open(const std::string& node) {
  const auto [position, added] = open_.try_emplace(node, node, recorder_);
  if (!added) return position->second;
  if (closed_.contains(node)) {
    ++current_;
    closed_.clear();
  }
  position->second.open();
  recording_.call_passes[node].push_back(current_);
  return position->second;
}

NodeCall Passes::close(const std::string& node) {
  const auto position = open_.find(node);
  NodeCall call = std::move(position->second);
  open_.erase(position);
  closed_.insert(node);
  return call;
}

void Passes::drop(const std::string& node) {
  const auto call = open_.find(node);
  recorder_.close(call->second.activation(), current_);
  open_.erase(call);
  recording_.call_passes[node].pop_back();
}

}  // namespace leapp::capture
