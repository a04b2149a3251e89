// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/trace_builder.h"

#include <gtest/gtest.h>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

ValuePtr live_input(ActivationId owner) {
  ValuePtr value = make_value(TracedKind::kInput, {at::kFloat, {2, 3}}, {.port = "x"});
  value->owner = owner;
  return value;
}

TEST(TraceBuilder, ResultsAreOwnedByWhoOwnsTheOperands) {
  int mixed = 0;
  TraceBuilder builder([&](const OpInfo&, LocationId, ActivationId, ActivationId) { ++mixed; });
  EXPECT_EQ(builder.unary("aten::neg", live_input(3))->owner, 3U);
  EXPECT_EQ(builder.full({2}, 1, at::kFloat)->owner, 0U);
  EXPECT_EQ(mixed, 0);
  builder.as_strided_scatter(builder.reshape(live_input(1), {6}), live_input(2), {2, 3}, {3, 1}, 0);
  EXPECT_GT(mixed, 0);
}

TEST(TraceBuilder, WhatChangesNothingIsNoOperator) {
  TraceBuilder builder([](auto&&...) {});
  const ValuePtr value = live_input(1);
  EXPECT_EQ(builder.reshape(value, {2, 3}), value);
  EXPECT_EQ(builder.expand(value, {2, 3}), value);
  EXPECT_EQ(builder.cast(value, at::kFloat), value);
  EXPECT_NE(builder.cast_always(value, at::kFloat), value);
  // A reshape of a reshape is one, and there and back is none.
  const ValuePtr flat = builder.reshape(value, {6});
  EXPECT_EQ(builder.reshape(flat, {2, 3}), value);
  EXPECT_EQ(builder.reshape(flat, {3, 2})->op->arguments[0].tensor, value);
}

TEST(TraceBuilder, TheSameBitsAsAnotherType) {
  TraceBuilder builder([](auto&&...) {});
  const ValuePtr flat = builder.reshape(live_input(1), {6});
  EXPECT_EQ(builder.reinterpret(flat, at::kDouble)->type, (ValueType{at::kDouble, {3}}));
  EXPECT_EQ(builder.reinterpret(flat, at::kComplexFloat)->type, (ValueType{at::kComplexFloat, {3}}));
  const ValuePtr odd = builder.full({3}, 1, at::kFloat);
  EXPECT_ANY_THROW(builder.reinterpret(odd, at::kDouble));
}

}  // namespace
}  // namespace leapp::capture
