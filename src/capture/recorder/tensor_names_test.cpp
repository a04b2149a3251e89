// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/tensor_names.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

namespace leapp::capture {
namespace {

TEST(TensorNames, AConstantThatHasNoNameGetsTheOneThatIsLearntLater) {
  TensorNames names;
  const at::Tensor known = at::ones({2});
  const at::Tensor other = at::ones({2});
  names.set(known, "layer.weight", true);
  const auto first = std::make_shared<TensorCell>();
  const auto second = std::make_shared<TensorCell>();
  names.name(first, known);
  names.name(second, other);
  EXPECT_EQ(first->name, "layer.weight");
  EXPECT_TRUE(first->parameter);
  const auto unnamed = names.take_unnamed();
  ASSERT_EQ(unnamed.size(), 1U);
  EXPECT_TRUE(names.take_unnamed().empty());
  names.name_again(unnamed[0]);
  EXPECT_EQ(second->name, "");
  names.set(other, "offset", false);
  names.name_again(unnamed[0]);
  EXPECT_EQ(second->name, "offset");
  EXPECT_FALSE(second->parameter);
}

TEST(TensorNames, AnotherTensorAtTheSameAddressHasNoName) {
  TensorNames names;
  const c10::TensorImpl* address = nullptr;
  {
    const at::Tensor gone = at::ones({2});
    address = gone.unsafeGetTensorImpl();
    names.set(gone, "gone", false);
  }
  // The name holds the address until it is let go of.
  EXPECT_NE(at::ones({2}).unsafeGetTensorImpl(), address);
  names.sweep();
  const at::Tensor kept = at::ones({2});
  names.set(kept, "kept", false);
  names.forget(kept);
  const auto cell = std::make_shared<TensorCell>();
  names.name(cell, kept);
  EXPECT_EQ(cell->name, "");
}

}  // namespace
}  // namespace leapp::capture
