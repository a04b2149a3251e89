// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_run.h"

#include "capture/scripted/scripted_testing.h"

namespace leapp::capture {
namespace {

class ScriptedRunTest : public testing::ScriptedTest {};

TEST_F(ScriptedRunTest, ALoopWithAFixedCountIsWrittenOut) {
  const std::string text =
      recorded("def f(x):\n    for i in range(3):\n        x = x * 2 + i\n    return x\n", at::ones({2}));
  EXPECT_EQ(text.find("leapp::loop"), std::string::npos) << text;
  EXPECT_NE(text.find("other=2, alpha=1"), std::string::npos) << text;
}

TEST_F(ScriptedRunTest, ALongLoopWithAFixedCountIsALoop) {
  const std::string text =
      recorded("def f(x):\n    for i in range(100):\n        x = x * 0.5 + i\n    return x\n", at::ones({2}));
  EXPECT_NE(text.find("leapp::loop"), std::string::npos) << text;
}

TEST_F(ScriptedRunTest, ListsTuplesAndDictsOfTheProgram) {
  const std::string text = recorded(R"(def f(x):
    parts = [x, x * 2]
    named = {"a": x + 1}
    pair = (x, 3)
    for part in parts:
        x = x + part * pair[1] + named["a"]
    if bool(x.sum() > 0):
        parts.append(x)
    return torch.stack(parts).sum(0)
)",
                                    at::ones({2}));
  EXPECT_NE(text.find("aten::stack"), std::string::npos) << text;
}

TEST_F(ScriptedRunTest, AnAssertionIsAGuard) {
  const std::string text =
      recorded("def f(x):\n    assert bool(x.sum() > 0), 'negative'\n    return x * 2\n", at::ones({2}));
  EXPECT_EQ(text.find("leapp::if"), std::string::npos) << text;
  EXPECT_NE(log().find("branches on a value"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::capture
