// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/native/kernels/dispatch.h"
#include "engine/native/kernels/kernels.h"

namespace leapp::native::kernels {

/// A test that runs once for each instruction set of this machine.
class LevelTest : public testing::TestWithParam<Level> {
 protected:
  void SetUp() override { limit_level(GetParam()); }
  void TearDown() override { limit_level(Level::kAvx512); }
};

inline std::string level_name(const testing::TestParamInfo<Level>& info) {
  static constexpr const char* kNames[] = {"baseline", "sse4", "avx2", "avx512"};
  return kNames[static_cast<int>(info.param)];
}

inline auto all_levels() {
  std::vector<Level> known;
  for (int i = 0; i <= static_cast<int>(level()); ++i) known.push_back(static_cast<Level>(i));
  return testing::ValuesIn(known);
}

/// Between -1 and 1, the same in each run.
inline std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(generator()) / 2147483648.0F - 1.0F;
  return values;
}

/// Memory aligned to 64 bytes.
class Aligned {
 public:
  explicit Aligned(std::size_t bytes) : memory_(bytes / 64 + 1) {}
  [[nodiscard]] void* data() { return memory_.data(); }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> memory_;
};

}  // namespace leapp::native::kernels
