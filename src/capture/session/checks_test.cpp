// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/checks.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <string>

namespace leapp::capture {
namespace {

TEST(Checks, NamesOfNodesAndPorts) {
  EXPECT_TRUE(check_node_name("a node").ok());
  for (const char* name : {"", ".", "..", "a/b", "a\\b", "a\n"}) EXPECT_FALSE(check_node_name(name).ok()) << name;
  EXPECT_TRUE(check_port_name("n", "input", "a.b").ok());
  EXPECT_FALSE(check_port_name("n", "input", "").ok());
  EXPECT_FALSE(check_port_name("n", "input", "a/b").ok());
}

TEST(Checks, TensorsOfPorts) {
  const auto check = [](const at::Tensor& tensor) { return check_port_tensor("n", "input", "x", tensor); };
  EXPECT_TRUE(check(at::ones({2})).ok());
  EXPECT_EQ(check(at::Tensor()).code(), StatusCode::kWrongType);
  EXPECT_NE(check(at::ones({2, 2}).to_sparse()).message().find("found a sparse one"), std::string::npos);
  EXPECT_FALSE(check(at::empty({2}, at::kMeta)).ok());
  EXPECT_NE(check(at::ones({2}, at::kComplexFloat)).message().find("found complex64"), std::string::npos);
  EXPECT_TRUE(check_same_type("n", "input", "x", {at::kFloat, {2}}, at::ones({2})).ok());
  EXPECT_NE(check_same_type("n", "input", "x", {at::kFloat, {3}}, at::ones({2}))
                .message()
                .find("expected float32[3] as in the first call, found float32[2]"),
            std::string::npos);
}

TEST(Checks, SourcesThatDiffer) {
  PortRecord port{.name = "x", .type = {}, .source = std::nullopt};
  EXPECT_TRUE(merge_source("n", port, Source{"a", "y", false}).ok());
  EXPECT_TRUE(merge_source("n", port, std::nullopt).ok());  // an initial value, a reset
  EXPECT_TRUE(merge_source("n", port, Source{"a", "y", false}).ok());
  EXPECT_EQ(merge_source("n", port, Source{"a", "y", true}).message(),
            "input 'x' of node 'n': took its value from a/y before, now from a/y of an earlier pass");
}

}  // namespace
}  // namespace leapp::capture
