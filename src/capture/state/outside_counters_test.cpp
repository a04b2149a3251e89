// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/outside_counters.h"

#include "capture/recorder/outside_writes.h"
#include "capture/recorder/tensor_content.h"
#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

class OutsideCountersTest : public testing::SessionTest {
 protected:
  void SetUp() override { front_end_->name_ = "length"; }
  template <typename Advance>
  void run(int passes, Advance advance) {
    at::Tensor length = at::zeros({2});
    for (int pass = 0; pass < passes; ++pass) {
      call(at::ones({2}) * pass, [&](const at::Tensor& x) { return x + length; });
      advance(length, pass);
    }
    EXPECT_TRUE(stop());
  }
};

TEST_F(OutsideCountersTest, WhatIsAdvancedInTheSameWayIsANodeOfItsOwn) {
  run(4, [](const at::Tensor& length, int) { length.add_(1).mul_(2); });
  ASSERT_EQ(session_->recording().nodes.size(), 2U);
  EXPECT_EQ(ports(), "x length=length/length -> y");
  const NodeRecord& made = node(1);
  EXPECT_EQ(made.name, "length");
  EXPECT_EQ(made.inputs[0].source->node, "length");
  const auto graph = to_graph(made);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const std::string text = graph::print(graph.value());
  EXPECT_LT(text.find("aten::add"), text.find("aten::mul")) << text;
  EXPECT_TRUE(node().divergences.empty());
  EXPECT_NE(log().find("a node of its own, 'length', which feeds input 'length' of node 'n'"), std::string::npos)
      << log();
}

TEST_F(OutsideCountersTest, AResetIsNot) {
  run(4, [](const at::Tensor& length, int pass) {
    length.add_(1);
    if (pass == 2) length.index_put_({at::tensor({0}, at::kLong)}, at::zeros({1}));
  });
  ASSERT_EQ(session_->recording().nodes.size(), 1U);
  ASSERT_FALSE(node().divergences.empty());
  EXPECT_NE(node().divergences[0].text.find("aten::index_put_"), std::string::npos) << node().divergences[0].text;
}

TEST_F(OutsideCountersTest, AnotherStepIsNot) {
  run(5, [](const at::Tensor& length, int pass) { length.add_(pass < 3 ? 1 : 2); });
  ASSERT_EQ(session_->recording().nodes.size(), 1U);
  EXPECT_NE(node().divergences[0].text.find("something else than before"), std::string::npos)
      << node().divergences[0].text;
}

TEST_F(OutsideCountersTest, AnErrorSaysWhatToWrite) {
  start({.leaks = Leaks::kError});
  run(4, [](const at::Tensor& length, int) { length.add_(1); });
  ASSERT_EQ(node().refusals.size(), 1U);
  EXPECT_NE(node().refusals[0].find("annotate.input_tensors('n', {'length': length})"), std::string::npos)
      << node().refusals[0];
}

TEST(OutsideWrites, OfTooManyNothingIsKnown) {
  const at::Tensor tensor = at::ones({1});
  const auto write = [&](LocationId where) {
    return OutsideWrite{nullptr, {}, false, {}, where, WeakTensor(tensor.getIntrusivePtr())};
  };
  OutsideWrites writes;
  for (LocationId i = 0; i < 5000 && !writes.too_many(); ++i) writes.note(write(i));
  ASSERT_TRUE(writes.too_many());
  const std::size_t kept = writes.all().size();
  EXPECT_EQ(writes.all().back().location, kept - 1);
  writes.note(write(0));
  EXPECT_EQ(writes.all().size(), kept);
}

}  // namespace
}  // namespace leapp::capture
