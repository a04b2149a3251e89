// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/passes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "engine/native/kernels/kernels.h"
#include "engine/native/ops/common.h"

namespace leapp::native {
namespace {

bool reads(const KernelCall& call, const Operand& operand) {
  return operand.access == Access::kRead || (operand.access == Access::kUpdate && !call.blocks.empty());
}

void count(const Plan& plan, const Block& block, std::vector<std::size_t>& counts) {
  for (const KernelCall& call : block) {
    for (const Operand& operand : call.operands) {
      if (reads(call, operand)) ++counts[plan.root(operand.value).value];
    }
    for (const Block& inner : call.blocks) count(plan, inner, counts);
  }
}

bool remove_from(const Plan& plan, Block& block, std::vector<std::size_t>& counts) {
  bool changed = false;
  std::vector<bool> gone(block.size(), false);
  for (std::size_t i = block.size(); i-- > 0;) {
    KernelCall& call = block[i];
    for (Block& inner : call.blocks) changed = remove_from(plan, inner, counts) || changed;
    const bool used =
        !call.blocks.empty() || std::any_of(call.operands.begin(), call.operands.end(), [&](const Operand& operand) {
          if (operand.access == Access::kRead || operand.access == Access::kScratch) return false;
          const ValueId root = plan.root(operand.value).value;
          return counts[root] > 0 || plan.values[root].output.has_value();
        });
    if (used) continue;
    for (const Operand& operand : call.operands) {
      if (reads(call, operand)) --counts[plan.root(operand.value).value];
    }
    gone[i] = changed = true;
  }
  drop_calls(block, gone);
  return changed;
}

/// The call of a block that writes a value and what it does with the value's memory.
class Writers {
 public:
  Writers(const Plan& plan, const Block& block) : plan_(plan) {
    for (std::size_t i = 0; i < block.size(); ++i) add(block[i], i);
  }
  /// The only writer, when it stands in this block; else nothing.
  [[nodiscard]] std::optional<std::size_t> of(ValueId value) const {
    const auto found = writers_.find(plan_.root(value).value);
    if (found == writers_.end() || found->second.count != 1) return std::nullopt;
    return found->second.call;
  }
  /// What `call` wrote is now written by `to`.
  void move(const KernelCall& call, std::size_t to) {
    for (const Operand& operand : call.operands) {
      if (operand.access == Access::kWrite) writers_[plan_.root(operand.value).value].call = to;
    }
  }

 private:
  struct Writer {
    std::size_t call = 0;
    std::size_t count = 0;
  };
  void add(const KernelCall& call, std::size_t i) {
    for (const Operand& operand : call.operands) {
      if (operand.access != Access::kWrite && operand.access != Access::kUpdate) continue;
      Writer& writer = writers_[plan_.root(operand.value).value];
      writer.call = i;
      ++writer.count;
    }
    for (const Block& inner : call.blocks) {
      for (const KernelCall& deeper : inner) add(deeper, i);
    }
  }

