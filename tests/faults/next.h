// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan.h"

/// The function behind the interposed one of this name, which must be declared. Looked up once.
#define LEAPP_NEXT(name)                                                                                     \
  ([] {                                                                                                      \
    static const auto function = reinterpret_cast<decltype(&::name)>(::leapp::faults::next_function(#name)); \
    return function;                                                                                         \
  }())

namespace leapp::faults {

inline bool fails(Call call, const char* path, int folder = -100) {
  return armed() && decide(call, path, folder) != Verdict::kGo;
}
inline bool fails(Call call, int file) { return armed() && decide(call, file) != Verdict::kGo; }

}  // namespace leapp::faults
