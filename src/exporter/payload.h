// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "capture/trace/record.h"
#include "leapp/capture.h"

namespace leapp::exporter {

/// What an annotation was given, one entry per tensor.
struct FlatPayload {
  capture::PortTensors ports;           ///< nested values are called `name_key_0`
  std::vector<std::string> no_tensors;  ///< the other leaves: "'gain' (int 3)"
};

/// Fails when semantics stand beside a nested value or do not fit the tensor. `node` is for messages.
Result<FlatPayload> flatten(const std::string& node, const Payload& payload);

/// The structure of `payload` around `tensors`, which stand in the order of flatten.
std::vector<Nested> rebuild(const Payload& payload, const std::vector<at::Tensor>& tensors);

/// The values of `payload`, as they are.
std::vector<Nested> values_of(const Payload& payload);

/// Whether names, axes and further keys fit a port of this shape.
Status check_semantics(const std::string& where, const Semantics& semantics, at::IntArrayRef shape);

}  // namespace leapp::exporter
