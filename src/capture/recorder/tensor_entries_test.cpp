// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/tensor_entries.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "capture/state/unread_state.h"
#include "capture/trace/record.h"

namespace leapp::capture {
namespace {

class TensorEntriesTest : public ::testing::Test {
 protected:
  ValuePtr former(const std::string& node, std::uint64_t key, std::uint64_t pass) {
    return make_value(TracedKind::kFormer, {at::kFloat, {2}}, {.node = node, .pass = pass, .key = key});
  }
  void bind(const at::Tensor& tensor, const ValuePtr& value) {
    entries_.bind(tensor, value, storages_.content(tensor));
  }

  StorageTable storages_;
  TensorEntries entries_;
};

TEST_F(TensorEntriesTest, AnEntryCountsWhileTheTensorIsWhereItWas) {
  at::Tensor tensor = at::ones({4});
  const ValuePtr value = former("n", 1, 0);
  bind(tensor, value);
  ASSERT_NE(entries_.find(tensor, storages_), nullptr);
  EXPECT_EQ(entries_.find(tensor, storages_)->value, value);
  EXPECT_EQ(entries_.find(tensor.slice(0, 1), storages_), nullptr);  // another tensor in the same memory
  tensor.set_(at::zeros({4}));
  EXPECT_EQ(entries_.find(tensor, storages_), nullptr);
}

TEST_F(TensorEntriesTest, AWriteToTheMemoryEndsIt) {
  const at::Tensor tensor = at::ones({4});
  bind(tensor, former("n", 1, 0));
  storages_.content(tensor)->forget();
  EXPECT_EQ(entries_.find(tensor, storages_), nullptr);
  EXPECT_TRUE(entries_.has(tensor));
}

TEST_F(TensorEntriesTest, TensorsThatAreGoneAreSweptAndHoldNothing) {
  const LeakSource source{"n", "", 7, 1};
  const at::Tensor stays = at::ones({2});
  bind(stays, former("n", 7, 3));
  {
    const at::Tensor goes = at::ones({2});
    bind(goes, former("n", 8, 3));
    EXPECT_EQ(entries_.kept().size(), 2U);
  }
  EXPECT_EQ(entries_.kept().size(), 1U);
  EXPECT_TRUE(entries_.holder_of(source, 3).has_value());
  EXPECT_FALSE(entries_.holder_of(source, 2).has_value());                     // of another pass
  EXPECT_FALSE(entries_.holder_of(LeakSource{"m", "", 7, 1}, 3).has_value());  // of another node
  entries_.sweep();
  EXPECT_TRUE(entries_.has(stays));
}

TEST_F(TensorEntriesTest, WhoLiesWhere) {
  const at::Tensor tensor = at::ones({4});
  bind(tensor, former("n", 1, 0));
  const auto memory = storages_.content(tensor);
  const Geometry place = geometry_of(tensor, memory->begin());
  EXPECT_TRUE(entries_.holder_of(*memory, place).has_value());
  EXPECT_FALSE(entries_.holder_of(*memory, geometry_of(tensor.slice(0, 1), memory->begin())).has_value());
}

TEST_F(TensorEntriesTest, WhatIsLiveGoesWithTheLastCall) {
  const at::Tensor input = at::ones({2});
  const at::Tensor kept = at::ones({2});
  bind(input, make_value(TracedKind::kInput, {at::kFloat, {2}}, {.port = "x"}));
  bind(kept, former("n", 1, 0));
  entries_.replace([](const ValuePtr& value) { return value; }, false);
  EXPECT_TRUE(entries_.has(input));
  entries_.replace([](const ValuePtr& value) { return value; }, true);
  EXPECT_FALSE(entries_.has(input));
  EXPECT_TRUE(entries_.has(kept));
}

TEST_F(TensorEntriesTest, ManyAreSweptNowAndThen) {
  std::vector<at::Tensor> tensors;
  while (!entries_.is_full()) bind(tensors.emplace_back(at::ones({1})), former("n", tensors.size(), 0));
  const std::size_t before = tensors.size();
  tensors.resize(1);
  entries_.sweep();
  EXPECT_FALSE(entries_.is_full());
  EXPECT_GT(before, 100U);
}

}  // namespace
}  // namespace leapp::capture
