// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/passes.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace leapp::capture {
namespace {

class PassesTest : public ::testing::Test {
 protected:
  void call(const char* node) {
    passes_.open(node);
    const NodeCall ended = passes_.close(node);
    recorder_.close(ended.activation(), passes_.current());
  }

  CaptureResult recording_;
  OpRecorder recorder_{std::make_shared<FrontEnd>(), [](const std::string&) {}};
  Passes passes_{recording_, recorder_};
};

TEST_F(PassesTest, APassEndsWhereANodeOpensAgain) {
  for (const char* node : {"pre", "policy", "pre", "policy", "policy"}) call(node);
  EXPECT_EQ(recording_.call_passes.at("pre"), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(recording_.call_passes.at("policy"), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST_F(PassesTest, InputsThatAreAddedOpenNothing) {
  NodeCall& first = passes_.open("n");
  EXPECT_EQ(&passes_.open("n"), &first);
  EXPECT_EQ(recording_.call_passes.at("n").size(), 1U);
  EXPECT_EQ(passes_.find("other"), nullptr);
}

TEST_F(PassesTest, ACallThatIsDroppedHasNotBegun) {
  call("n");
  passes_.open("n");
  passes_.drop("n");
  EXPECT_FALSE(passes_.is_open("n"));
  EXPECT_EQ(recording_.call_passes.at("n").size(), 1U);
  EXPECT_EQ(passes_.check_open("update_state", "n").message(),
            "update_state: node 'n' is not open; call input_tensors('n', ...) first");
}

}  // namespace
}  // namespace leapp::capture
