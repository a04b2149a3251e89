// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of scripted code: a function in TorchScript's own language, run in a node.
#pragma once

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/resolver.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/hook/hook.h"
#include "capture/scripted/scripted_run.h"
#include "capture/session/session_testing.h"

namespace leapp::capture::testing {

/// "def f(x): ..."
class ScriptedFunction {
 public:
  explicit ScriptedFunction(const std::string& source) {
    unit_.define(std::nullopt, source, torch::jit::nativeResolver(), nullptr);
    code_.emplace(*torch::jit::toGraphFunction(unit_.get_function(c10::QualifiedName("f"))).graph());
  }
  [[nodiscard]] const ScriptedCode& code() const { return *code_; }
  [[nodiscard]] torch::jit::Node* find(const char* kind) const {
    for (torch::jit::Node* node : code_->graph().nodes()) {
      if (node->kind() == c10::Symbol::fromQualString(kind)) return node;
    }
    return nullptr;
  }
  /// Recorded, by our interpreter.
  at::Tensor operator()(std::vector<c10::IValue> stack) const {
    run_scripted(*code_, stack);
    return stack.back().toTensor();
  }
  /// By torch's.
  at::Tensor plain(std::vector<c10::IValue> stack) {
    const Unrecorded quiet;
    return unit_.get_function(c10::QualifiedName("f"))(std::move(stack)).toTensor();
  }

 private:
  torch::jit::CompilationUnit unit_;
  std::optional<ScriptedCode> code_;
};

/// One call of a node that is the function, compared with what torch's interpreter gives.
class ScriptedTest : public SessionTest {
 protected:
  std::string recorded(const std::string& source, const at::Tensor& x) {
    ScriptedFunction function(source);
    EXPECT_TRUE(function.code().is_followed());
    const at::Tensor expected = function.plain({x.clone()});
    call(x, [&](const at::Tensor& live) {
      const at::Tensor found = function({live});
      const Unrecorded quiet;
      EXPECT_TRUE(at::equal(found, expected));
      return found;
    });
    EXPECT_TRUE(stop());
    return graph();
  }
};

/// The same with the lines of a function of `x`, which is [2, 3, 1].
class ScriptedBodyTest : public ScriptedTest {
 protected:
  std::string of(const std::string& body) { return recorded("def f(x):\n" + body, at::tensor({2.0F, 3.0F, 1.0F})); }
  [[nodiscard]] bool warned() { return log().find("[warning]") != std::string::npos; }
};

}  // namespace leapp::capture::testing
