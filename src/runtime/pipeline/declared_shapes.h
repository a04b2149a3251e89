// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"

namespace leapp::runtime {

/// Whether the ports of a node are what its ONNX model says of them. ONNX Runtime works out shapes by itself and goes
/// on where its result is another than the file's: a model that says of itself what is not so is not the one that the
/// bundle means. kInvalidArgument with both; what the model leaves open, or does not have, is not looked at.
Status check_declared_shapes(const bundle::Model& node, std::span<const std::byte> model);

}  // namespace leapp::runtime
