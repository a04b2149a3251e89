// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/names.h"

#include <gtest/gtest.h>

namespace leapp::graph {
namespace {

TEST(Names, LegalIdentifiers) {
  EXPECT_EQ(legal_identifier("actor.0.weight"), "actor_0_weight");
  EXPECT_EQ(legal_identifier("0"), "_0");
  EXPECT_EQ(legal_identifier(""), "_");
  EXPECT_EQ(legal_identifier("my port"), "my_port");
  EXPECT_EQ(legal_identifier("class"), "class_");
  EXPECT_EQ(legal_identifier("forward"), "forward_");
  EXPECT_EQ(legal_identifier("h\xC3\xB6he"), "h_he") << "one underscore a character";
  EXPECT_EQ(legal_identifier("\xF0\x9F\xA4\x96"), "_");
  EXPECT_EQ(legal_identifier("\x80\x80"), "_") << "not even UTF-8";
  EXPECT_EQ(legal_identifier("fine_Name9"), "fine_Name9");
}

TEST(Names, NamerNeverRepeats) {
  IdentifierNamer namer;
  EXPECT_EQ(namer.make("a.b"), "a_b");
  EXPECT_EQ(namer.make("a_b"), "a_b_1");
  EXPECT_EQ(namer.make("a b"), "a_b_2");
  EXPECT_EQ(namer.make("a_b_1"), "a_b_1_1");
  EXPECT_EQ(namer.make(""), "_");
  EXPECT_EQ(namer.make(""), "__1");
}

TEST(Names, AutomaticNames) {
  EXPECT_TRUE(is_automatic_name("12"));
  EXPECT_TRUE(is_automatic_name("constant_3"));
  EXPECT_FALSE(is_automatic_name("constant_"));
  EXPECT_FALSE(is_automatic_name("constant_w"));
  EXPECT_FALSE(is_automatic_name("w1"));
  EXPECT_FALSE(is_automatic_name(""));
}

}  // namespace
}  // namespace leapp::graph
