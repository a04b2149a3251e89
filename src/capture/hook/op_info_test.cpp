// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/op_info.h"

#include <gtest/gtest.h>

#include <vector>

namespace leapp::capture {
namespace {

TEST(OpInfo, WhatIsWrittenAndItsFunctionalForm) {
  const OpInfo* add = op_info("aten::add_", "Tensor");
  EXPECT_EQ(add->writes(), std::vector<std::size_t>{0});
  ASSERT_NE(add->twin().op, nullptr);
  EXPECT_EQ(add->twin().op->qualified_name(), "aten::add.Tensor");
  EXPECT_EQ(op_info("aten::add", "Tensor")->argument("alpha"), 2);
  EXPECT_EQ(find_op_info("aten::no_such", ""), nullptr);
  EXPECT_ANY_THROW(op_info("aten::no_such", ""));
  EXPECT_TRUE(op_info("aten::rand_like", "")->facts().random);
  EXPECT_TRUE(op_info("aten::nonzero", "")->facts().dynamic_shape);
  EXPECT_EQ(op_info("aten::clone", "")->op_class(), OpClass::kIdentity);
}

}  // namespace
}  // namespace leapp::capture
