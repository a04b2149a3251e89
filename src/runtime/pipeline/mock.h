// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "leapp/base/export.h"
#include "leapp/base/tensor_view.h"

namespace leapp::runtime {

/// Made-up values for one port: floats of a normal distribution, integers and bools 0 or 1, which are also indices that
/// every table has. A port's values depend on the seed, on its name and on how often it was asked, on nothing else: the
/// same in Python and on the command line, whatever other ports there are.
class LEAPP_API MockSource {
 public:
  MockSource(std::uint64_t seed, std::string_view port);

  /// REQUIRES: a dtype that a port may have.
  void fill(const TensorView& view);

 private:
  std::uint64_t next();
  double normal();

  std::uint64_t state_;
};

}  // namespace leapp::runtime
