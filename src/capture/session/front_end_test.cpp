// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/front_end.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <memory>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::NamingFrontEnd;

TEST(FrontEndTest, ThatOfACppProgramKnowsLittle) {
  FrontEnd plain;
  EXPECT_EQ(plain.location(), 0U);
  EXPECT_FALSE(plain.interrupted() || plain.is_only_checked() || plain.name_parameters());
  EXPECT_EQ(plain.holder_name(at::ones({1})), "");
  EXPECT_EQ(plain.holders({at::ones({1})}).at(0).kind, Holder::Kind::kUnknown);
  EXPECT_EQ(plain.pytorch_exporters(), nullptr);
  EXPECT_TRUE(plain.source_until("/no/such/file.py", 3).empty());
}

TEST(FrontEndTest, OneIsSetAndTakenBack) {
  const auto mine = std::make_shared<NamingFrontEnd>();
  set_front_end(mine);
  EXPECT_EQ(front_end(), mine);
  set_front_end(nullptr);
  EXPECT_NE(front_end(), mine);
}

}  // namespace
}  // namespace leapp::capture
