// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/native_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "engine/float_mode.h"

namespace leapp::native {
namespace {

using engine::BoundBuffer;
using engine::TensorInfo;

std::string names(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string> list;
  for (const TensorInfo& tensor : tensors) list.push_back(tensor.name);
  return list.empty() ? "none" : join(list, ", ");
}

const BoundBuffer* find(const std::vector<BoundBuffer>& buffers, const std::string& name) {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const BoundBuffer& buffer) { return buffer.name == name; });
  return found == buffers.end() ? nullptr : &*found;
}

// A stranger's model may have two ports of one name: each has to fit the buffer it will be given.
Status check_buffers(const std::vector<TensorInfo>& tensors, const std::vector<BoundBuffer>& buffers,
                     const char* what) {
  for (const BoundBuffer& buffer : buffers) {
    const auto named = [&](const TensorInfo& tensor) { return tensor.name == buffer.name; };
    if (std::none_of(tensors.begin(), tensors.end(), named)) {
      return invalid_argument(
          fmt::format("the model has no {} {}; it has {}", what, quote(buffer.name), names(tensors)));
    }
  }
  for (const TensorInfo& info : tensors) {
    const BoundBuffer* buffer = find(buffers, info.name);
    if (buffer == nullptr || (info.dtype == buffer->dtype && info.shape == buffer->shape)) continue;
    return invalid_argument(fmt::format("{} {}: the bundle says {}, the model {}", what, quote(info.name),
                                        type_text(buffer->dtype, buffer->shape), type_text(*info.dtype, *info.shape)));
  }
  return {};
}

}  // namespace

NativeModel::NativeModel(Parts parts)
    : parts_(std::move(parts)),
      constants_(parts_.plan.constant_bytes, AlignedMemory::Content::kAnything),
      arena_(parts_.plan.arena_bytes) {
  move_constants(parts_.plan, constants_.data());
}

Status NativeModel::check(const engine::Binding& binding) const {
  LEAPP_RETURN_IF_ERROR(check_buffers(parts_.inputs, binding.inputs, "input"));
  LEAPP_RETURN_IF_ERROR(check_buffers(parts_.outputs, binding.outputs, "output"));
  for (const TensorInfo& input : parts_.inputs) {
    if (find(binding.inputs, input.name) == nullptr) {
      return invalid_argument(fmt::format("the bundle has no input {}, which the model needs", quote(input.name)));
    }
  }
  return {};
}

// The budget of a bundle has its ports; a model may have more outputs than those.
Status NativeModel::count_unbound(const engine::Binding& binding) {
  for (const TensorInfo& output : parts_.outputs) {
    if (find(binding.outputs, output.name) != nullptr) continue;
    unbound_bytes_ += engine::buffer_size(*output.dtype, *output.shape).value_or(0);
  }
  const std::uint64_t need = unbound_bytes_ + parts_.plan.arena_bytes + parts_.plan.constant_bytes;
  if (parts_.memory_limit == 0 || need <= parts_.memory_limit) return {};
  return invalid_argument(
      fmt::format("the model needs {} of memory to run, with outputs that the bundle does not name, the option "
                  "memory_limit is {}",
                  bytes_text(need), bytes_text(parts_.memory_limit)));
}

Result<std::size_t> NativeModel::prepare(const engine::Binding& binding) {
  LEAPP_ASSIGN_OR_RETURN(const std::size_t number, prepare_untried(binding));
  if (run(number)) return number;
  programs_.pop_back();
  return error();
}

// Whatever a kernel refuses while it runs is refused because of values: the rest was found when the model was lowered.
Result<std::size_t> NativeModel::prepare_untried(const engine::Binding& binding) {
  LEAPP_RETURN_IF_ERROR(explained(check(binding), "cannot bind"));
  LEAPP_RETURN_IF_ERROR(explained(count_unbound(binding), "cannot bind"));
  Addresses addresses{arena_.data(), constants_.data(), {}, {}};
  for (const TensorInfo& input : parts_.inputs) {
    addresses.inputs.push_back(static_cast<std::byte*>(find(binding.inputs, input.name)->data));
  }
  for (const TensorInfo& output : parts_.outputs) {
    const BoundBuffer* buffer = find(binding.outputs, output.name);
    if (buffer == nullptr) unbound_.emplace_back(engine::buffer_size(*output.dtype, *output.shape).value_or(0));
    addresses.outputs.push_back(buffer == nullptr ? unbound_.back().data() : static_cast<std::byte*>(buffer->data));
  }
  const Plan& plan = parts_.plan;
  programs_.push_back(std::make_unique<Program>(
      plan.calls, [&](ValueId value) { return addresses(plan.values[value].place); }, parts_.stop.get()));
  return programs_.size() - 1;
}

bool NativeModel::run(std::size_t binding) noexcept {
  const engine::FlushDenormals flush;
  Program& program = *programs_[binding];
  if (program.run()) [[likely]]
    return true;
  failed_ = program.failed();
  return false;
}

Status NativeModel::error() const {
  if (failed_ == nullptr && parts_.stop && parts_.stop->requested()) return failed_precondition("it was told to stop");
  if (failed_ == nullptr) return {};
  return explained(failed_precondition(fmt::format("{} in {}", failed_->kernel->fault, failed_->node)), "cannot run");
}

Status NativeModel::explained(const Status& status, const char* action) const {
  if (status.ok()) return status;
  return {status.code(), fmt::format("{} {}: {} [native engine]", action, parts_.name, status.message())};
}

}  // namespace leapp::native
