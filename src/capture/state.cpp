// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// State that the user declares.
#include <ATen/ops/alias.h>
#include <ATen/ops/equal.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/arguments.h"
#include "capture/checks.h"
#include "capture/hook.h"
#include "capture/session.h"

namespace leapp::capture {
namespace {

PortTensors ports(const NamedTensors& tensors) {
  PortTensors result;
  for (const auto& [name, tensor] : tensors) result.push_back({name, tensor});
  return result;
}

}  // namespace

Status Session::check_open(const char* call, const std::string& node) const {
  LEAPP_RETURN_IF_ERROR(check_node_name(node));
  if (open_.contains(node)) return {};
  return failed_precondition(
      fmt::format("{}: node '{}' is not open; call input_tensors('{}', ...) first", call, node, node));
}

Result<std::vector<at::Tensor>> Session::state_tensors(const std::string& node, const NamedTensors& tensors) {
  {
    const auto guard = recorder_->lock();
    LEAPP_RETURN_IF_ERROR(check_open("state_tensors", node));
  }
  return add_inputs(node, ports(tensors), true);
}

Status Session::check_update(const std::string& node, const std::string& name, const at::Tensor& tensor) {
  const OpenCall& call = open_.at(node);
  const auto input = std::find_if(call.inputs.begin(), call.inputs.end(),
                                  [&](const PortRecord& item) { return item.state && item.name == name; });
  if (input == call.inputs.end()) {
    return invalid_argument(
        fmt::format("update_state: node '{}' has no state '{}'; declare it with state_tensors first", node, name));
  }
  const bool twice =
      std::any_of(call.updates.begin(), call.updates.end(), [&](const PortTensor& item) { return item.name == name; });
  if (twice)
    return invalid_argument(fmt::format("update_state: state '{}' of node '{}' was updated before", name, node));
  if (!tensor.defined()) {
    return wrong_type(fmt::format("update_state: state '{}' of node '{}': expected a tensor, found none", name, node));
  }
  if (input->type.dtype != tensor.scalar_type() || c10::IntArrayRef(input->type.sizes) != tensor.sizes()) {
    return invalid_argument(fmt::format("update_state: state '{}' of node '{}': expected {} as declared, found {}",
                                        name, node, type_text(input->type), describe(tensor)));
  }
  const ValuePtr value = recorder_->table().find(tensor, call.activation);
  if (!value || value->owner == 0 || value->owner == call.activation) return {};
  return failed_precondition(fmt::format("update_state: state '{}' of node '{}': the tensor is a value of node '{}'",
                                         name, node, recorder_->name_of(value->owner)));
}

Result<std::vector<at::Tensor>> Session::update_state(const std::string& node, const NamedTensors& tensors) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(check_open("update_state", node));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    LEAPP_RETURN_IF_ERROR(check_update(node, tensors[i].first, tensors[i].second));
    for (std::size_t j = 0; j < i; ++j) {
      if (tensors[j].first == tensors[i].first) {
        return invalid_argument(
            fmt::format("update_state: state '{}' of node '{}' is given twice", tensors[i].first, node));
      }
    }
  }
  std::vector<at::Tensor> values;
  for (const auto& [name, tensor] : tensors) {
    open_.at(node).updates.push_back({name, tensor});
    values.push_back(tensor);
  }
  return values;
}

bool Session::is_declared(const OpenCall& call, const std::string& name, const at::Tensor& tensor) {
  return std::any_of(call.places.begin(), call.places.end(), [&](const Place& place) {
    return place.declared && place.name == name && place.memory == recorder_->table().memory(tensor) &&
           place.geometry == geometry_of(tensor, place.memory->begin());
  });
}

Status Session::check_place(const std::string& node, const std::string& name, const at::Tensor& tensor) {
  LEAPP_RETURN_IF_ERROR(check_port_name(node, "buffer", name));
  const OpenCall& call = open_.at(node);
  const bool input =
      std::any_of(call.inputs.begin(), call.inputs.end(), [&](const PortRecord& item) { return item.name == name; });
  const bool buffer = std::any_of(call.places.begin(), call.places.end(),
                                  [&](const Place& item) { return item.declared && item.name == name; });
  if (!input && (!buffer || is_declared(call, name, tensor))) return {};
  return invalid_argument(fmt::format("node '{}': '{}' is the name of {} already; a buffer needs a name of its own",
                                      node, name, input ? "an input" : "another buffer"));
}

void Session::add_place(OpenCall& call, const annotate::Buffer& buffer, const at::Tensor& tensor, bool declared) {
  Place place;
  place.name = buffer.name;
  place.declared = declared;
  place.tensor = tensor;
  place.memory = tensor.defined() ? recorder_->table().memory(tensor) : nullptr;
  if (!place.memory || (declared && is_declared(call, buffer.name, tensor))) return;
  place.geometry = geometry_of(tensor, place.memory->begin());
  call.places.push_back(std::move(place));
  call.getters.push_back(buffer.get);
}

