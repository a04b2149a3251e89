// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/unmergeable_paths.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/branches/path_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;
using testing::leaving_call;
using testing::says;
using testing::setting_call;

class OddPathsTest : public testing::PathTest {
 protected:
  /// Paths that have been told apart, and their state.
  void find(const std::string& text) {
    record(text);
    for (std::size_t i = 0; i < paths_.size(); ++i) ASSERT_TRUE(tree_.add(i, paths_[i]->guards));
    slots_ = find_slots(paths_, evaluator_).slots;
  }
  void find_kept() {
    find(setting_call(0, "alone") + leaving_call(1, "from n %3 of pass 0") + leaving_call(2, "from n %3 of pass 0") +
         setting_call(3, "from n %3 of pass 0") + setting_call(4, "from n %3 of pass 3"));
    ASSERT_EQ(slots_.size(), 1U);
  }

  DecisionTree tree_;
  std::vector<StateSlot> slots_;
};

TEST_F(OddPathsTest, PathsThatInputsAndStateExplainAreNotOdd) {
  find_kept();
  EXPECT_FALSE(find_baked(slots_, paths_.size(), Leaks::kPromote));
  EXPECT_FALSE(find_undecided(tree_, slots_, paths_));
  EXPECT_FALSE(find_other_types(slots_));
}

TEST_F(OddPathsTest, StateThatIsToBeAConstant) {
  find_kept();
  const auto odd = find_baked(slots_, paths_.size(), Leaks::kConstant);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->path, 1U);
  slots_[0].leak.declared = true;
  EXPECT_FALSE(find_baked(slots_, paths_.size(), Leaks::kConstant));
}

TEST_F(OddPathsTest, AnotherTypeThanTheState) {
  find_kept();
  slots_[0].leak.type = {at::kFloat, {1, 2}};
  const auto odd = find_other_types(slots_);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->path, 0U);
  EXPECT_EQ(odd->reason, "it leaves float32[2] in 'h', which is float32[1, 2]");
  slots_[0].leak.in_place = true;  // memory has the shape that the program gives it
  EXPECT_FALSE(find_other_types(slots_));
}

// What decided depends on a constant that nobody explains: as if there were no guard.
TEST_F(OddPathsTest, AGuardThatNeitherInputsNorStateDecide) {
  const auto call = [](int pass, bool taken) {
    return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %c = constant float32[] [{}]
  %2: bool[] = aten::gt.Scalar(self=%c, other=0)  @ "p.py":2
  %3: float32[2] = aten::{}.Tensor(self=%x, other=1.0, alpha=1)  @ "p.py":3
  return (y=%3)
}}
guard %2 {} at "p.py":2
)",
                       pass, taken ? 1 : -1, taken ? "add" : "sub", taken);
  };
  Analysed result(call(0, true) + call(1, false));
  EXPECT_FALSE(says(result.graph("n"), "where"));
  EXPECT_TRUE(says(result.divergences("n"), "call 1 differs from call 0: aten::add.Tensor")) << result.divergences("n");
  EXPECT_TRUE(says(result.log(), "depends neither on the node's inputs nor on state")) << result.log();
}

}  // namespace
}  // namespace leapp::capture
