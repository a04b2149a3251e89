// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/pending_op.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <vector>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

PendingOp pending(const char* name, const char* overload, const std::vector<c10::IValue>& arguments) {
  PendingOp op;
  op.info = op_info(name, overload);
  for (const c10::IValue& argument : arguments) op.arguments.push_back(TraceArgument::of(argument));
  return op;
}

TEST(PendingOp, DropoutDrawsOnlyInTrainingAndWithAChance) {
  const c10::IValue none;
  EXPECT_TRUE(pending("aten::native_dropout", "", {none, 0.5, true}).is_random());
  EXPECT_FALSE(pending("aten::native_dropout", "", {none, 0.5, false}).is_random());
  EXPECT_FALSE(pending("aten::native_dropout", "", {none, 0.0, true}).is_random());
  EXPECT_TRUE(pending("aten::bernoulli", "", {none, none}).is_random());
  EXPECT_FALSE(pending("aten::neg", "", {none}).is_random());
}

TEST(PendingOp, SharesMemoryWithViewsOfItsArguments) {
  const at::Tensor x = at::ones({4});
  PendingOp op;
  op.input_storages.push_back(x.storage().unsafeGetStorageImpl());
  EXPECT_TRUE(op.shares_memory(x.slice(0, 1, 3)));
  EXPECT_FALSE(op.shares_memory(x.clone()));
  EXPECT_FALSE(op.shares_memory(at::ones({2, 2}).to_sparse()));
}

TEST(PendingOp, TorchCountsWrites) {
  const at::Tensor x = at::ones({4});
  const std::uint32_t before = version_of(x);
  x.slice(0, 0, 2).fill_(3);
  EXPECT_EQ(version_of(x), before + 1);
}

}  // namespace
}  // namespace leapp::capture
