// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "torch_types/failure.h"

#include <c10/util/Exception.h>

#include <string_view>

namespace leapp {

bool is_out_of_memory(const std::exception& failure) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&failure) != nullptr) return true;
  const auto* torch = dynamic_cast<const c10::Error*>(&failure);
  const std::string_view text = torch == nullptr ? failure.what() : torch->what_without_backtrace();
  for (const char* words :
       {"std::bad_alloc", "DefaultCPUAllocator: can't allocate memory", "DefaultCPUAllocator: not enough memory"}) {
    if (text.find(words) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace leapp
