// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/normalisation.h"

#include "capture/op_testing.h"

namespace leapp::capture {
namespace {

using testing::OpTest;

constexpr const char* kFunctional = "aten::_native_batch_norm_legit_functional";

TEST_F(OpTest, InTrainingTheStatisticsAreResults) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({4, 3});
  bind_input(x, n);
  const at::Tensor mean = at::zeros({3});
  const at::Tensor variance = at::ones({3});
  const at::Tensor y =
      run("aten::batch_norm", "", {x, c10::IValue(), c10::IValue(), mean, variance, true, 0.1, 1e-5, false})[0]
          .toTensor();
  EXPECT_EQ(name_of_op(mean), kFunctional);
  EXPECT_EQ(state_.table.find(mean)->index, 3U);
  EXPECT_EQ(state_.table.find(variance)->index, 4U);
  // What is normalised does not read them: they are no state unless something else does.
  EXPECT_EQ(name_of_op(y), "aten::_native_batch_norm_legit.no_stats");
}

TEST_F(OpTest, OutOfTrainingTheOperatorIsAPlainOne) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({4, 3});
  bind_input(x, n);
  const at::Tensor mean = at::zeros({3});
  const at::Tensor variance = at::ones({3});
  const at::Tensor y =
      run("aten::batch_norm", "", {x, c10::IValue(), c10::IValue(), mean, variance, false, 0.1, 1e-5, false})[0]
          .toTensor();
  EXPECT_EQ(name_of_op(y), "aten::batch_norm");
  EXPECT_EQ(name_of_op(mean), "");
}

TEST_F(OpTest, StatisticsOfInstanceNormAreTheMeanOverTheBatch) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({4, 3, 5});
  bind_input(x, n);
  const at::Tensor mean = at::zeros({3});
  const at::Tensor variance = at::ones({3});
  const at::Tensor y =
      run("aten::instance_norm", "", {x, c10::IValue(), c10::IValue(), mean, variance, true, 0.1, 1e-5, false})[0]
          .toTensor();
  const ValuePtr next = state_.table.find(mean);
  ASSERT_EQ(name_of_op(mean), "aten::mean.dim");
  const ValuePtr rows = next->op->arguments[0].tensor;
  EXPECT_EQ(rows->type.sizes, c10::DimVector({4, 3}));
  EXPECT_EQ(rows->op->arguments[0].tensor->op->info->qualified_name(), kFunctional);
  EXPECT_EQ(state_.table.find(y)->type.sizes, c10::DimVector({4, 3, 5}));
}

TEST_F(OpTest, InstanceNormWithoutStatisticsIsAPlainOne) {
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