Result<std::vector<at::Tensor>> Session::register_buffer(const std::string& node, const NamedTensors& tensors) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  std::vector<at::Tensor> aliases;
  for (const auto& [name, tensor] : tensors) {
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "buffer", name, tensor));
    const Unrecorded quiet;
    aliases.push_back(at::alias(tensor));
  }
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(check_open("register_buffer", node));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    LEAPP_RETURN_IF_ERROR(check_place(node, tensors[i].first, tensors[i].second));
    LEAPP_RETURN_IF_ERROR(check_source(node, tensors[i].first, tensors[i].second));
    for (std::size_t j = 0; j < i; ++j) {
      if (tensors[j].first == tensors[i].first) {
        return invalid_argument(
            fmt::format("register_buffer: '{}' is given twice for node '{}'", tensors[i].first, node));
      }
    }
  }
  OpenCall& call = open_.at(node);
  for (std::size_t i = 0; i < tensors.size(); ++i) add_place(call, {tensors[i].first, nullptr}, aliases[i], true);
  return aliases;
}

Status Session::module(const std::string& node, const std::vector<annotate::Buffer>& buffers) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  std::vector<at::Tensor> tensors;
  for (const annotate::Buffer& buffer : buffers) tensors.push_back(buffer.get());
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(check_open("module", node));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    names.push_back(buffers[i].name);
    std::replace(names.back().begin(), names.back().end(), '.', '_');
    if (!tensors[i].defined()) continue;
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "buffer", names[i], tensors[i]));
    LEAPP_RETURN_IF_ERROR(check_place(node, names[i], tensors[i]));
    if (is_declared(open_.at(node), names[i], tensors[i])) continue;
    const ValuePtr value = recorder_->table().find_own(tensors[i]);
    const bool used = value && (value->kind == TracedKind::kConstant || value->owner != 0);
    if (!used) continue;
    return failed_precondition(
        fmt::format("module: buffer '{}' was used in node '{}' before; call annotate.module right after input_tensors, "
                    "before the module runs",
                    buffers[i].name, node));
  }
  OpenCall& call = open_.at(node);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!tensors[i].defined() || is_declared(call, names[i], tensors[i])) continue;
    // Made while the node is open: what it holds is its first content, not something to compute in every call.
    recorder_->table().overwrite_unknown(tensors[i]);
    add_place(call, {names[i], buffers[i].get}, tensors[i], true);
  }
  return {};
}

void Session::watch(const std::vector<annotate::Buffer>& buffers) {
  std::vector<at::Tensor> tensors;
  for (const annotate::Buffer& buffer : buffers) tensors.push_back(buffer.get());
  const auto guard = recorder_->lock();
  watched_.insert(watched_.end(), buffers.begin(), buffers.end());
  for (auto& [node, call] : open_) {
    if (find(node)) continue;  // what changes from call to call shows by itself
    for (std::size_t i = 0; i < buffers.size(); ++i) add_place(call, buffers[i], tensors[i], false);
  }
}

Session::Watched Session::buffers_of_called_modules(const std::string& node) {
  std::vector<annotate::Buffer> buffers;
  {
    const auto guard = recorder_->lock();
    if (open_.contains(node) || find(node)) return {};
    buffers = watched_;
  }
  Watched watched;
  for (const annotate::Buffer& buffer : buffers) {
    at::Tensor tensor = buffer.get();
    watched.emplace_back(buffer, std::move(tensor));
  }
  return watched;
}

Status Session::mirror(const at::Tensor& source, const at::Tensor& target) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  const bool same_type = source.defined() && target.defined() && source.sizes() == target.sizes() &&
                         source.scalar_type() == target.scalar_type();
  if (!same_type) {
    const auto text = [](const at::Tensor& tensor) { return tensor.defined() ? describe(tensor) : "none"; };
    return invalid_argument(
        fmt::format("mirror_leapp_tags: source is {}, target is {}; expected the same", text(source), text(target)));
  }
  if (content_hash(source) != content_hash(target)) {
    return invalid_argument("mirror_leapp_tags: source and target do not hold the same values");
  }
  const auto guard = recorder_->lock();
  const ValuePtr value = recorder_->table().find(source);
  const ValuePtr known = recorder_->table().find(target);
  if (value && value != known) recorder_->table().write(target, value);
  return {};
}

bool Session::is_open(const std::string& node) {
  const auto guard = recorder_->lock();
  return open_.contains(node);
}

bool Session::abandon(const std::string& node) {
  std::vector<at::Tensor> released;
  const auto guard = recorder_->lock();
  const auto found = open_.find(node);
  if (found == open_.end()) return false;
  recorder_->close(found->second.activation, pass_);
  open_.erase(found);
  recording_.call_passes[node].pop_back();
  released = recorder_->table().take_released();
  return true;
}

}  // namespace leapp::capture
