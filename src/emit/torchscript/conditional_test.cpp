// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/conditional.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <random>
#include <sstream>

#include "emit/torchscript/emitter.h"
#include "emit/torchscript/evaluator.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/inline_branches.h"
#include "graph/passes/sink_branches.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "torch_types/tensors.h"

namespace leapp::emit {
namespace {

using Tensors = std::vector<at::Tensor>;

graph::Graph parsed_graph(const std::string& text) {
  auto graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message() << "\n" << text;
  return graph.ok() ? std::move(graph).value() : graph::Graph();
}

Tensors evaluated(const graph::Graph& graph, const Tensors& inputs) {
  std::vector<graph::Constant> constants;
  for (const at::Tensor& input : inputs) constants.push_back(*to_constant(input));
  const auto outputs = graph::run_graph(graph, constants, evaluate);
  EXPECT_TRUE(outputs.has_value()) << graph::print(graph);
  Tensors results;
  if (!outputs) return results;
  for (const graph::Constant& output : *outputs) results.push_back(to_tensor(output));
  return results;
}

torch::jit::Module loaded(const graph::Graph& graph) {
  auto bytes = emit_torchscript(graph);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message() << "\n" << graph::print(graph);
  std::istringstream stream(bytes.ok() ? bytes.value() : "");
  return torch::jit::load(stream);
}

Tensors run(torch::jit::Module& module, const Tensors& inputs) {
  const c10::IValue output = module.forward({inputs.begin(), inputs.end()});
  if (output.isTensor()) return {output.toTensor()};
  Tensors outputs;
  for (const c10::IValue& item : output.toTupleRef().elements()) outputs.push_back(item.toTensor());
  return outputs;
}

void expect_same(const Tensors& found, const Tensors& expected, const graph::Graph& graph) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].equal(expected[i])) << graph::print(graph) << found[i] << "\nexpected\n" << expected[i];
  }
}

/// Graphs of wheres over few conditions that share operators in every way, some of them computed on a side of another.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    text_ = "graph g(%x: float32[3], %z: float32[3], %i: int64[3], %p: bool[]) {\n";
    text_ += "  %w = parameter float32[3] [0.5, -1, 2]\n";
    values_ = {"x", "z", "w"};
    conditions_ = {"p"};
  }

  std::string make() {
    const std::size_t operators = 6 + pick(18);
    for (std::size_t n = 0; n < operators; ++n) add(n);
    std::string outputs;
    for (std::size_t k = 0; k < 3; ++k) {
      outputs += fmt::format("{}o{}=%{}", k == 0 ? "" : ", ", k, values_[values_.size() - 1 - pick(5)]);
    }
    return text_ + "  return (" + outputs + ")\n}\n";
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  const std::string& value() { return values_[pick(values_.size())]; }

  void add(std::size_t number) {
    const std::string name = fmt::format("v{}", number);
    const std::size_t kind = pick(10);
    std::string operation;
    if (kind < 3) {
      const std::string& condition = conditions_[pick(conditions_.size())];
      operation = fmt::format("aten::where.self(condition=%{}, self=%{}, other=%{})", condition, value(), value());
    } else if (kind < 5) {
      operation = fmt::format("aten::take(self=%{}, index=%i)", value());
    } else if (kind < 6) {
      operation = fmt::format("aten::mul.Tensor(self=%{}, other=%{})", value(), value());
    } else if (kind < 8) {
      operation = fmt::format("aten::{}(self=%{})", pick(2) == 0 ? "sin" : "neg", value());
    } else {
      add_condition(name, kind == 8);
      return;
    }
    text_ += fmt::format("  %{}: float32[3] = {}\n", name, operation);
    values_.push_back(name);
  }

  void add_condition(const std::string& name, bool negated) {
    if (negated) {
      const std::string& from = conditions_[pick(conditions_.size())];
      text_ += fmt::format("  %{}: bool[] = aten::logical_not(self=%{})\n", name, from);
    } else {
      text_ += fmt::format("  %{}s: float32[] = aten::sum(self=%{}, dtype=None)\n", name, value());
      text_ += fmt::format("  %{}: bool[] = aten::gt.Scalar(self=%{}s, other=0.25)\n", name, name);
    }
    conditions_.push_back(name);
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<std::string> values_;
  std::vector<std::string> conditions_;
};

Tensors random_inputs(unsigned seed) {
  at::manual_seed(seed);
  return {at::randn({3}), at::randn({3}), at::randint(0, 3, {3}), at::randint(0, 2, {}).to(at::kBool)};
}

TEST(Conditionals, RandomGraphsGiveTheSameInsideAndOut) {
  std::size_t sunk = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    graph::Graph flat = parsed_graph(RandomGraph(seed).make());
    graph::eliminate_dead_code(flat);
    graph::Graph graph = graph::clone(flat);
    if (!graph::sink_branches(graph)) continue;
    ++sunk;
    ASSERT_TRUE(graph::verify(graph).ok()) << graph::verify(graph).message() << graph::print(graph);
    EXPECT_FALSE(graph::sink_branches(graph)) << graph::print(graph);
    graph::Graph both = graph::clone(graph);
    graph::inline_branches(both);
    ASSERT_TRUE(graph::verify(both).ok()) << graph::verify(both).message();
    for (unsigned sample = 0; sample < 3; ++sample) {
      const Tensors inputs = random_inputs(seed * 3 + sample);
      const Tensors expected = evaluated(flat, inputs);
      expect_same(evaluated(graph, inputs), expected, graph);
      expect_same(evaluated(both, inputs), expected, both);
    }
    if (seed % 16 != 0) continue;
    torch::jit::Module module = loaded(graph);
    for (unsigned sample = 0; sample < 6; ++sample) {
      const Tensors inputs = random_inputs(seed * 3 + sample);
      expect_same(run(module, inputs), evaluated(flat, inputs), graph);
    }
  }
  EXPECT_GT(sunk, 80U);
}

