// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/escapes.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, ValuesThatLeaveAreWarnedAbout) {
  front_end_->line_ = 9;
  call(at::ones({1}), [&](const at::Tensor& x) { return x * (x.item<double>() + 0.25); });
  EXPECT_NE(log().find("program.py:9: a value of node 'n' leaves the graph through"), std::string::npos) << log();
  EXPECT_TRUE(stop());
  ASSERT_FALSE(session_->recording().notes.empty());
  EXPECT_EQ(session_->recording().notes[0].kind, Note::Kind::kLeft);
}

TEST_F(SessionTest, ChecksOfALibraryAreNotWarnedAbout) {
  front_end_->checked_ = true;
  call(at::ones({1}), [&](const at::Tensor& x) { return x.item<double>() > 0 ? x * 2 : x; });
  EXPECT_EQ(log().find("leaves the graph"), std::string::npos) << log();
}

TEST_F(SessionTest, ANumberThatComesBackIsBaked) {
  call(at::full({1}, 0.3), [&](const at::Tensor& x) { return x * x.item<double>(); });
  EXPECT_NE(log().find("which was read from a tensor"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::capture
