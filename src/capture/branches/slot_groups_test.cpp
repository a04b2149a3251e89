// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/slot_groups.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "capture/branches/path_testing.h"

namespace leapp::capture {
namespace {

class SlotGroupsTest : public testing::PathTest {
 protected:
  // y = x + self.a + self.b; self.a = x * 3; another way ends with y * 2
  static std::string call(int pass, bool taken, const std::string& facts) {
    return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %a = constant float32[2] [{}, 0]
  %b = constant float32[2] [{}, 1]
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
  %3: float32[2] = aten::mul.Tensor(self=%x, other=3.0)  @ "p.py":3
  %4: float32[2] = aten::add.Tensor(self=%x, other=%a, alpha=1)  @ "p.py":4
  %5: float32[2] = aten::add.Tensor(self=%4, other=%b, alpha=1)  @ "p.py":5
{}  return (y=%{})
}}
{}
guard %2 {} at "p.py":2
keep %3
)",
                       pass, pass, pass, taken ? "  %6: float32[2] = aten::mul.Tensor(self=%5, other=2.0)\n" : "",
                       taken ? 6 : 5, facts, taken);
  }

  SlotGroups group(const std::string& text) {
    record(text);
    history_ = std::make_unique<PathHistory>(paths_);
    return group_leaks(*history_);
  }

  std::unique_ptr<PathHistory> history_;
};

std::set<std::size_t> paths_in(const SlotGroup& group) {
  std::set<std::size_t> paths;
  for (const SlotMember& member : group) paths.insert(member.path);
  return paths;
}

TEST_F(SlotGroupsTest, OneNameIsOneStateOnAllWays) {
  const std::string former = "constant %a named \"a\" from n %3 of pass {}\n";
  const SlotGroups found =
      group(call(0, false, "") + call(1, false, fmt::format(fmt::runtime(former), 0)) +
            call(2, true, fmt::format(fmt::runtime(former), 1)) + call(3, true, fmt::format(fmt::runtime(former), 2)));
  ASSERT_EQ(found.groups.size(), 1U);
  EXPECT_EQ(paths_in(found.groups[0]), (std::set<std::size_t>{0, 1}));
  EXPECT_EQ(found.groups[0][0].leak->name, "a");
}

TEST_F(SlotGroupsTest, EntriesOfAListHaveOneNameAndAreTwo) {
  const auto row = [](int newer, int older) {
    return fmt::format(
        "constant %a named \"row\" from n %3 of pass {}\nconstant %b named \"row\" from n %3 of pass {}\n", newer,
        older);
  };
  const SlotGroups found = group(call(0, false, "") + call(1, false, "constant %a named \"row\" from n %3 of pass 0") +
                                 call(2, false, row(1, 0)) + call(3, true, row(2, 1)) + call(4, true, row(3, 2)));
  ASSERT_EQ(found.groups.size(), 2U);
  std::set<std::uint64_t> delays;
  for (const SlotGroup& one : found.groups) {
    EXPECT_EQ(paths_in(one), (std::set<std::size_t>{0, 1}));
    delays.insert(one[0].leak->source.delay);
  }
  EXPECT_EQ(delays, (std::set<std::uint64_t>{1, 2}));
}

}  // namespace
}  // namespace leapp::capture