constexpr const char* kGuarded = R"(graph g(%x: float32[2], %i: int64[2], %p: bool[]) {
  %net.weight = parameter float32[2] [1, 2]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=%net.weight)
  %1: float32[2] = aten::take(self=%net.weight, index=%i)
  %2: float32[2] = aten::add.Tensor(self=%1, other=%0, alpha=1)
  %3: float32[2] = aten::where.self(condition=%p, self=%2, other=%0)
  return (y=%3)
}
)";

TEST(Conditionals, TheSideThatIsNotTakenDoesNotRun) {
  graph::Graph graph = parsed_graph(kGuarded);
  ASSERT_TRUE(graph::sink_branches(graph));
  torch::jit::Module module = loaded(graph);
  const at::Tensor x = at::ones({2});
  const at::Tensor outside = at::tensor({7, 9}, at::kLong);
  const Tensors result = run(module, {x, outside, at::scalar_tensor(false, at::kBool)});
  EXPECT_TRUE(result[0].equal(at::tensor({1.0F, 2.0F})));
  EXPECT_THROW(run(module, {x, outside, at::scalar_tensor(true, at::kBool)}), std::exception);
  const Tensors taken = run(module, {x, at::tensor({1, 0}, at::kLong), at::scalar_tensor(true, at::kBool)});
  EXPECT_TRUE(taken[0].equal(at::tensor({3.0F, 3.0F})));
}

TEST(Conditionals, AWeightThatSidesShareIsOneMember) {
  graph::Graph graph = parsed_graph(kGuarded);
  ASSERT_TRUE(graph::sink_branches(graph));
  std::size_t members = 0;
  for (const auto& parameter : loaded(graph).named_parameters(/*recurse=*/true)) {
    EXPECT_EQ(parameter.name, "net.weight");
    ++members;
  }
  EXPECT_EQ(members, 1U);
}

TEST(Conditionals, WhatASideCannotSayIsNamedWithItsLine) {
  const graph::Graph graph = parsed_graph(R"(graph g(%x: float32[2], %p: bool[]) {
  %0: float32[2] = leapp::if(condition=%p, operands=[%x], then=graph (%x: float32[2]) {
    %0: float32[2] = aten::frobnicate(self=%x)  @ "robot.py":3
    return (0=%0)
  }, else=graph (%x: float32[2]) {
    return (0=%x)
  })  @ "robot.py":9
  return (y=%0)
}
)");
  const auto bytes = emit_torchscript(graph);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), StatusCode::kUnimplemented);
  EXPECT_NE(bytes.status().message().find("aten::frobnicate at robot.py:3"), std::string::npos)
      << bytes.status().message();
}

}  // namespace
}  // namespace leapp::emit
