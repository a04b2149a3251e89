// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "codegen/emitter.h"

namespace leapp::codegen {

/// The expression for a function of `x`, a name, which is a float or, if `dtype` says so, a double.
[[nodiscard]] std::string function_text(Emitter& e, const native::kernels::Activation& function, const std::string& x,
                                        DType dtype);
/// Of two floats or doubles. Comparisons and the logical functions are conditions.
[[nodiscard]] std::string function_text(Emitter& e, native::kernels::Binary function, const std::string& a,
                                        const std::string& b);
[[nodiscard]] bool is_condition(native::kernels::Binary function);

/// Loops over tensors with strides that are written into the text.
struct LoopAxes {
  const std::int64_t* shape = nullptr;
  int rank = 0;
};
/// The heads of the loops "for (int32_t i0 = 0; ...", each a level deeper; `body` inside of them, with its own indent.
[[nodiscard]] std::string loops(Emitter& e, const LoopAxes& axes, const std::string& body);
/// "i0 * 12 + i1 + offset"; "0" when nothing is left.
[[nodiscard]] std::string index_text(Emitter& e, const std::int64_t* strides, int rank, std::int64_t offset = 0);
/// The indent of what is inside `rank` loops.
[[nodiscard]] std::string inside(int rank);

}  // namespace leapp::codegen
