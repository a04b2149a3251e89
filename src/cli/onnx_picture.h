// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "draw/picture.h"
#include "leapp/base/status.h"

namespace leapp::cli {

/// Operators and constants of an ONNX model; its nodes' doc strings are taken for lines of a program.
Status add_onnx(std::span<const std::byte> model, draw::PictureNode& node);

}  // namespace leapp::cli
