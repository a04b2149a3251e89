// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of paths: calls of a node 'n' that decides by `x.sum() > 0` at line 2, as text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "capture/trace/trace_testing.h"

namespace leapp::capture::testing {

// y = x * 2; if (x.sum() > 0): y = y + 1 else: y = y - 1
inline std::string branch_call(int pass, bool taken) {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %0: float32[2] = aten::mul.Tensor(self=%x, other=2.0)  @ "p.py":1
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
  %3: float32[2] = aten::{}.Tensor(self=%0, other=1.0, alpha=1)  @ "p.py":{}
  return (y=%3)
}}
guard %2 {} at "p.py":2
)",
                     pass, taken ? "add" : "sub", taken ? 3 : 4, taken);
}

// if x.sum() > 0: <update>;   y = x + self.h
inline std::string deciding_call(int pass, bool taken, const std::string& facts, const std::string& update = "") {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %h = constant float32[2] [{}, 0]
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
{}  %4: float32[2] = aten::add.Tensor(self=%x, other=%h, alpha=1)  @ "p.py":4
  return (y=%4)
}}
{}
guard %2 {} at "p.py":2
)",
                     pass, pass, update, facts, taken);
}

/// ... self.h = x * 3. `of_h`: what is known of self.h before.
inline std::string setting_call(int pass, const std::string& of_h) {
  return deciding_call(pass, true, "constant %h named \"h\" at \"p.py\":4 " + of_h + "\nkeep %3",
                       "  %3: float32[2] = aten::mul.Tensor(self=%x, other=3.0)  @ \"p.py\":3\n");
}

/// ... and nothing.
inline std::string leaving_call(int pass, const std::string& of_h) {
  return deciding_call(pass, false, "constant %h named \"h\" at \"p.py\":4 " + of_h);
}

/// What comes before the branch, of calls that keep something in memory @h.
inline std::string memory_head(int pass) {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
)",
                     pass);
}
inline std::string memory_facts(int pass) { return pass == 0 ? "memory @h = float32[2] [5, 6]\n" : "memory @h\n"; }

/// x.sum() > 0: self.h[:] = x
inline std::string filling_memory_call(int pass) {
  return memory_head(pass) + "  %3: float32[2] = aten::neg(self=%x)\n  return (y=%3)\n}\n" + memory_facts(pass) +
         "wrote @h float32[2]\nholds @h float32[2] = %x\nguard %2 true at \"p.py\":2\n";
}

/// Else: y = x + self.h. `elements`: what it finds there.
inline std::string reading_memory_call(int pass, const std::string& elements) {
  return memory_head(pass) +
         fmt::format(
             "  %h = constant float32[2] [{}]\n  %3: float32[2] = aten::add.Tensor(self=%x, other=%h, alpha=1)\n"
             "  return (y=%3)\n}}\n{}guard %2 false at \"p.py\":2\nconstant %h in @h float32[2]\n",
             elements, memory_facts(pass));
}

/// Paths of 'n', before stop().
class PathTest : public ::testing::Test {
 protected:
  void record(const std::string& text) {
    calls_ = std::make_unique<RecordedCalls>(text);
    NodeRecord& node = calls_->node("n");
    paths_ = {&node};
    for (const auto& other : node.others) paths_.push_back(other.get());
  }

  LiteralEvaluator evaluator_;
  std::unique_ptr<RecordedCalls> calls_;
  std::vector<NodeRecord*> paths_;
};

}  // namespace leapp::capture::testing
