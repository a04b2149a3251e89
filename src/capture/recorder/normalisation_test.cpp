// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/normalisation.h"

#include "capture/recorder/op_testing.h"

namespace leapp::capture {
namespace {

class NormalisationTest : public testing::OpTest {
 protected:
  /// What `name` gives for an input of a call, with statistics that are tensors of the program.
  at::Tensor normalised(const char* name, c10::IntArrayRef sizes, bool training) {
    const at::Tensor x = at::ones(sizes);
    bind_input(x, state_.calls.open("n"));
    return run(name, "", {x, c10::IValue(), c10::IValue(), mean_, variance_, training, 0.1, 1e-5, false})[0].toTensor();
  }

  at::Tensor mean_ = at::zeros({3});
  at::Tensor variance_ = at::ones({3});
};

constexpr const char* kFunctional = "aten::_native_batch_norm_legit_functional";

TEST_F(NormalisationTest, InTrainingTheStatisticsAreResults) {
  const at::Tensor y = normalised("aten::batch_norm", {4, 3}, true);
  EXPECT_EQ(name_of_op(mean_), kFunctional);
  EXPECT_EQ(state_.table.find(mean_)->index, 3U);
  EXPECT_EQ(state_.table.find(variance_)->index, 4U);
  // What is normalised does not read them: they are no state unless something else does.
  EXPECT_EQ(name_of_op(y), "aten::_native_batch_norm_legit.no_stats");
}

TEST_F(NormalisationTest, OutOfTrainingTheOperatorIsAPlainOne) {
  const at::Tensor y = normalised("aten::batch_norm", {4, 3}, false);
  EXPECT_EQ(name_of_op(y), "aten::batch_norm");
  EXPECT_EQ(name_of_op(mean_), "");
}

TEST_F(NormalisationTest, StatisticsOfInstanceNormAreTheMeanOverTheBatch) {
  const at::Tensor y = normalised("aten::instance_norm", {4, 3, 5}, true);
  const ValuePtr next = state_.table.find(mean_);
  ASSERT_EQ(name_of_op(mean_), "aten::mean.dim");
  const ValuePtr rows = next->op->arguments[0].tensor;
  EXPECT_EQ(rows->type.sizes, c10::DimVector({4, 3}));
  EXPECT_EQ(rows->op->arguments[0].tensor->op->info->qualified_name(), kFunctional);
  EXPECT_EQ(state_.table.find(y)->type.sizes, c10::DimVector({4, 3, 5}));
}

TEST_F(NormalisationTest, InstanceNormWithoutStatisticsIsAPlainOne) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({4, 3, 5});
  bind_input(x, n);
  const at::Tensor y = run("aten::instance_norm", "",
                           {x, c10::IValue(), c10::IValue(), c10::IValue(), c10::IValue(), true, 0.1, 1e-5, false})[0]
                           .toTensor();
  EXPECT_EQ(name_of_op(y), "aten::instance_norm");
}

}  // namespace
}  // namespace leapp::capture
