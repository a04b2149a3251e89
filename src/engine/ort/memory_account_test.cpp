// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/memory_account.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace leapp::engine::ort {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20U;

TEST(MemoryAccount, RefusesWhatIsBeyondItsLimit) {
  const auto account = MemoryAccount::open(10 * kMega);
  void* const first = account->take(6 * kMega);
  try {
    account->take(6 * kMega);
    FAIL() << "expected an exception";
  } catch (const std::bad_alloc& refused) {
    const std::string text = refused.what();
    EXPECT_TRUE(text.starts_with(kRefused)) << text;
    EXPECT_NE(text.find("the limit is 10.5 MB"), std::string::npos) << text;
  }
  EXPECT_THROW(account->take(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  MemoryAccount::give_back(first);
  MemoryAccount::give_back(account->take(9 * kMega));
  EXPECT_EQ(account->in_use(), 0U);
}

TEST(MemoryAccount, KeepsBlocksForTheNextRun) {
  const auto account = MemoryAccount::open(0);
  std::vector<void*> before;
  for (const std::size_t size : {1U, 100U, 1000U, 5000U, 1'000'000U}) before.push_back(account->take(size));
  for (void* const block : before) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U);
    MemoryAccount::give_back(block);
  }
  EXPECT_GT(account->kept(), 1'000'000U);
  std::vector<void*> after;
  for (const std::size_t size : {1U, 100U, 1000U, 5000U, 1'000'000U}) after.push_back(account->take(size));
  EXPECT_EQ(before, after);
  EXPECT_EQ(account->kept(), 0U);
  for (void* const block : after) MemoryAccount::give_back(block);
  account->trim();
  EXPECT_EQ(account->kept(), 0U);
}

TEST(MemoryAccount, WhatIsKeptIsNobodysLimit) {
  const auto account = MemoryAccount::open(10 * kMega);
  for (std::size_t size = kMega; size < 9 * kMega; size += 100'000) {
    void* const block = account->take(size);
    std::memset(block, 1, size);
    MemoryAccount::give_back(block);
    EXPECT_LE(account->kept(), 10 * kMega);
  }
}

TEST(MemoryAccount, ABlockMayOutliveIt) {
  auto account = MemoryAccount::open(0);
  void* const block = account->take(1000);
  account.reset();
  std::memset(block, 1, 1000);
  MemoryAccount::give_back(block);
}

TEST(MemoryAccount, NothingIsNoBlock) {
  const auto account = MemoryAccount::open(1);
  EXPECT_EQ(account->take(0), nullptr);
  MemoryAccount::give_back(nullptr);
  void* const uncounted = MemoryAccount::take_uncounted(100);
  std::memset(uncounted, 1, 100);
  MemoryAccount::give_back(uncounted);
}

TEST(MemoryAccount, ThreadsMayShareOne) {
  const auto account = MemoryAccount::open(64 * kMega);
  const auto work = [&] {
    for (std::size_t i = 0; i < 2'000; ++i) {
      void* const block = account->take(100 + i % 700 * 64);
      std::memset(block, static_cast<int>(i), 100);
      MemoryAccount::give_back(block);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(account->in_use(), 0U);
}

}  // namespace
}  // namespace leapp::engine::ort
