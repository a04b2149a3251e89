// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "capture/hook/arguments.h"
#include "capture/recorder/tensor_content.h"
#include "torch_types/tensors.h"

namespace leapp::capture {

Status check_node_name(const std::string& node) {
  const bool legal = !node.empty() && node != "." && node != ".." &&
                     std::none_of(node.begin(), node.end(),
                                  [](unsigned char c) { return c == '/' || c == '\\' || c < 0x20 || c == 0x7f; });
  if (legal) return {};
  return invalid_argument(fmt::format(
      "node name '{}': expected a name that is not empty, '.' or '..' and has no slash, backslash or control character",
      node));
}

Status check_port_name(const std::string& node, const char* direction, const std::string& name) {
  if (!name.empty() && name.find('/') == std::string::npos) return {};
  return invalid_argument(fmt::format("{} name '{}' of node '{}': expected a name that is not empty and has no slash",
                                      direction, name, node));
}

Status check_port_tensor(const std::string& node, const char* direction, const std::string& name,
                         const at::Tensor& tensor) {
  const auto where = [&] { return fmt::format("{} '{}' of node '{}'", direction, name, node); };
  if (!tensor.defined()) return wrong_type(where() + ": expected a tensor, found none");
  if (!is_dense(tensor)) {
    return invalid_argument(fmt::format("{}: expected a dense tensor, found a {} one", where(), layout_text(tensor)));
  }
  if (tensor.is_meta())
    return invalid_argument(where() + ": expected a tensor with values, found one on the meta device");
  const auto dtype = to_dtype(tensor.scalar_type());
  if (!dtype || !is_port_dtype(*dtype)) {
    return invalid_argument(
        fmt::format("{}: expected a dtype that a bundle knows (float16/32/64, bfloat16, int8/16/32/64, "
                    "uint8, bool), found {}",
                    where(), dtype_text(tensor.scalar_type())));
  }
  return {};
}

Status check_ports(const std::string& node, const char* direction, const PortTensors& tensors) {
  std::set<std::string> seen;
  for (const auto& [name, tensor, semantics] : tensors) {
    LEAPP_RETURN_IF_ERROR(check_port_name(node, direction, name));
    if (!seen.insert(name).second) {
      return invalid_argument(
          fmt::format("node '{}': two {}s are called '{}'; names must be unique", node, direction, name));
    }
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, direction, name, tensor));
  }
  return {};
}

Status check_same_type(const std::string& node, const char* direction, const std::string& name,
                       const ValueType& expected, const at::Tensor& tensor) {
  if (expected.dtype == tensor.scalar_type() && c10::IntArrayRef(expected.sizes) == tensor.sizes()) return {};
  return invalid_argument(fmt::format("{} '{}' of node '{}': expected {} as in the first call, found {}", direction,
                                      name, node, type_text(expected), describe(tensor)));
}

Status merge_source(const std::string& node, PortRecord& port, const std::optional<Source>& source) {
  if (!source) return {};
  if (!port.source) {
    port.source = source;
    return {};
  }
  const bool same = port.source->node == source->node && port.source->port == source->port &&
                    port.source->feedback == source->feedback;
  if (same) return {};
  const auto text = [](const Source& item) {
    return fmt::format("{}/{}{}", item.node, item.port, item.feedback ? " of an earlier pass" : "");
  };
  return invalid_argument(fmt::format("input '{}' of node '{}': took its value from {} before, now from {}", port.name,
                                      node, text(*port.source), text(*source)));
}

}  // namespace leapp::capture
