// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// torch's PackedSequence: sequences of several lengths, longest first, one step of all of them after the other.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// Where each element of a packed sequence stands in the padded one, [steps, batch], and the other way round.
struct Packing {
  Ints padded_from_packed;  ///< past the end of a sequence: the first element
  Ints packed_from_padded;
  Ints lengths;
  std::int64_t steps = 0;
  std::int64_t batch = 0;

  [[nodiscard]] bool ragged() const { return !lengths.empty() && lengths.back() != steps; }
};

/// `batch_sizes`: how many sequences reach each step.
[[nodiscard]] Packing packing_of(const Ints& batch_sizes);

/// The numbers of an argument that has to be known; refuses when it is not.
Ints known_lengths(OpBuilder& b, std::string_view name);

void pack_sequence(OpBuilder& b);
void pad_sequence(OpBuilder& b);

}  // namespace leapp::onnx_ops
