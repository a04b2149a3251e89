// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/capture_state.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

TEST(FirstError, KeepsTheFirstUntilItIsTaken) {
  FirstError error;
  EXPECT_TRUE(error.take().ok());
  error.note(invalid_argument("one"));
  error.note(internal_error("two"));
  EXPECT_EQ(error.take().message(), "one");
  EXPECT_TRUE(error.take().ok());
  error.note(internal_error("three"));
  EXPECT_EQ(error.take().message(), "three");
}

TEST(FirstError, OneOfManyThreadsIsFirst) {
  FirstError error;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { error.note(internal_error("x")); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(error.take().ok());
  EXPECT_TRUE(error.take().ok());
}

TEST(CaptureState, NamesTheNodesThatAnOperatorMixes) {
  CaptureState state([](const std::string&) {});
  const auto input = [&](const char* node) {
    ValuePtr value = make_value(TracedKind::kInput, {at::kFloat, {2}}, {.port = "x"});
    value->owner = state.calls.open(node);
    return value;
  };
  const ValuePtr a = input("left");
  const ValuePtr b = input("right");
  const auto op = state.builder.make(op_info("aten::mul", "Tensor"), {TraceArgument::of(a), TraceArgument::of(b)});
  state.builder.result(op, 0, a->type);
  EXPECT_NE(state.errors.take().message().find("aten::mul.Tensor mixes values of two open nodes, 'left' and 'right'"),
            std::string::npos);
}

}  // namespace
}  // namespace leapp::capture
