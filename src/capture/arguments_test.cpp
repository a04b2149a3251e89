// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/arguments.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

namespace leapp::capture {
namespace {

TEST(Arguments, FrozenListsAreNobodyElses) {
  c10::List<std::int64_t> list({1, 2});
  const c10::IValue kept = frozen(list);
  list.push_back(3);
  EXPECT_EQ(kept.toIntVector().size(), 2U);
}

TEST(Arguments, LayoutsHaveNames) {
  EXPECT_TRUE(is_dense(at::ones({2})));
  EXPECT_FALSE(is_dense(at::ones({2, 2}).to_sparse()));
  EXPECT_EQ(layout_text(at::ones({2, 2}).to_sparse()), "sparse");
}

}  // namespace
}  // namespace leapp::capture
