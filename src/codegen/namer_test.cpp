// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/namer.h"

#include <gtest/gtest.h>

#include <set>

namespace leapp::codegen {
namespace {

TEST(Namer, SpellsAnyTextAsAnIdentifier) {
  EXPECT_EQ(spelled("joint pos"), "joint_pos");
  EXPECT_EQ(spelled("policy/obs.0"), "policy_obs_0");
  EXPECT_EQ(spelled("0"), "n0");
  EXPECT_EQ(spelled("__x__"), "x");
  EXPECT_EQ(spelled("a//b"), "a_b");
  EXPECT_EQ(spelled(""), "unnamed");
  EXPECT_EQ(spelled("*/"), "unnamed");
  EXPECT_EQ(spelled("q\xcc\x87"), "qu0307");  // a dot above
  EXPECT_EQ(spelled("\xcf\x80\xcf\x81"), "u03c0_u03c1");
  EXPECT_EQ(spelled("a\xff\n\"b"), "a_b");
  EXPECT_LE(spelled(std::string(5000, 'x')).size(), 100U);
}

TEST(Namer, KeepsAwayFromWordsThatMeanSomething) {
  Namer names;
  EXPECT_EQ(names("class"), "class_");
  EXPECT_EQ(names("and"), "and_");
  EXPECT_EQ(names("exp"), "exp_");
  EXPECT_EQ(names("tanhf"), "tanhf_");
  EXPECT_EQ(names("y1"), "y1_");
  EXPECT_EQ(names("NAN"), "NAN_");
  EXPECT_EQ(names("int32_t"), "int32_t_");
  EXPECT_EQ(names("obs"), "obs");
}

TEST(Namer, GivesEachNameOnce) {
  Namer names;
  names.reserve("State");
  std::set<std::string> given;
  for (const char* wish : {"a b", "a_b", "a-b", "a_b_2", "a b", "State", "class", "class_", "class"}) {
    EXPECT_TRUE(given.insert(names(wish)).second) << wish;
  }
  EXPECT_TRUE(given.contains("a_b"));
  EXPECT_FALSE(given.contains("State"));
}

}  // namespace
}  // namespace leapp::codegen
