// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/call_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "capture/hook/hook.h"
#include "capture/recorder/op_recorder.h"
#include "capture/state/state_analysis.h"

namespace leapp::capture {

bool CallBuffers::has_declared(const std::string& name) const {
  return std::any_of(traces_.begin(), traces_.end(),
                     [&](const BufferTrace& buffer) { return buffer.declared && buffer.name == name; });
}

bool CallBuffers::is_declared(const std::string& name, const at::Tensor& tensor) const {
  return std::any_of(traces_.begin(), traces_.end(), [&](const BufferTrace& buffer) {
    if (!buffer.declared || buffer.name != name) return false;
    const std::shared_ptr<StorageContent> memory = recorder_->table().memories().memory(tensor);
    return buffer.memory == memory && buffer.geometry == geometry_of(tensor, memory->begin());
  });
}

void CallBuffers::add(const annotate::Buffer& buffer, const at::Tensor& tensor, bool declared) {
  const std::shared_ptr<StorageContent> memory =
      tensor.defined() ? recorder_->table().memories().memory(tensor) : nullptr;
  if (!memory || (declared && is_declared(buffer.name, tensor))) return;
  traces_.push_back({.name = buffer.name,
                     .declared = declared,
                     .memory = memory,
                     .geometry = geometry_of(tensor, memory->begin()),
                     .content = nullptr,
                     .in_place = false,
                     .successor = nullptr});
  held_.push_back({buffer.get, tensor, at::Tensor()});
}

std::vector<std::function<at::Tensor()>> CallBuffers::getters() const {
  std::vector<std::function<at::Tensor()>> getters;
  for (const Held& buffer : held_) getters.push_back(buffer.get);
  return getters;
}

void CallBuffers::look(const std::vector<at::Tensor>& now, ActivationId call, Logger& log) {
  if (now.size() != held_.size()) return;
  for (std::size_t i = 0; i < now.size(); ++i) {
    Held& held = held_[i];
    BufferTrace& buffer = traces_[i];
    held.at_end = held.get ? now[i] : held.tensor;
    if (buffer.declared && !held.at_end.defined()) {
      log.warning(
          fmt::format("buffer '{}' of node '{}' is gone when the node closes: it is exported as the constant "
                      "that it was",
                      buffer.name, node_));
    }
    buffer.content = buffer.memory->content_before(buffer.geometry);
    buffer.in_place = held.at_end.defined() && held.at_end.is_same(held.tensor);
    const Suppress quiet;
    const bool fits = !buffer.in_place && held.at_end.defined() && held.at_end.sizes() == held.tensor.sizes() &&
                      held.at_end.scalar_type() == held.tensor.scalar_type();
    if (!fits) continue;
    buffer.successor = [recorder = recorder_, call, tensor = held.at_end] {
      const Suppress unseen;
      return recorder->table().operand(tensor, call);
    };
  }
}

const at::Tensor* CallBuffers::at_end(const Leak& leak) const {
  const BufferTrace* buffer = buffer_of(leak, traces_);
  return buffer ? &held_[static_cast<std::size_t>(buffer - traces_.data())].at_end : nullptr;
}

}  // namespace leapp::capture
