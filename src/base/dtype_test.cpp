// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/base/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace leapp {
namespace {

constexpr int kCount = static_cast<int>(DType::kFloat8E5M2) + 1;

TEST(DType, NamesAreUniqueAndParseBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_TRUE(names.insert(dtype_name(dtype)).second);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
  }
}

TEST(DType, UnknownNamesDoNotParse) {
  for (const char* name : {"", "float", "Float32", "float32 ", "torch.float32", "double"}) {
    EXPECT_EQ(parse_dtype(name), std::nullopt) << name;
  }
}

TEST(DType, Sizes) {
  EXPECT_EQ(dtype_size(DType::kFloat32), 4U);
  EXPECT_EQ(dtype_size(DType::kBFloat16), 2U);
  EXPECT_EQ(dtype_size(DType::kBool), 1U);
  EXPECT_EQ(dtype_size(DType::kComplex128), 16U);
}

TEST(DType, PortsUseTheFirstTen) {
  int ports = 0;
  for (int i = 0; i < kCount; ++i) ports += is_port_dtype(static_cast<DType>(i)) ? 1 : 0;
  EXPECT_EQ(ports, 10);
  EXPECT_TRUE(is_port_dtype(DType::kBool));
  EXPECT_FALSE(is_port_dtype(DType::kUInt16));
}

}  // namespace
}  // namespace leapp
