// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers of shifts and divisors of integers. All compute in int64: its low bits are those of every narrower type.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

void shift_left(OpBuilder& b);
void shift_right(OpBuilder& b);
void gcd(OpBuilder& b);
void lcm(OpBuilder& b);

}  // namespace leapp::onnx_ops
