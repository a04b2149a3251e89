// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors made from numbers. Small ones were folded before; what is left is large, or depends on an input's values.
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

void zeros(OpBuilder& b) { b.bind(b.full(std::int64_t{0}, b.result())); }

void ones(OpBuilder& b) { b.bind(b.full(std::int64_t{1}, b.result())); }

void full(OpBuilder& b) {
  const char* name = b.has("fill_value") ? "fill_value" : "value";
  b.bind(b.expand(b.operand(name, b.result().dtype), b.result().shape));
}

void scalar_tensor(OpBuilder& b) { b.bind(b.constant(b.scalar("s"), b.result().dtype)); }

void arange(OpBuilder& b) {
  const TensorType& type = b.result();
  const double start = b.has("start") ? b.number("start") : 0;
  const double step = b.has("step") ? b.number("step") : 1;
  std::vector<Scalar> values;
  for (std::int64_t i = 0; i < type.shape[0]; ++i) {
    const double value = start + static_cast<double>(i) * step;
    if (is_floating(type.dtype)) {
      values.emplace_back(value);
    } else {
      values.emplace_back(static_cast<std::int64_t>(value));
    }
  }
  b.bind(b.constant(values, type));
}

void eye(OpBuilder& b) {
  const TensorType& type = b.result();
  const Tensor mask = b.compare("Equal", b.ints(iota(type.shape[0]), {type.shape[0], 1}),
                                b.ints(iota(type.shape[1]), {1, type.shape[1]}));
  b.bind(b.cast(mask, type.dtype));
}

/// linspace and logspace between ends that are tensors: from the nearer end, as torch does.
Tensor line(OpBuilder& b, DType dtype) {
  const std::int64_t steps = b.integer("steps");
  const Tensor start = b.operand("start", dtype);
  const Tensor end = b.operand("end", dtype);
  if (steps == 1) return b.expand(b.reshape(start, {1}), {1});
  const Tensor step = with_number(b, "Div", b.binary("Sub", end, start), static_cast<double>(steps - 1));
  std::vector<Scalar> up;
  std::vector<Scalar> down;
  std::vector<Scalar> first;
  for (std::int64_t i = 0; i < steps; ++i) {
    up.emplace_back(i);
    down.emplace_back(steps - 1 - i);
    first.emplace_back(i < steps / 2);
  }
  const Tensor from_start = b.binary("Add", start, b.binary("Mul", step, b.constant(up, {dtype, {steps}})));
  const Tensor from_end = b.binary("Sub", end, b.binary("Mul", step, b.constant(down, {dtype, {steps}})));
  return b.where(b.constant(first, {DType::kBool, {steps}}), from_start, from_end);
}

void linspace(OpBuilder& b) {
  if (!is_floating(b.result().dtype)) return b.refuse("integer steps between ends that are tensors");
  b.bind(line(b, b.result().dtype));
}

void logspace(OpBuilder& b) {
  if (!is_floating(b.result().dtype)) return b.refuse("integer steps between ends that are tensors");
  b.bind(number_with(b, "Pow", b.number("base"), line(b, b.result().dtype)));
}

constexpr std::array kCreationOps = {
    EmitEntry{"aten::arange", arange},
    EmitEntry{"aten::arange.start", arange},
    EmitEntry{"aten::arange.start_step", arange},
    EmitEntry{"aten::eye", eye},
    EmitEntry{"aten::eye.m", eye},
    EmitEntry{"aten::fill.Scalar", full},
    EmitEntry{"aten::fill.Tensor", full},
    EmitEntry{"aten::full", full},
    EmitEntry{"aten::full_like", full},
    EmitEntry{"aten::linspace.Scalar_Tensor", linspace},
    EmitEntry{"aten::linspace.Tensor_Scalar", linspace},
    EmitEntry{"aten::linspace.Tensor_Tensor", linspace},
    EmitEntry{"aten::logspace.Scalar_Tensor", logspace},
    EmitEntry{"aten::logspace.Tensor_Scalar", logspace},
    EmitEntry{"aten::logspace.Tensor_Tensor", logspace},
    EmitEntry{"aten::new_full", full},
    EmitEntry{"aten::new_ones", ones},
    EmitEntry{"aten::new_zeros", zeros},
    EmitEntry{"aten::ones", ones},
    EmitEntry{"aten::ones_like", ones},
    EmitEntry{"aten::scalar_tensor", scalar_tensor},
    EmitEntry{"aten::zero", zeros},
    EmitEntry{"aten::zeros", zeros},
    EmitEntry{"aten::zeros_like", zeros},
};

}  // namespace

EmitEntries creation_ops() { return kCreationOps; }

}  // namespace leapp::onnx_ops
