// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/torch_version.h"

#include <ATen/core/operator_name.h>
#include <gtest/gtest.h>

#include <optional>

namespace leapp::capture {
namespace {

/// Records as torch has had them: with the overload at hand, and with the whole name only.
struct WithOverload {
  [[nodiscard]] const char* overload_name() const { return "Tensor"; }
};
struct WithName {
  std::optional<c10::OperatorName> name;
  [[nodiscard]] std::optional<c10::OperatorName> operator_name() const { return name; }
};

TEST(TorchVersionTest, OverloadsOfRecords) {
  EXPECT_TRUE(is_overload(WithOverload(), "Tensor"));
  EXPECT_FALSE(is_overload(WithOverload(), "Scalar"));
  EXPECT_TRUE(is_overload(WithName{c10::OperatorName("aten::add", "Tensor")}, "Tensor"));
  EXPECT_FALSE(is_overload(WithName{c10::OperatorName("aten::add", "Tensor")}, "Scalar"));
  EXPECT_FALSE(is_overload(WithName{}, ""));
}

TEST(TorchVersionTest, OnlyWhatIsNewerIsToldOf) {
  EXPECT_EQ(newer_than_tried(std::string(kLowestTorch) + ".0"), "");
  EXPECT_EQ(newer_than_tried(std::string(kHighestTorch) + ".1+cpu"), "");
  const std::string told = newer_than_tried("99.0.0");
  EXPECT_NE(told.find("torch 99.0.0 is newer than " + std::string(kHighestTorch)), std::string::npos) << told;
}

}  // namespace
}  // namespace leapp::capture
