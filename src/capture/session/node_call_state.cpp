// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// State that the user declares: next values, and buffers that may hold something else when the node closes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/recorder/tensor_content.h"
#include "capture/session/checks.h"
#include "capture/session/node_call.h"
#include "capture/state/state_analysis.h"

namespace leapp::capture {

Status NodeCall::check_update(const std::string& name, const at::Tensor& tensor) const {
  const auto input = std::find_if(inputs_.begin(), inputs_.end(),
                                  [&](const PortRecord& item) { return item.state && item.name == name; });
  if (input == inputs_.end()) {
    return invalid_argument(
        fmt::format("update_state: node '{}' has no state '{}'; declare it with state_tensors first", node_, name));
  }
  const bool twice =
      std::any_of(updates_.begin(), updates_.end(), [&](const PortTensor& item) { return item.name == name; });
  if (twice)
    return invalid_argument(fmt::format("update_state: state '{}' of node '{}' was updated before", name, node_));
  if (!tensor.defined()) {
    return wrong_type(fmt::format("update_state: state '{}' of node '{}': expected a tensor, found none", name, node_));
  }
  if (input->type.dtype != tensor.scalar_type() || c10::IntArrayRef(input->type.sizes) != tensor.sizes()) {
    return invalid_argument(fmt::format("update_state: state '{}' of node '{}': expected {} as declared, found {}",
                                        name, node_, type_text(input->type), describe(tensor)));
  }
  const ValuePtr value = recorder_->table().find(tensor, activation_);
  if (!value || value->owner == 0 || value->owner == activation_) return {};
  return failed_precondition(fmt::format("update_state: state '{}' of node '{}': the tensor is a value of node '{}'",
                                         name, node_, recorder_->calls().name_of(value->owner)));
}

Status NodeCall::update_state(const NamedTensors& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    LEAPP_RETURN_IF_ERROR(check_update(tensors[i].first, tensors[i].second));
    for (std::size_t j = 0; j < i; ++j) {
      if (tensors[j].first == tensors[i].first) {
        return invalid_argument(
            fmt::format("update_state: state '{}' of node '{}' is given twice", tensors[i].first, node_));
      }
    }
  }
  for (const auto& [name, tensor] : tensors) updates_.push_back({name, tensor});
  return {};
}

Status NodeCall::check_buffer(const std::string& name, const at::Tensor& tensor) const {
  LEAPP_RETURN_IF_ERROR(check_port_name(node_, "buffer", name));
  const bool input =
      std::any_of(inputs_.begin(), inputs_.end(), [&](const PortRecord& item) { return item.name == name; });
  if (!input && (!buffers_.has_declared(name) || buffers_.is_declared(name, tensor))) return {};
  return invalid_argument(fmt::format("node '{}': '{}' is the name of {} already; a buffer needs a name of its own",
                                      node_, name, input ? "an input" : "another buffer"));
}

}  // namespace leapp::capture
