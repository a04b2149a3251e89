// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "capture/trace/record.h"
#include "leapp/base/status.h"

namespace leapp::capture {

/// Non-empty, not "." or "..", no slash, backslash or control character.
Status check_node_name(const std::string& node);

/// Non-empty, no slash.
Status check_port_name(const std::string& node, const char* direction, const std::string& name);

/// Dense, of a dtype a bundle knows.
Status check_port_tensor(const std::string& node, const char* direction, const std::string& name,
                         const at::Tensor& tensor);

/// All of these, each with a name of its own.
Status check_ports(const std::string& node, const char* direction, const PortTensors& tensors);

/// The type the first call had.
Status check_same_type(const std::string& node, const char* direction, const std::string& name,
                       const ValueType& expected, const at::Tensor& tensor);

/// Takes over where an input's value came from in this pass. A pass without a source never conflicts.
Status merge_source(const std::string& node, PortRecord& port, const std::optional<Source>& source);

}  // namespace leapp::capture
