// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/geometry.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

namespace leapp::capture {
namespace {

Geometry lying(std::initializer_list<std::int64_t> sizes, std::initializer_list<std::int64_t> strides) {
  Geometry place;
  place.sizes = c10::DimVector(sizes);
  place.strides = c10::DimVector(strides);
  return place;
}

TEST(Geometry, BytesAndElements) {
  Geometry place = lying({2, 3}, {3, 1});
  place.byte_offset = 8;
  EXPECT_EQ(place.element_count(), 6);
  EXPECT_EQ(place.first_byte(), 8);
  EXPECT_EQ(place.end_byte(), 32);
  EXPECT_EQ(lying({2, 0}, {1, 1}).end_byte(), 0);
  EXPECT_EQ(lying({}, {}).end_byte(), 4);
}

TEST(Geometry, RowMajorLooksPastDimensionsOfOne) {
  EXPECT_TRUE(lying({2, 3}, {3, 1}).row_major());
  EXPECT_TRUE(lying({2, 1, 3}, {3, 77, 1}).row_major());
  EXPECT_FALSE(lying({2, 3}, {1, 2}).row_major());
  EXPECT_FALSE(lying({2, 3}, {4, 1}).row_major());
}

TEST(Geometry, CoversMeansEachElementOnce) {
  EXPECT_TRUE(lying({2, 3}, {3, 1}).covers(24));
  EXPECT_TRUE(lying({2, 3}, {1, 2}).covers(24));
  EXPECT_FALSE(lying({2, 3}, {3, 1}).covers(28));
  EXPECT_FALSE(lying({2, 3}, {0, 1}).covers(24));
}

TEST(Geometry, OrderIsFromSlowToFast) {
  EXPECT_EQ(lying({2, 3, 4}, {1, 8, 2}).order(), (std::vector<std::int64_t>{1, 2, 0}));
}

TEST(Geometry, OfATensorInItsMemory) {
  const at::Tensor whole = at::zeros({4, 5});
  const auto begin = reinterpret_cast<std::uintptr_t>(whole.storage().data());
  const Geometry part = geometry_of(whole.select(1, 2), begin);
  EXPECT_EQ(part.sizes, c10::DimVector({4}));
  EXPECT_EQ(part.strides, c10::DimVector({5}));
  EXPECT_EQ(part.byte_offset, 8);
  EXPECT_TRUE(lies_at(whole.select(1, 2), begin, part));
  EXPECT_FALSE(lies_at(whole.select(1, 3), begin, part));
  EXPECT_FALSE(lies_at(whole.select(1, 2).view(at::kInt), begin, part));
  EXPECT_FALSE(lies_at(whole.select(1, 2), begin + 4, part));
}

}  // namespace
}  // namespace leapp::capture
