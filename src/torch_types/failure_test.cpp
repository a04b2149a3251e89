// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "torch_types/failure.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace leapp {
namespace {

Status caught(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& failure) {
    return failure_status(
        failure, [&] { return std::string("text"); }, StatusCode::kDataLoss);
  }
  return {};
}

TEST(FailureTest, MemoryThatRanOutIsToldFromOtherFailures) {
  const Status plain = caught([] { throw std::bad_alloc(); });
  EXPECT_EQ(plain.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(plain.message(), "out of memory");
  const Status torch = caught([] { (void)at::empty({std::int64_t{1} << 60}); });
  EXPECT_EQ(torch.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(torch.message(), "text");
  const auto interpreter = [] { throw std::runtime_error("The following operation failed: std::bad_alloc"); };
  EXPECT_EQ(caught(interpreter).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(caught([] { (void)at::ones({2}).view({3}); }).code(), StatusCode::kDataLoss);
  EXPECT_EQ(caught([] { throw std::runtime_error("allocate"); }).code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace leapp
