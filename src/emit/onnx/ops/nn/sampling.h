// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What lies between the elements of a picture: sampling at places that are computed.
#pragma once

#include <vector>

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// Positions along one dimension that take part, with their weights.
struct Tap {
  Tensor position;
  Tensor weight;  ///< absent: 1
};
using SampleTaps = std::vector<Tap>;

/// The two neighbours of `position`.
SampleTaps neighbours_of(OpBuilder& b, const Tensor& position);

/// `position` within 0 .. size - 1.
Tensor clip_position(OpBuilder& b, const Tensor& position, std::int64_t size);

/// `x` is [N, C, sizes...]; `taps` has one list for each of the sizes, of tensors [N, 1, places]. Gives [N, C, places];
/// what is outside of `x` is zero.
Tensor sample_at(OpBuilder& b, const Tensor& x, const std::vector<SampleTaps>& taps);

}  // namespace leapp::onnx_ops
