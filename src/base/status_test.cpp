// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace leapp {
namespace {

Status passed_on(const Status& status) {
  LEAPP_RETURN_IF_ERROR(status);
  return not_found("went on");
}

Result<int> doubled(Result<int> given) {
  LEAPP_ASSIGN_OR_RETURN(const int number, std::move(given));
  return number * 2;
}

TEST(Status, ErrorsAreHandedOn) {
  EXPECT_EQ(passed_on({}).message(), "went on");
  EXPECT_EQ(passed_on(io_error("no disk")).code(), StatusCode::kIo);
  EXPECT_EQ(doubled(4).value(), 8);
  EXPECT_EQ(doubled(invalid_argument("no number")).status().message(), "no number");
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*std::move(result).value(), 3);
}

TEST(ResultDeathTest, TheValueOfAnErrorPrintsTheMessage) {
  const Result<std::string> result = not_found("no node is called 'policy'");
  EXPECT_DEATH((void)result.value(), "no node is called 'policy'");
}

}  // namespace
}  // namespace leapp
