// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "leapp/base/tensor_view.h"

namespace leapp::cli {

/// Made-up values for one port: floats in [-1, 1), integers and bools 0 or 1. A port's values depend on the seed, on
/// its name and on how often it was asked, on nothing else: the same on every machine, whatever other ports there are.
class MockSource {
 public:
  MockSource(std::uint64_t seed, const std::string& port);

  void fill(const TensorView& view);

 private:
  std::uint64_t next();

  std::uint64_t state_;
};

}  // namespace leapp::cli
