// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/memory_use.h"

#include <gtest/gtest.h>

#include "capture/recorder/memory.h"
#include "capture/trace/literal_trace.h"

namespace leapp::capture {
namespace {

Geometry elements_at(std::int64_t first, std::int64_t count) {
  return {.sizes = {count}, .strides = {1}, .byte_offset = first * 4};
}

bool is_changed(const MemoryUse& use, const Geometry& read, std::int64_t bytes = 16) {
  LiteralCell cell;
  cell.place = read;
  return use.changed(cell, bytes);
}

TEST(MemoryUse, WhatACallMadeHasNoContentUntilSomebodySaysSo) {
  MemoryUse use;
  EXPECT_FALSE(use.undefined());
  use.note_birth();
  EXPECT_TRUE(use.undefined());
  EXPECT_FALSE(use.is_first_write());
  use.note_content();
  EXPECT_FALSE(use.undefined());
  use.begin();
  EXPECT_TRUE(use.born_in_node());
  EXPECT_FALSE(use.born_in_call());
}

TEST(MemoryUse, OnlyTheFirstWriteOfANodeIsTheFirst) {
  MemoryUse use;
  EXPECT_TRUE(use.is_first_write());
  use.note_node_writes();
  EXPECT_FALSE(use.is_first_write());
  use.begin();
  EXPECT_TRUE(use.is_first_write());
}

TEST(MemoryUse, InputsHideWhatWasWritten) {
  MemoryUse use;
  use.note_write(elements_at(0, 4));
  EXPECT_TRUE(is_changed(use, elements_at(1, 1)));
  use.note_input(elements_at(1, 2));
  EXPECT_TRUE(use.has_input_at(elements_at(0, 2)));
  EXPECT_FALSE(use.has_input_at(elements_at(3, 1)));
  EXPECT_FALSE(is_changed(use, elements_at(1, 1)));
  EXPECT_TRUE(is_changed(use, elements_at(2, 2)));
}

TEST(MemoryUse, WhatIsTooLargeToLookAtMayHaveChanged) {
  EXPECT_TRUE(is_changed(MemoryUse(), elements_at(0, 1), Memory::kMaxKept + 1));
}

TEST(MemoryUse, PartsOfOneMemoryAreOne) {
  MemoryUse first;
  MemoryUse second;
  second.note_write(elements_at(0, 1));
  second.note_kept();
  second.shift(8);
  first.absorb(second);
  EXPECT_TRUE(first.kept());
  EXPECT_FALSE(is_changed(first, elements_at(0, 2)));
  EXPECT_TRUE(is_changed(first, elements_at(2, 1)));
}

}  // namespace
}  // namespace leapp::capture
