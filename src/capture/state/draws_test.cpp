// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/draws.h"

#include <ATen/CPUGeneratorImpl.h>

#include <string>

#include "capture/session/session_testing.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::says;
using Draws = testing::SessionTest;

TEST_F(Draws, ACallDrawsInEveryStep) {
  for (int i = 0; i < 2; ++i) call(at::ones({2}), [](const at::Tensor& x) { return x + at::randn({2}); });
  ASSERT_TRUE(stop());
  EXPECT_TRUE(says(graph(), "random aten::randn(")) << graph();
  EXPECT_TRUE(node().divergences.empty());
}

TEST_F(Draws, OneCallCannotTell) {
  call(at::ones({2}), [](const at::Tensor& x) { return x + at::randn({2}); });
  ASSERT_TRUE(stop());
  EXPECT_FALSE(says(graph(), "aten::randn")) << graph();
}

TEST_F(Draws, WhatIsReadAgainIsAConstant) {
  at::Tensor kept;
  for (int i = 0; i < 2; ++i) {
    call(at::ones({2}), [&](const at::Tensor& x) {
      if (!kept.defined()) kept = at::randn({2}) * 2;
      return x + kept;
    });
  }
  ASSERT_TRUE(stop());
  EXPECT_FALSE(says(graph(), "random")) << graph();
  EXPECT_EQ(ports(), "x -> y");
  EXPECT_TRUE(node().divergences.empty());
}

TEST_F(Draws, AGeneratorThatIsSetInEveryCallGivesAConstant) {
  for (int i = 0; i < 2; ++i) {
    call(at::ones({2}), [](const at::Tensor& x) {
      const at::Generator seeded = at::detail::createCPUGenerator(7);
      return x + at::rand({2}, seeded);
    });
  }
  ASSERT_TRUE(stop());
  EXPECT_FALSE(says(graph(), "random")) << graph();
}

TEST_F(Draws, WhatIsDrawnNowAndThenIsADifference) {
  at::Tensor kept;
  for (int i = 0; i < 3; ++i) {
    call(at::ones({2}), [&](const at::Tensor& x) {
      if (i != 1) kept = at::randn({2});
      return x + kept;
    });
  }
  ASSERT_TRUE(stop());
  EXPECT_FALSE(says(graph(), "random")) << graph();
  ASSERT_EQ(node().divergences.size(), 1U);
  EXPECT_TRUE(says(node().divergences[0].text, "draws other numbers in call 2")) << node().divergences[0].text;
}

TEST_F(Draws, WhatIsDrawnOverMemoryDoesNotReadIt) {
  const at::Tensor buffer = at::zeros({2});
  for (int i = 0; i < 2; ++i) {
    call(at::ones({2}), [&](const at::Tensor& x) { return x + buffer.normal_(); });
  }
  ASSERT_TRUE(stop());
  EXPECT_EQ(ports(), "x -> y");
  EXPECT_TRUE(says(graph(), "random aten::normal_functional(")) << graph();
}

TEST_F(Draws, WhatAnotherNodeDrewIsAConstantOfBoth) {
  const at::Tensor x = input(at::ones({2}));
  const at::Tensor noise = at::randn({2});
  const at::Tensor inner = input(at::ones({2}), "inner");
  EXPECT_TRUE(output(inner * noise, "inner").ok());
  EXPECT_TRUE(output(x + noise).ok());
  ASSERT_TRUE(stop());
  for (std::size_t i = 0; i < 2; ++i) {
    const auto made = to_graph(node(i));
    ASSERT_TRUE(made.ok());
    EXPECT_FALSE(says(graph::print(made.value()), "random")) << graph::print(made.value());
  }
  EXPECT_TRUE(says(log(), "node 'inner' uses random numbers that aten::randn drew in another node")) << log();
}

TEST_F(Draws, NothingIsDrawnTwice) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(3);
  const at::Tensor expected = at::stack({at::randn({2}), at::randn({2}), at::randn({2})});
  generator.set_current_seed(3);
  std::vector<at::Tensor> found;
  at::Tensor kept;
  for (int i = 0; i < 3; ++i) {
    call(at::zeros({2}), [&](const at::Tensor& x) {
      if (i != 1) kept = at::randn({2});
      found.push_back(kept.clone());
      return x + kept;
    });
  }
  EXPECT_TRUE(stop());
  EXPECT_TRUE(at::equal(found[2], expected[1]));
  EXPECT_TRUE(at::equal(at::randn({2}), expected[2]));
}

}  // namespace
}  // namespace leapp::capture
