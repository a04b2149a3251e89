// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of passes: text in, text out.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "graph/text.h"
#include "graph/verify.h"

namespace leapp::graph::testing {

/// The text of the graph after `pass`, which says whether it changed anything. Checks that this is true, that both
/// graphs verify and that a second run finds nothing to do.
template <typename PassFunction>
std::string after(const std::string& text, PassFunction pass) {
  auto graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return "";
  const std::string before = print(graph.value());
  const Status legal = verify(graph.value());
  EXPECT_TRUE(legal.ok()) << legal.message();
  const bool changed = pass(graph.value());
  const Status still_legal = verify(graph.value());
  EXPECT_TRUE(still_legal.ok()) << still_legal.message();
  const std::string result = print(graph.value());
  EXPECT_EQ(changed, result != before);
  EXPECT_FALSE(pass(graph.value()));
  return result;
}

}  // namespace leapp::graph::testing
