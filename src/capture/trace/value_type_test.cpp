// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/value_type.h"

#include <gtest/gtest.h>

namespace leapp::capture {
namespace {

TEST(ValueType, AsText) {
  EXPECT_EQ(type_text({at::kBFloat16, {1, 48}}), "bfloat16[1, 48]");
  EXPECT_EQ(dtype_text(at::kQInt8), "QInt8");
}

}  // namespace
}  // namespace leapp::capture
