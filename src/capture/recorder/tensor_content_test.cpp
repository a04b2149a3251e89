// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/tensor_content.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

namespace leapp::capture {
namespace {

TEST(TensorContent, ComparesByElementsWhateverTheStrides) {
  const at::Tensor tensor = at::arange(6, at::kFloat).reshape({2, 3});
  EXPECT_EQ(content_hash(tensor.t().contiguous().t()), content_hash(tensor));
  const ContentPtr content = copied_content(tensor);
  EXPECT_EQ(content->type(), (ValueType{at::kFloat, {2, 3}}));
  EXPECT_EQ(content->text(), "[0, 1, 2, 3, ...]");
  EXPECT_EQ(content_of(at::ones({2}))->text(), "[1, 1]");
  tensor.add_(1);
  EXPECT_EQ(content->text(), "[0, 1, 2, 3, ...]");
  EXPECT_EQ(content_of(at::Tensor()), nullptr);
  EXPECT_FALSE(tensor_of(ContentPtr()).defined());
}

TEST(TensorContent, WeakTensorsDoNotKeepAlive) {
  at::Tensor tensor = at::ones({2});
  const WeakTensor weak(tensor.getIntrusivePtr());
  EXPECT_TRUE(locked(weak).defined());
  tensor.reset();
  EXPECT_FALSE(locked(weak).defined());
}

TEST(TensorCell, KnowsItsMemory) {
  const at::Tensor tensor = at::ones({4});
  TensorCell one;
  TensorCell two;
  one.tensor = tensor;
  two.tensor = tensor.view({4});
  EXPECT_TRUE(one.is_same_memory(two));
  EXPECT_EQ(one.storage(), two.storage());
  EXPECT_GE(one.storage_holders(), 2U);
  two.by_reference = false;
  EXPECT_FALSE(one.is_same_memory(two));
  two.tensor = at::ones({4});
  EXPECT_FALSE(one.is_same_memory(two));
  EXPECT_EQ(one.hash(), two.hash());
  EXPECT_TRUE(one.exported().has_value());
}

}  // namespace
}  // namespace leapp::capture
