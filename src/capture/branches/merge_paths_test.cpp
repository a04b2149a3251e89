// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/merge_paths.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/branches/path_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;
using testing::branch_call;
using testing::leaving_call;
using testing::says;
using testing::setting_call;

TEST(MergePaths, OneSideIsExportedAsItIsWithCounts) {
  Analysed result(branch_call(0, true) + branch_call(1, true));
  EXPECT_FALSE(says(result.graph("n"), "where"));
  EXPECT_TRUE(says(result.log(),
                   "p.py:2: node 'n' branches on a value here: aten::is_nonzero was true in all 2 cases, "
                   "never false. It is exported that way; run a pass in which it is false"))
      << result.log();
}

TEST(MergePaths, AnotherWayWithoutAGuardIsADifference) {
  std::string later = branch_call(1, false);
  later.replace(later.find("guard %2 false at \"p.py\":2"), 26, "guard %2 false at \"p.py\":9");
  Analysed result(branch_call(0, true) + later);
  EXPECT_FALSE(says(result.graph("n"), "where"));
  EXPECT_TRUE(says(result.divergences("n"), "call 1 differs from call 0")) << result.divergences("n");
}

TEST(MergePaths, WhatIsNotJoinedIsSaidInTheLogAndItsStateIsRefused) {
  Analysed result(setting_call(0, "alone") + setting_call(1, "from n %3 of pass 0") +
                  leaving_call(2, "from n %3 of pass 1"));
  ASSERT_EQ(result.node("n").refusals.size(), 1U);
  EXPECT_TRUE(says(result.node("n").refusals[0],
                   "p.py:2: node 'n' branches on data, and what it keeps on the way that call 2 took (false at p.py:2) "
                   "cannot be told: no call after it shows what it leaves in 'h'"))
      << result.node("n").refusals[0];
  EXPECT_TRUE(says(result.log(), "the path that call 2 took is not joined with that of call 0")) << result.log();
}

}  // namespace
}  // namespace leapp::capture
