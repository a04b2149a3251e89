// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "capture/session/node_call.h"
#include "capture/session/session_testing.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::says;

class NodeCallOutputs : public testing::SessionTest {
 protected:
  std::string error_of(const PortTensors& outputs, const PortTensors& constant = {}) {
    return session_->annotations().output_tensors("n", outputs, constant, {.export_with = "jit"}).status().message();
  }
  Status announce(const NamedTensors& tensors) {
    PortTensors ports;
    for (const auto& [name, tensor] : tensors) ports.push_back({name, tensor});
    auto given = session_->annotations().input_tensors("n", ports);
    if (given.ok()) given_ = given.value();
    return given.status();
  }

  std::vector<at::Tensor> given_;
};

TEST_F(NodeCallOutputs, ALaterCallHasTheOutputsOfTheFirst) {
  call(at::ones({2}), [](const at::Tensor& x) { return x * 2; });
  const at::Tensor x = input(at::ones({2}));
  EXPECT_TRUE(says(error_of({{"z", x * 2}}), "missing: 'y'; new: 'z'"));
  EXPECT_TRUE(says(error_of({{"y", at::cat({x, x})}}), "'y'"));  // of another size
  EXPECT_TRUE(session_->annotations().is_open("n"));
  EXPECT_TRUE(output(x * 2).ok());
}

TEST_F(NodeCallOutputs, TheirOrderIsThatOfTheFirstCall) {
  for (const bool first : {true, false}) {
    const at::Tensor x = input(at::ones({2}));
    const PortTensor a{"a", x * 2};
    const PortTensor b{"b", x * 3};
    EXPECT_EQ(error_of(first ? PortTensors{a, b} : PortTensors{b, a}), "");
  }
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x -> a b");
  ASSERT_EQ(node().samples.size(), 2U);
  EXPECT_EQ(node().samples[1].outputs[0]->text(), "[2, 2]");
  EXPECT_TRUE(node().divergences.empty());
}

TEST_F(NodeCallOutputs, OneIsNeeded) {
  (void)input(at::ones({2}));
  EXPECT_TRUE(says(error_of({}), "output_tensors needs at least one output"));
}

TEST_F(NodeCallOutputs, AStaticOutputIsNotComputed) {
  const at::Tensor x = input(at::ones({2}));
  const at::Tensor made = x * 2;
  EXPECT_TRUE(says(error_of({{"y", made}}, {{"s", x * 3}}), "the tensor is computed in node 'n'"));
  EXPECT_EQ(error_of({{"y", made}}, {{"s", at::ones({1})}}), "");
}

TEST_F(NodeCallOutputs, AnotherNodesValueIsNoOutput) {
  const at::Tensor others = input(at::ones({2}), "other") * 2;
  (void)input(at::ones({2}));
  EXPECT_TRUE(says(error_of({{"y", others}}), "the tensor is a value of node 'other'"));
}

TEST_F(NodeCallOutputs, AnInputThatOutputsDependOnIsAnnouncedInEveryCall) {
  ASSERT_TRUE(announce({{"x", at::ones({2})}, {"unused", at::ones({1})}}).ok());
  EXPECT_EQ(error_of({{"y", given_[0] * 2}}), "");
  ASSERT_TRUE(announce({{"unused", at::ones({1})}}).ok());
  EXPECT_TRUE(says(error_of({{"y", at::ones({2})}}), "the outputs of the first call depend on 'x' too"));
  ASSERT_TRUE(announce({{"x", at::ones({2})}, {"late", at::ones({2})}}).ok());
  EXPECT_TRUE(
      says(error_of({{"y", given_[0] * given_[1]}}), "the first call had no such input (it had 'x', 'unused')"));
  EXPECT_EQ(error_of({{"y", given_[0] * 2}}), "");  // an input that does not matter may be new
}

TEST_F(NodeCallOutputs, WhatAnInputHeldBeforeItWasAnnouncedAgain) {
  const at::Tensor before = input(at::ones({2}));
  const at::Tensor after = input(at::zeros({2}));
  EXPECT_EQ(error_of({{"y", before + after}}), "");
  EXPECT_TRUE(says(log(), "input 'x' of node 'n' was announced again with other values")) << log();
}

TEST_F(NodeCallOutputs, OfAnotherTypeItIsRefused) {
  const at::Tensor before = input(at::ones({2}));
  const at::Tensor after = input(at::zeros({1}));
  EXPECT_TRUE(says(error_of({{"y", before + after}}), "was announced as float32[2] and again as float32[1]"));
  EXPECT_EQ(error_of({{"y", after * 2}}), "");
}

}  // namespace
}  // namespace leapp::capture
