// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "engine/native/kernels/kernels.h"
#include "engine/native/ops/common.h"
#include "engine/native/passes.h"

namespace leapp::native {
namespace {

using kernels::Elementwise;
using kernels::ElementwiseOp;
using kernels::ElementwiseOperand;

/// An elementwise call with a register of its own for every input and every operation.
struct Chain {
  struct Port {
    ElementwiseOperand operand;
    ValueId value = kNoValue;
  };
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<ElementwiseOp> ops;
  int registers = 0;
};

Chain read_chain(const KernelCall& call) {
  const auto& args = call.as<Elementwise>();
  Chain chain{args.rows, args.columns, {}, {}, {}, 0};
  std::array<int, kernels::kElementwiseRegisters> at{};  // the chain's register for each of the call's
  for (std::size_t i = 0; i < args.input_count; ++i) {
    chain.inputs.push_back({args.operands[i], call.operands[i].value});
    at[args.operands[i].reg] = chain.registers;
    chain.inputs.back().operand.reg = static_cast<std::uint8_t>(chain.registers++);
  }
  for (std::size_t i = 0; i < args.op_count; ++i) {
    ElementwiseOp op = args.ops[i];
    op.a = static_cast<std::uint8_t>(at[op.a]);
    op.b = static_cast<std::uint8_t>(at[op.b]);
    op.c = static_cast<std::uint8_t>(at[op.c]);
    at[op.result] = chain.registers;
    op.result = static_cast<std::uint8_t>(chain.registers++);
    chain.ops.push_back(op);
  }
  for (std::size_t i = 0; i < args.output_count; ++i) {
    const std::size_t port = args.input_count + i;
    chain.outputs.push_back({args.operands[port], call.operands[port].value});
    chain.outputs.back().operand.reg = static_cast<std::uint8_t>(at[args.operands[port].reg]);
  }
  return chain;
}

bool uses(const ElementwiseOp& op, int reg) {
  if (op.a == reg) return true;
  if (op.kind == ElementwiseOp::Kind::kUnary) return false;
  return op.b == reg || (op.kind == ElementwiseOp::Kind::kWhere && op.c == reg);
}

/// The call of a chain, with registers used again once nobody needs what is in them; nothing when it is too long.
std::optional<KernelCall> write_chain(const Chain& chain, const std::string& node) {
  if (chain.inputs.size() + chain.outputs.size() > kernels::kElementwiseOperands ||
      chain.ops.size() > kernels::kElementwiseOps) {
    return std::nullopt;
  }
  const int forever = static_cast<int>(chain.ops.size());
  std::vector<int> last(static_cast<std::size_t>(chain.registers), -1);
  for (int reg = 0; reg < chain.registers; ++reg) {
    for (int i = 0; i < forever; ++i) {
      if (uses(chain.ops[static_cast<std::size_t>(i)], reg)) last[static_cast<std::size_t>(reg)] = i;
    }
  }
  for (const Chain::Port& output : chain.outputs) last[output.operand.reg] = forever;
  std::array<int, kernels::kElementwiseRegisters> busy_until{};
  busy_until.fill(-1);
  std::vector<std::uint8_t> place(static_cast<std::size_t>(chain.registers), 0);
  const auto take = [&](int reg, int now) {
    for (std::size_t i = 0; i < busy_until.size(); ++i) {
      if (busy_until[i] > now) continue;
      busy_until[i] = std::max(now + 1, last[static_cast<std::size_t>(reg)]);
      place[static_cast<std::size_t>(reg)] = static_cast<std::uint8_t>(i);
      return true;
    }
    return false;
  };
  Elementwise args;
  args.rows = chain.rows;
  args.columns = chain.columns;
  args.input_count = static_cast<std::uint8_t>(chain.inputs.size());
  args.output_count = static_cast<std::uint8_t>(chain.outputs.size());
  args.op_count = static_cast<std::uint8_t>(chain.ops.size());
  for (std::size_t i = 0; i < chain.inputs.size(); ++i) {
    if (!take(chain.inputs[i].operand.reg, -1)) return std::nullopt;
    args.operands[i] = chain.inputs[i].operand;
    args.operands[i].reg = place[chain.inputs[i].operand.reg];
  }
  for (std::size_t i = 0; i < chain.ops.size(); ++i) {
    ElementwiseOp op = chain.ops[i];
    op.a = place[op.a];
    op.b = place[op.b];
    op.c = place[op.c];
    if (!take(op.result, static_cast<int>(i))) return std::nullopt;
    op.result = place[op.result];
    args.ops[i] = op;
  }
  for (std::size_t i = 0; i < chain.outputs.size(); ++i) {
    ElementwiseOperand& operand = args.operands[chain.inputs.size() + i];
    operand = chain.outputs[i].operand;
    operand.reg = place[chain.outputs[i].operand.reg];
  }
  for (ElementwiseOperand& operand : args.operands) operand.data = nullptr;
  CallMaker make(kElementwise, args);
  for (std::size_t i = 0; i < chain.inputs.size(); ++i) make.read(args.operands[i].data, chain.inputs[i].value);
  for (std::size_t i = 0; i < chain.outputs.size(); ++i) {
    make.write(args.operands[chain.inputs.size() + i].data, chain.outputs[i].value, true);
  }
  KernelCall call = make.take();
  call.node = node;
  return call;
}

/// One row of so many columns as rows of fewer.
bool view_as(Chain& chain, std::int64_t rows, std::int64_t columns) {
  if (chain.rows == rows && chain.columns == columns) return true;
  if (chain.rows != 1 || chain.columns != rows * columns) return false;
  chain.rows = rows;
  chain.columns = columns;
  for (auto* ports : {&chain.inputs, &chain.outputs}) {
    for (Chain::Port& port : *ports) port.operand.row_stride = port.operand.column_stride == 0 ? 0 : columns;
  }
  return true;
}

bool same_input(const Chain::Port& a, const Chain::Port& b) {
  return a.value == b.value && a.operand.storage == b.operand.storage && a.operand.row_stride == b.operand.row_stride &&
         a.operand.column_stride == b.operand.column_stride;
}

/// `consumer` with what `producer` does before it, instead of reading the producer's result.
std::optional<Chain> joined(const Plan& plan, Chain producer, Chain consumer) {
  if (!view_as(producer, consumer.rows, consumer.columns) && !view_as(consumer, producer.rows, producer.columns)) {
    return std::nullopt;
  }
  const ValueId passed = plan.root(producer.outputs[0].value).value;
  const auto storage = producer.outputs[0].operand.storage;
  // Numbers that memory would round have to be rounded.
  if (storage != kernels::Storage::kFloat32 && storage != kernels::Storage::kBool) return std::nullopt;
  Chain chain = std::move(producer);
  const int result = chain.outputs[0].operand.reg;
  chain.outputs = std::move(consumer.outputs);
  std::vector<int> moved(static_cast<std::size_t>(consumer.registers));
  for (const Chain::Port& input : consumer.inputs) {
    int& to = moved[input.operand.reg];
    if (plan.root(input.value).value == passed) {
      const bool whole = input.operand.column_stride == 1 &&
                         (chain.rows == 1 || input.operand.row_stride == chain.columns) &&
                         input.operand.storage == storage;
      if (!whole) return std::nullopt;
      to = result;
      continue;
    }
    const auto known = std::find_if(chain.inputs.begin(), chain.inputs.end(),
                                    [&](const Chain::Port& port) { return same_input(port, input); });
    if (known != chain.inputs.end()) {
      to = known->operand.reg;
      continue;
    }
    to = chain.registers++;
    chain.inputs.push_back(input);
    chain.inputs.back().operand.reg = static_cast<std::uint8_t>(to);
  }
  for (ElementwiseOp op : consumer.ops) {
    op.a = static_cast<std::uint8_t>(moved[op.a]);
    op.b = static_cast<std::uint8_t>(moved[op.b]);
    op.c = static_cast<std::uint8_t>(moved[op.c]);
    moved[op.result] = chain.registers;
    op.result = static_cast<std::uint8_t>(chain.registers++);
    chain.ops.push_back(op);
  }
  for (Chain::Port& output : chain.outputs) output.operand.reg = static_cast<std::uint8_t>(moved[output.operand.reg]);
  return chain;
}

class Fuser {
 public:
  explicit Fuser(Plan& plan) : plan_(plan), counts_(count_reads(plan)) {}

