// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/arguments.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

namespace leapp::capture {
namespace {

TEST(Arguments, FrozenListsAreNobodyElses) {
  c10::List<std::int64_t> list({1, 2});
  const c10::IValue kept = frozen(list, c10::Argument("size", c10::ListType::ofInts()));
  list.push_back(3);
  EXPECT_EQ(kept.toIntVector().size(), 2U);
}

TEST(Arguments, WhereTensorsLieIsNotKept) {
  const c10::Argument optional("device", c10::OptionalType::create(c10::DeviceObjType::get()));
  EXPECT_TRUE(frozen(c10::Device("cuda:1"), optional).isNone());
  const c10::Argument needed("device", c10::DeviceObjType::get());
  EXPECT_EQ(frozen(c10::Device("cuda:1"), needed).toDevice(), c10::Device("cpu"));
  const auto maybe = c10::OptionalType::create(c10::BoolType::get());
  EXPECT_TRUE(frozen(true, c10::Argument("pin_memory", maybe)).isNone());
  EXPECT_TRUE(frozen(true, c10::Argument("keepdim", maybe)).toBool());
}

TEST(Arguments, LayoutsHaveNames) {
  EXPECT_TRUE(is_dense(at::ones({2})));
  EXPECT_FALSE(is_dense(at::ones({2, 2}).to_sparse()));
  EXPECT_EQ(layout_text(at::ones({2, 2}).to_sparse()), "sparse");
}

}  // namespace
}  // namespace leapp::capture
