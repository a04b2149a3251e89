// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/loop.h"

#include <cassert>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "graph/conditional.h"

namespace leapp::graph {
namespace {

constexpr std::int64_t kMostRounds = 10'000;  // that are run to fold a constant

std::int64_t number_in(const Constant& constant) {
  std::int64_t number = 0;
  std::memcpy(&number, constant.bytes().data(), sizeof(number));
  return number;
}

bool truth_in(const Constant& constant) { return constant.bytes()[0] != std::byte{0}; }

Constant number_constant(std::int64_t number) {
  auto bytes = std::make_shared<std::int64_t>(number);
  return {.type = {DType::kInt64, {}}, .data = std::shared_ptr<const void>(bytes, bytes.get())};
}

bool is_true(const Value& value) { return value.kind() == ValueKind::kConstant && truth_in(value.constant()); }

}  // namespace

LoopNode loop_of(const Node& node) {
  assert(is_loop(node));
  const auto* count = std::get_if<Value*>(node.find("count"));
  return {count == nullptr ? nullptr : *count, std::get<Value*>(*node.find("condition")),
          std::get<std::vector<Value*>>(*node.find("carried")), std::get<std::vector<Value*>>(*node.find("operands")),
          std::get<GraphPtr>(*node.find("body"))};
}

NodeSpec spec_of(LoopNode loop) {
  NodeSpec spec{.op = std::string(kLoop), .overload = "", .arguments = {}, .results = {}};
  for (const Value* value : loop.carried) spec.results.push_back(value->type());
  spec.random = has_random(*loop.body);
  spec.arguments.push_back({"count", loop.count == nullptr ? Attribute(std::monostate()) : Attribute(loop.count)});
  spec.arguments.push_back({"condition", loop.condition});
  spec.arguments.push_back({"carried", std::move(loop.carried)});
  spec.arguments.push_back({"operands", std::move(loop.operands)});
  spec.arguments.push_back({"body", std::move(loop.body)});
  return spec;
}

bool is_counted(const LoopNode& loop) {
  return loop.count != nullptr && is_true(*loop.condition) && is_true(*loop.body->outputs().front().value);
}

std::optional<std::vector<Constant>> run_loop(const Node& node, const Evaluator& evaluate) {
  const LoopNode loop = loop_of(node);
  const std::int64_t count =
      loop.count == nullptr ? std::numeric_limits<std::int64_t>::max() : number_in(loop.count->constant());
  bool go_on = truth_in(loop.condition->constant());
  std::vector<Constant> carried;
  for (const Value* value : loop.carried) carried.push_back(value->constant());
  for (std::int64_t round = 0; go_on && round < count; ++round) {
    if (round == kMostRounds) return std::nullopt;
    std::vector<Constant> inputs{number_constant(round)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    for (const Value* operand : loop.operands) inputs.push_back(operand->constant());
    auto outputs = run_graph(*loop.body, inputs, evaluate);
    if (!outputs) return std::nullopt;
    go_on = truth_in(outputs->front());
    carried.assign(std::make_move_iterator(outputs->begin() + 1), std::make_move_iterator(outputs->end()));
  }
  return carried;
}

}  // namespace leapp::graph
