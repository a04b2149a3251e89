// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Chains of elementwise operators: a function with one loop for each.
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "codegen/functions.h"
#include "codegen/kernel_table.h"
#include "codegen/text.h"

namespace leapp::codegen {
namespace {

using native::kernels::Elementwise;
using native::kernels::ElementwiseOp;
using native::kernels::ElementwiseOperand;
using native::kernels::Storage;

class Chain {
 public:
  Chain(Emitter& e, const native::KernelCall& call) : e_(e), call_(call), args_(call.as<Elementwise>()) {
    flat_ = true;
    for (std::size_t i = 0; i < args_.input_count + args_.output_count; ++i) {
      flat_ = flat_ && (is_line(args_.operands[i]) || is_scalar(args_.operands[i]));
    }
  }

  void emit() {
    for (std::size_t i = 0; i < args_.input_count; ++i) read(i);
    for (std::size_t i = 0; i < args_.op_count; ++i) compute(args_.ops[i]);
    for (std::size_t i = 0; i < args_.output_count; ++i) write(args_.input_count + i);
    const std::array<std::int64_t, 2> shape = {flat_ ? args_.rows * args_.columns : args_.rows, args_.columns};
    const std::string body = before_ + loops(e_, {shape.data(), rank()}, inside_);
    e_.call(e_.add_function(join(parameters_, ", "), body), arguments_);
  }

 private:
  [[nodiscard]] int rank() const { return flat_ ? 1 : 2; }
  [[nodiscard]] bool is_line(const ElementwiseOperand& one) const {
    return one.column_stride == 1 && (args_.rows == 1 || one.row_stride == args_.columns);
  }
  [[nodiscard]] bool is_scalar(const ElementwiseOperand& one) const {
    return one.column_stride == 0 && (args_.rows == 1 || one.row_stride == 0);
  }
  [[nodiscard]] std::string index(const ElementwiseOperand& one) const {
    const std::array<std::int64_t, 2> strides = {flat_ ? std::int64_t{one.column_stride} : one.row_stride,
                                                 std::int64_t{one.column_stride}};
    return index_text(e_, strides.data(), rank());
  }
  std::string fresh() { return fmt::format("t{}", next_++); }

  std::string add_parameter(std::size_t i, const char* constness, char letter) {
    const native::ValueId value = call_.operands[i].value;
    const std::string name = fmt::format("{}{}", letter, parameters_.size());
    parameters_.push_back(fmt::format("{}{}* {}", constness, c_type(e_.dtype(value)), name));
    arguments_.push_back(e_.pointer(value));
    return name;
  }

  void read(std::size_t i) {
    const ElementwiseOperand& one = args_.operands[i];
    const native::PlanValue& value = e_.value(call_.operands[i].value);
    const std::string name = fresh();
    registers_[one.reg] = name;
    if (value.constant && is_scalar(one) && one.storage == Storage::kFloat32) {
      before_ += fmt::format("  const float {} = {};{}\n", name, literal(value.dtype, value.constant->view, false),
                             value.name.empty() ? "" : "  // " + comment_text(value.name));
      return;
    }
    std::string from = fmt::format("{}[{}]", add_parameter(i, "const ", 'x'), index(one));
    if (one.storage == Storage::kBool) from += " ? 1.0F : 0.0F";
    if (one.storage == Storage::kFloat16) e_.need("widened float16");
    if (one.storage == Storage::kBFloat16) e_.need("widened bfloat16");
    if (one.storage == Storage::kFloat16 || one.storage == Storage::kBFloat16) from = fmt::format("widened({})", from);
    (is_scalar(one) ? before_ : inside_) +=
        fmt::format("{}const float {} = {};\n", is_scalar(one) ? "  " : inside(rank()), name, from);
  }

  void compute(const ElementwiseOp& op) {
    const std::string& a = registers_[op.a];
    const std::string& b = registers_[op.b];
    std::string text;
    switch (op.kind) {
      case ElementwiseOp::Kind::kUnary:
        text = function_text(e_, {op.unary, op.alpha, op.beta}, a, DType::kFloat32);
        break;
      case ElementwiseOp::Kind::kBinary:
        text = function_text(e_, op.binary, a, b);
        if (is_condition(op.binary)) text += " ? 1.0F : 0.0F";
        break;
      case ElementwiseOp::Kind::kWhere:
        text = fmt::format("{} != 0 ? {} : {}", a, b, registers_[op.c]);
        break;
    }
    const std::string name = fresh();
    inside_ += fmt::format("{}const float {} = {};\n", inside(rank()), name, text);
    registers_[op.result] = name;
  }

  void write(std::size_t i) {
    const ElementwiseOperand& one = args_.operands[i];
    std::string from = registers_[one.reg];
    if (one.storage == Storage::kBool) from += " != 0";
    if (one.storage == Storage::kFloat16) e_.need("narrowed float16");
    if (one.storage == Storage::kBFloat16) e_.need("narrowed bfloat16");
    if (one.storage == Storage::kFloat16) from = fmt::format("narrowed_float16({})", from);
    if (one.storage == Storage::kBFloat16) from = fmt::format("narrowed_bfloat16({})", from);
    inside_ += fmt::format("{}{}[{}] = {};\n", inside(rank()), add_parameter(i, "", 'y'), index(one), from);
  }

  Emitter& e_;
  const native::KernelCall& call_;
  const Elementwise& args_;
  bool flat_ = true;
  int next_ = 0;
  std::string before_;
  std::string inside_;
  std::vector<std::string> parameters_;
  std::vector<std::string> arguments_;
  std::array<std::string, native::kernels::kElementwiseRegisters> registers_;
};

void emit_elementwise(Emitter& e, const native::KernelCall& call) { Chain(e, call).emit(); }

constexpr std::array kElementwiseKernels = {KernelEntry{"elementwise", emit_elementwise}};

}  // namespace

Family elementwise_family() { return {kElementwiseKernels, {}}; }

}  // namespace leapp::codegen
