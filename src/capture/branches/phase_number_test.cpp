// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/phase_number.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/hook/op_info.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

/// "add remainder": the operators behind a value, in their order.
std::string operators_of(const ValuePtr& value) {
  std::string text;
  for (const TraceOp* op : slice_of({value}).ops) text += (text.empty() ? "" : " ") + op->info->name().substr(6);
  return text;
}

TEST(PhaseNumber, OneOfSeveralPhasesIsAskedOnce) {
  PhaseNumber phase;
  const ValuePtr one = phase.is_one_of({2});
  EXPECT_EQ(operators_of(one), "eq");
  EXPECT_EQ(phase.is_one_of({2}), one);
  const ValuePtr either = phase.is_one_of({0, 2});
  EXPECT_EQ(operators_of(either), "eq eq logical_or");
  EXPECT_EQ(either->type, (ValueType{at::kBool, {}}));
}

TEST(PhaseNumber, ItIsNoConstant) { EXPECT_FALSE(is_constant(*PhaseNumber().value())); }

TEST(PhaseNumber, TheNextIsTheRemainderOrGoesBackToTheEndOfTheBeginning) {
  PhaseNumber phase;
  TraceBuilder builder([](auto&&...) {});
  EXPECT_EQ(operators_of(phase.next({.warm_up = 0, .period = 3}, builder)), "add remainder");
  const ValuePtr after = phase.next({.warm_up = 2, .period = 3}, builder);
  EXPECT_EQ(operators_of(after), "add ge to mul sub");
  EXPECT_EQ(after->type, (ValueType{at::kLong, {}}));
}

}  // namespace
}  // namespace leapp::capture
