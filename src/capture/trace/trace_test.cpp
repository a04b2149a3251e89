// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/trace.h"

#include <gtest/gtest.h>

#include "capture/trace/trace_builder.h"

namespace leapp::capture {
namespace {

TEST(Trace, ALongChainIsDestroyedWithoutRecursion) {
  TraceBuilder builder([](auto&&...) {});
  ValuePtr value = make_value(TracedKind::kInput, {at::kFloat, {2}}, {.port = "x"});
  for (int i = 0; i < 200000; ++i) value = builder.unary("aten::neg", value);
  value.reset();
  SUCCEED();
}

}  // namespace
}  // namespace leapp::capture
