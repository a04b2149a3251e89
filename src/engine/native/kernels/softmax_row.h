// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace leapp::native::kernels {

/// In place: the softmax of scale * scores + mask. A null mask adds nothing.
void softmax_of_scores(float* scores, const float* mask, std::int64_t n, float scale) noexcept;

}  // namespace leapp::native::kernels