  bool run(Block& block) {
    bool changed = false;
    std::map<ValueId, std::size_t> writers;  // elementwise calls of this block, by what they write
    std::vector<bool> gone(block.size(), false);
    for (std::size_t i = 0; i < block.size(); ++i) {
      for (Block& inner : block[i].blocks) changed = run(inner) || changed;
      if (block[i].kernel != &kElementwise) continue;
      while (take_producer(block, i, writers, gone)) changed = true;
      for (const Operand& operand : block[i].operands) {
        if (operand.access == Access::kWrite) writers[plan_.root(operand.value).value] = i;
      }
    }
    drop_calls(block, gone);
    return changed;
  }

 private:
  bool take_producer(Block& block, std::size_t at, const std::map<ValueId, std::size_t>& writers,
                     std::vector<bool>& gone) {
    for (const Operand& operand : block[at].operands) {
      if (operand.access != Access::kRead) continue;
      const Plan::Root root = plan_.root(operand.value);
      const auto writer = writers.find(root.value);
      if (writer == writers.end() || gone[writer->second] || !is_private(root.value)) continue;
      std::size_t here = 0;
      for (const Operand& other : block[at].operands) {
        here += other.access == Access::kRead && plan_.root(other.value).value == root.value ? 1 : 0;
      }
      if (here != counts_[root.value] || block[writer->second].as<Elementwise>().output_count != 1) continue;
      auto chain = joined(plan_, read_chain(block[writer->second]), read_chain(block[at]));
      if (!chain || chain->registers > 200) continue;
      auto call = write_chain(*chain, block[at].node);
      if (!call) continue;
      call->source = std::move(block[at].source);
      block[at] = std::move(*call);
      gone[writer->second] = true;
      return true;
    }
    return false;
  }

  [[nodiscard]] bool is_private(ValueId root) const {
    const PlanValue& value = plan_.values[root];
    return !value.input && !value.output && !value.constant;
  }

  Plan& plan_;
  std::vector<std::size_t> counts_;
};

}  // namespace

bool fuse_elementwise(Plan& plan) { return Fuser(plan).run(plan.calls); }

}  // namespace leapp::native
