// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/phase_reads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "capture/branches/path_testing.h"
#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"

namespace leapp::capture {
namespace {

class PhaseReadsTest : public testing::PathTest {
 protected:
  /// y = self.queue[i] * 2, after pass 0 has filled the queue with `%1` and `%2`, in calls that read %1, %2, %1, %2,
  /// ...
  static std::string queue(const std::string& taken) {
    std::string text = R"(
call n in pass 0
graph n(%x: float32[2,2]) {
  %q = constant float32[2] [0, 0]
  %1: float32[2], %2: float32[2] = aten::unbind.int(self=%x, dim=0)  @ "p.py":1
  %3: float32[2] = aten::mul.Tensor(self=%q, other=2.0)  @ "p.py":2
  return (y=%3)
}
keep %1
keep %2
)";
    for (std::size_t i = 0; i < taken.size(); ++i) {
      text += fmt::format(R"(
call n in pass {0}
graph n(%x: float32[2,2]) {{
  %q = constant float32[2] [{0}, 1]
  %1: float32[2], %2: float32[2] = aten::unbind.int(self=%x, dim=0)  @ "p.py":1
  %3: float32[2] = aten::mul.Tensor(self=%q, other=2.0)  @ "p.py":2
  return (y=%3)
}}
constant %q at "p.py":2 from n %{1} of pass {2}
keep %1
keep %2
)",
                          i + 1, taken[i], i);
    }
    return text;
  }

  /// As if all calls had gone one way, and all phases were of it.
  bool split(const std::string& taken) {
    record(queue(taken));
    for (std::uint64_t pass = 0; pass <= taken.size(); ++pass) way_in_[pass] = 0;
    // What a way remembers besides (unguarded_variants.h): the value itself.
    for (Leak& leak : paths_[0]->leaks) {
      for (const Leak::Seen& seen : leak.seen) leak.values.try_emplace({seen.source.port, seen.source.key}, read());
    }
    return reads_.split(paths_, {0, 1});
  }

  [[nodiscard]] const TraceOp& reader() const { return *bare(paths_[0]->output_values[0])->op; }
  [[nodiscard]] ValuePtr read() const {
    ValuePtr found;
    for_each_operand(reader(), [&](const ValuePtr& value) { found = value; });
    return found;
  }

  Schedule schedule_{.warm_up = 0, .period = 2};
  std::map<std::uint64_t, std::size_t> way_in_;
  PhaseNumber number_;
  PhaseReads reads_{schedule_, way_in_, number_};
};

TEST_F(PhaseReadsTest, TheSameInEveryPhaseIsOneLeak) {
  ASSERT_TRUE(split("1111"));
  EXPECT_EQ(paths_[0]->leaks.size(), 1U);
  EXPECT_TRUE(reads_.unseen().empty());
}

TEST_F(PhaseReadsTest, InOnePhaseNowThisNowThatIsNotTold) { EXPECT_FALSE(split("1122")); }

TEST_F(PhaseReadsTest, OneLeakForEachOfWhatPhasesRead) {
  ASSERT_TRUE(split("1212"));
  EXPECT_EQ(paths_[0]->leaks.size(), 2U);
  const ValuePtr chosen = read();
  ASSERT_EQ(chosen->kind, TracedKind::kResult);
  EXPECT_EQ(chosen->op->info->name(), "aten::where");
  ASSERT_NE(reads_.phases_of(Use{chosen->op.get(), 1}), nullptr);
  EXPECT_EQ(reads_.phases_of(Use{chosen->op.get(), 1})->size(), 1U);
  EXPECT_EQ(reads_.phases_of(Use{const_cast<TraceOp*>(&reader()), 0}), nullptr);
  reads_.undo();
  EXPECT_EQ(read()->kind, TracedKind::kConstant);
}

}  // namespace
}  // namespace leapp::capture
