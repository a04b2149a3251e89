// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/value_key.h"

#include <gtest/gtest.h>

#include "capture/trace/literal_trace.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {
namespace {

ValuePtr input_named(const char* port) {
  ValuePtr value = make_value(TracedKind::kInput, {at::kFloat, {2}}, {.port = port});
  value->owner = 1;
  return value;
}

TEST(ValueKey, IsTheSameInEveryCall) {
  TraceBuilder one([](auto&&...) {});
  TraceBuilder two([](auto&&...) {}, 7);
  const auto compute = [](TraceBuilder& builder, const char* port) {
    return builder.unary("aten::neg", builder.unary("aten::relu", input_named(port)));
  };
  EXPECT_EQ(ValueKeys().of(compute(one, "x")), ValueKeys().of(compute(two, "x")));
  EXPECT_NE(ValueKeys().of(compute(one, "x")), ValueKeys().of(compute(two, "y")));
  EXPECT_NE(ValueKeys().of(one.unary("aten::neg", input_named("x"))),
            ValueKeys().of(one.unary("aten::relu", input_named("x"))));
}

TEST(ValueKey, DoesNotLookAtWhatConstantsHold) {
  TraceBuilder builder([](auto&&...) {});
  const auto constant = [](float number) {
    auto data = std::make_shared<const std::vector<float>>(2, number);
    auto cell = std::make_shared<LiteralCell>();
    cell->constant = {{DType::kFloat32, {2}}, std::shared_ptr<const void>(data, data->data()), false};
    return make_constant(std::move(cell));
  };
  EXPECT_EQ(ValueKeys().of(builder.unary("aten::neg", constant(1))),
            ValueKeys().of(builder.unary("aten::neg", constant(2))));
}

TEST(ValueKey, TellsParametersApart) {
  TraceBuilder builder([](auto&&...) {});
  const auto parameter = [](const void* storage) {
    auto data = std::make_shared<const std::vector<float>>(2, 1.0F);
    auto cell = std::make_shared<LiteralCell>();
    cell->constant = {{DType::kFloat32, {2}}, std::shared_ptr<const void>(data, data->data()), false};
    cell->parameter = true;
    cell->read_from = storage;
    return make_constant(std::move(cell));
  };
  const int first = 0;
  const int second = 0;
  const auto plain = [&](const void* storage) {
    return ValueKeys().of(builder.unary("aten::neg", parameter(storage)));
  };
  const auto viewed = [&](const void* storage) {
    return ValueKeys().of(builder.unary("aten::relu", builder.unary("aten::neg", parameter(storage))));
  };
  EXPECT_EQ(plain(&first), plain(&first));
  EXPECT_NE(plain(&first), plain(&second));
  EXPECT_EQ(viewed(&first), viewed(&first));
  EXPECT_NE(viewed(&first), viewed(&second));
}

TEST(ValueKey, AttributesCompareByValue) {
  EXPECT_TRUE(same_attribute(c10::IValue(0.5), c10::IValue(0.5)));
  EXPECT_FALSE(same_attribute(c10::IValue(1), c10::IValue(1.0)));
  EXPECT_TRUE(same_attribute(c10::IValue(0.0), c10::IValue(-0.0)));
  EXPECT_TRUE(same_attribute(c10::List<std::int64_t>({1, 2}), c10::List<std::int64_t>({1, 2})));
  EXPECT_FALSE(same_attribute(c10::List<std::int64_t>({1, 2}), c10::List<std::int64_t>({1, 3})));
  EXPECT_EQ(hash_attribute(c10::IValue(0.0)), hash_attribute(c10::IValue(-0.0)));
  EXPECT_EQ(attribute_text(c10::IValue(0.5)), "0.5");
  EXPECT_EQ(attribute_text(c10::IValue()), "None");
}

}  // namespace
}  // namespace leapp::capture
