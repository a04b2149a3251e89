// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/storage_table.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace leapp::capture {
namespace {

TEST(StorageTable, ViewsShareTheirMemoryAndCopiesDoNot) {
  StorageTable table;
  const at::Tensor x = at::ones({4});
  EXPECT_EQ(table.known(x), nullptr);
  const auto memory = table.content(x);
  EXPECT_EQ(table.known(x.slice(0, 1, 3)), memory);
  EXPECT_EQ(table.known(x.clone()), nullptr);
  EXPECT_TRUE(table.is_at(x.view({2, 2}), memory));
}

TEST(StorageTable, MemoryFromElsewhereIsKnownByItsAddress) {
  StorageTable table;
  std::vector<float> bytes(8, 1.0F);
  const at::Tensor all = at::from_blob(bytes.data(), {8});
  const at::Tensor end = at::from_blob(bytes.data() + 6, {2});
  const auto memory = table.content(end);
  EXPECT_EQ(table.content(all), memory);
  EXPECT_EQ(memory->begin(), reinterpret_cast<std::uintptr_t>(bytes.data()));
  EXPECT_EQ(memory->end(), reinterpret_cast<std::uintptr_t>(bytes.data() + 8));
}

// A tensor that says it is at `address` of `device`. Nobody can compute with it.
at::Tensor elsewhere(void* address, std::int64_t bytes, c10::Device device) {
  c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<std::size_t>(bytes), c10::DataPtr(address, device));
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA), caffe2::TypeMeta::Make<std::uint8_t>());
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous({bytes});
  return tensor;
}

TEST(StorageTable, AnAddressIsAnotherPlaceOnAnotherDevice) {
  StorageTable table;
  std::vector<float> bytes(8, 1.0F);
  const auto here = table.content(at::from_blob(bytes.data(), {8}));
  const at::Tensor first = elsewhere(bytes.data(), 32, c10::Device("cuda:0"));
  const at::Tensor second = elsewhere(bytes.data(), 32, c10::Device("cuda:1"));
  const auto there = table.content(first);
  EXPECT_NE(there, here);
  EXPECT_EQ(table.known(second), nullptr);
  EXPECT_EQ(table.known(elsewhere(bytes.data() + 2, 8, c10::Device("cuda:0"))), there);
  EXPECT_NE(table.content(second), there);
}

TEST(StorageTable, TwoPiecesBecomeOneWhenATensorJoinsThem) {
  StorageTable table;
  std::vector<float> bytes(8, 1.0F);
  const at::Tensor first = at::from_blob(bytes.data(), {2});
  const at::Tensor last = at::from_blob(bytes.data() + 6, {2});
  EXPECT_NE(table.content(first), table.content(last));
  const at::Tensor all = at::from_blob(bytes.data(), {8});
  const auto memory = table.content(all);
  EXPECT_EQ(table.known(first), memory);
  EXPECT_EQ(table.known(last), memory);
}

TEST(StorageTable, ResizingMovesTheMemory) {
  StorageTable table;
  at::Tensor x = at::ones({4});
  const auto memory = table.content(x);
  x.resize_({4096});
  EXPECT_FALSE(table.is_at(x, memory) && memory->end() - memory->begin() == 16);
  EXPECT_EQ(table.known(x), memory);
  EXPECT_EQ(memory->end() - memory->begin(), 4096U * 4);
  EXPECT_TRUE(table.is_at(x, memory));
}

TEST(StorageTable, WhatNobodyKnowsAnythingOfIsLetGo) {
  StorageTable table;
  const at::Tensor x = at::ones({4});
  const at::Tensor y = at::ones({4});
  table.content(x);
  const auto held = table.content(y);
  table.drop_plain();
  EXPECT_EQ(table.known(x), nullptr);
  EXPECT_EQ(table.known(y), held);
}

TEST(StorageTable, SparseTensorsHaveNoMemoryOfTheirOwn) {
  EXPECT_TRUE(StorageTable::trackable(at::ones({2, 2})));
  EXPECT_FALSE(StorageTable::trackable(at::ones({2, 2}).to_sparse()));
  EXPECT_FALSE(StorageTable::trackable(at::Tensor()));
}

}  // namespace
}  // namespace leapp::capture