  const Plan& plan_;
  std::unordered_map<ValueId, Writer> writers_;
};

/// A value that may be left out of memory: written whole by one call, read by one other, no port.
bool private_value(const Plan& plan, ValueId value, std::size_t readers, const std::vector<std::size_t>& counts) {
  const Plan::Root root = plan.root(value);
  const PlanValue& holder = plan.values[root.value];
  return root.offset == 0 && holder.bytes == plan.values[value].bytes && !holder.input && !holder.output &&
         !holder.constant && counts[root.value] == readers;
}

Operand* field(KernelCall& call, std::size_t offset) {
  for (Operand& operand : call.operands) {
    if (operand.field == offset) return &operand;
  }
  return nullptr;
}

kernels::Activation* activation_of(KernelCall& call) {
  if (call.kernel == &kMatMulPacked) return &call.as<kernels::MatMulPacked>().activation;
  if (call.kernel == &kMatMul) return &call.as<kernels::MatMul>().activation;
  if (call.kernel == &kConvolution) return &call.as<kernels::Convolution>().activation;
  return nullptr;
}

Operand& result_of(KernelCall& call) {
  return *std::find_if(call.operands.begin(), call.operands.end(),
                       [](const Operand& operand) { return operand.access == Access::kWrite; });
}

std::uint16_t data_field(std::size_t operand) {
  return static_cast<std::uint16_t>(offsetof(kernels::Elementwise, operands) +
                                    operand * sizeof(kernels::ElementwiseOperand) +
                                    offsetof(kernels::ElementwiseOperand, data));
}

/// A call that is one function of one tensor.
bool is_function(const kernels::Elementwise& args) {
  return args.op_count == 1 && args.input_count == 1 && args.ops[0].kind == kernels::ElementwiseOp::Kind::kUnary &&
         args.operands[0].storage == kernels::Storage::kFloat32 &&
         args.operands[1].storage == kernels::Storage::kFloat32;
}

/// The operand that is a row to add to every row of the other; nothing when it is no such sum.
std::optional<std::size_t> added_row(const Plan& plan, KernelCall& call, std::int64_t n) {
  const auto& args = call.as<kernels::Elementwise>();
  if (args.op_count != 1 || args.input_count != 2 || args.ops[0].kind != kernels::ElementwiseOp::Kind::kBinary ||
      args.ops[0].binary != kernels::Binary::kAdd || args.columns != n) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& row = args.operands[i];
    const Operand* operand = field(call, data_field(i));
    if (row.storage != kernels::Storage::kFloat32 || row.column_stride != 1 || operand == nullptr) continue;
    if (args.rows != 1 && row.row_stride != 0) continue;
    const PlanValue& value = plan.values[operand->value];
    if (value.constant && value.bytes == static_cast<std::size_t>(n) * sizeof(float)) return i;
  }
  return std::nullopt;
}

bool fuse_into(Plan& plan, Block& block, std::size_t at, Writers& writers, const std::vector<std::size_t>& counts) {
  KernelCall& call = block[at];
  const auto& args = call.as<kernels::Elementwise>();
  const bool function = is_function(args);
  for (std::size_t i = 0; i < args.input_count; ++i) {
    const Operand* operand = field(call, data_field(i));
    const auto writer = operand == nullptr ? std::nullopt : writers.of(operand->value);
    if (!writer || *writer >= at || block[*writer].kernel == nullptr) continue;
    KernelCall& product = block[*writer];
    kernels::Activation* activation = activation_of(product);
    if (activation == nullptr || activation->function != kernels::Unary::kIdentity) continue;
    if (!private_value(plan, operand->value, 1, counts)) continue;
    if (plan.values[plan.root(operand->value).value].bytes != plan.values[result_of(call).value].bytes) continue;
    if (function) {
      *activation = {args.ops[0].unary, args.ops[0].alpha, args.ops[0].beta};
    } else {
      if (product.kernel != &kMatMulPacked) continue;
      auto& packed = product.as<kernels::MatMulPacked>();
      const bool has_bias = field(product, offsetof(kernels::MatMulPacked, bias)) != nullptr;
      const auto row = has_bias ? std::nullopt : added_row(plan, call, packed.n);
      if (!row || *row == i) continue;
      const ValueId bias = field(call, data_field(*row))->value;
      product.operands.push_back({offsetof(kernels::MatMulPacked, bias), Access::kRead, false, bias});
    }
    result_of(product).value = result_of(call).value;
    writers.move(call, *writer);
    return true;
  }
  return false;
}

bool fuse_epilogues_in(Plan& plan, Block& block, std::vector<std::size_t>& counts) {
  bool changed = false;
  for (KernelCall& call : block) {
    for (Block& inner : call.blocks) changed = fuse_epilogues_in(plan, inner, counts) || changed;
  }
  Writers writers(plan, block);
  std::vector<bool> gone(block.size(), false);
  for (std::size_t i = 0; i < block.size(); ++i) {
    // What reads the result of a product that took something stands behind it, and may be taken too.
    if (block[i].kernel == &kElementwise && fuse_into(plan, block, i, writers, counts)) gone[i] = changed = true;
  }
  drop_calls(block, gone);
  return changed;
}

}  // namespace

void drop_calls(Block& block, const std::vector<bool>& gone) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (gone[i]) continue;
    if (kept != i) block[kept] = std::move(block[i]);
    ++kept;
  }
  block.resize(kept);
}

std::vector<std::size_t> count_reads(const Plan& plan) {
  std::vector<std::size_t> counts(plan.values.size(), 0);
  count(plan, plan.calls, counts);
  return counts;
}

bool remove_unused(Plan& plan) {
  auto counts = count_reads(plan);
  return remove_from(plan, plan.calls, counts);
}

bool fuse_epilogues(Plan& plan) {
  auto counts = count_reads(plan);
  return fuse_epilogues_in(plan, plan.calls, counts);
}

void optimise(Plan& plan) {
  remove_unused(plan);
  fuse_epilogues(plan);
  fuse_elementwise(plan);
}

}  // namespace leapp::native
