// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The inputs that fuzzing has kept, through the targets of fuzz/ that only read, and damaged copies of each: cut short,
// and with bytes turned over.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define LLVMFuzzerTestOneInput fuzz_csv
#include "csv.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_graph
#include "graph.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_manifest
#include "manifest.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_npz
#include "npz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_onnx
#include "onnx.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_safetensors
#include "safetensors.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_yaml
#include "yaml.cpp"
#undef LLVMFuzzerTestOneInput

namespace {

struct Target {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);
};

constexpr Target kTargets[] = {{"csv", fuzz_csv},  {"graph", fuzz_graph}, {"manifest", fuzz_manifest},
                               {"npz", fuzz_npz},  {"onnx", fuzz_onnx},   {"safetensors", fuzz_safetensors},
                               {"yaml", fuzz_yaml}};
constexpr std::size_t kDamages = 8;

/// The bytes stand in a block of exactly their size: one read beyond it is seen.
void run(const Target& target, const std::string& bytes) {
  const std::vector<std::uint8_t> block(bytes.begin(), bytes.end());
  EXPECT_EQ(target.run(block.data(), block.size()), 0);
}

class Corpora : public testing::TestWithParam<Target> {};

TEST_P(Corpora, AndDamagedCopies) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(LEAPP_FUZZ_CORPUS "/") + GetParam().name)) {
    files.push_back(entry.path());
  }
  ASSERT_FALSE(files.empty());
  std::ranges::sort(files);
  for (const auto& path : files) {
    SCOPED_TRACE(path);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    run(GetParam(), bytes);
    for (std::size_t i = 0; i < kDamages && bytes.size() > kDamages; ++i) {
      const std::size_t at = bytes.size() * i / kDamages;
      run(GetParam(), bytes.substr(0, at));
      std::string turned = bytes;
      turned[at] = static_cast<char>(~turned[at]);
      run(GetParam(), turned);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Corpora, testing::ValuesIn(kTargets), [](const auto& info) { return info.param.name; });

}  // namespace
