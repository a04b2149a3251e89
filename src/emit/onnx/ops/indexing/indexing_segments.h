// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for runs of rows that are reduced to one row each, and for the rows of an embedding.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

void embedding_bag(OpBuilder& b);
void embedding_renorm(OpBuilder& b);
void segment_reduce(OpBuilder& b);

}  // namespace leapp::onnx_ops
