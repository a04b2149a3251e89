// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

std::vector<TraceArgument> twin_arguments(const FunctionalVariant& twin, const std::vector<TraceArgument>& original) {
  std::vector<TraceArgument> arguments;
  const auto& schema = twin.op->schema().arguments();
  for (std::size_t i = 0; i < twin.arguments.size(); ++i) {
    const int from = twin.arguments[i];
    arguments.push_back(from >= 0 ? original[static_cast<std::size_t>(from)]
                                  : TraceArgument::of(schema[i].default_value().value()));
  }
  return arguments;
}

}  // namespace

void Mutation::write(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs, bool random) {
  const FunctionalVariant& twin = op.info->twin();
  // Without a functional form the operator itself stands in the trace: exporting what it wrote is refused by name.
  const OpInfo* functional = twin.op ? twin.op : op.info;
  auto arguments = twin.op ? twin_arguments(twin, op.arguments) : op.arguments;
  const auto trace = state_.builder.make(functional, std::move(arguments), random);
  if (op.owner != 0) state_.escapes.check_arguments(op.owner, state_.calls.name_of(op.owner), *trace);
  const auto& types = op.twin_dtypes;

  std::vector<c10::IValue> own;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (op.info->return_aliases()[i] < 0) own.push_back(outputs[i]);
  }
  if (twin.leading_results > 0) binder_.bind_all(op, trace, 0, own);
  for (std::size_t i = 0; i < op.written.size(); ++i) {
    const at::Tensor& tensor = op.written[i].tensor;
    const std::size_t index = twin.leading_results + i;
    const bool known = types && index < types->size();
    ValueType type = type_of(tensor);
    if (known) type.dtype = (*types)[index];
    ValuePtr value = state_.builder.result(trace, index, std::move(type));
    value = known ? state_.builder.cast(value, tensor.scalar_type())
                  : state_.builder.cast_always(value, tensor.scalar_type());
    // A functional form may return a lazily conjugated result where memory holds the conjugate itself.
    if (c10::isComplexType(tensor.scalar_type())) value = state_.builder.unary("aten::resolve_conj", value);
    state_.table.write(tensor, std::move(value));
  }
}

void Mutation::inplace_view(const PendingOp& op) {
  const FunctionalVariant& twin = op.info->twin();
  if (!twin.op) return;  // found by the memory it looks at
  const at::Tensor& tensor = op.written.front().tensor;
  const auto trace = state_.builder.make(twin.op, twin_arguments(twin, op.arguments));
  state_.table.bind_view(tensor, state_.builder.result(trace, 0, type_of(tensor)));
}

void Mutation::fill(const PendingOp& op) {
  const at::Tensor& tensor = op.written.front().tensor;
  const bool zero = op.info->name() == "aten::zero_";
  if (!zero && op.arguments[1].kind == TraceArgument::Kind::kTensor) {
    const ValuePtr fill = state_.builder.cast(op.arguments[1].tensor, tensor.scalar_type());
    return state_.table.write(tensor, state_.builder.expand(fill, tensor.sizes()));
  }
  const c10::Scalar number = zero ? c10::Scalar(0) : op.arguments[1].attribute.toScalar();
  state_.table.write(tensor, state_.builder.full(tensor.sizes(), number, tensor.scalar_type()));
}

void Mutation::fill_diagonal(const PendingOp& op) {
  const at::Tensor& tensor = op.written.front().tensor;
  const c10::Scalar fill = op.arguments[1].attribute.toScalar();
  const auto strides = tensor.strides();
  const std::int64_t step = std::accumulate(strides.begin(), strides.end(), std::int64_t{0});
  const std::int64_t length = *std::min_element(tensor.sizes().begin(), tensor.sizes().end());
  const auto write = [&](std::int64_t count, std::int64_t offset) {
    const Unrecorded quiet;
    state_.table.write(tensor.as_strided({count}, {step}, tensor.storage_offset() + offset),
                       state_.builder.full({count}, fill, tensor.scalar_type()));
  };
  write(length, 0);
  const bool tall = tensor.dim() == 2 && tensor.size(0) > tensor.size(1) + 1;
  if (!tall || !flag(op, {"wrap"})) return;
  const std::int64_t period = tensor.size(1) + 1;  // the diagonal starts again after an empty row
  write((tensor.numel() + period - 1) / period - length, tensor.stride(0) * period);
}

void Mutation::copy(const PendingOp& op) {
  const at::Tensor& tensor = op.written.front().tensor;
  if (op.arguments[1].kind != TraceArgument::Kind::kTensor) {
    return state_.table.write(
        tensor, state_.builder.full(tensor.sizes(), op.arguments[1].attribute.toScalar(), tensor.scalar_type()));
  }
  const ValuePtr source = state_.builder.cast(op.arguments[1].tensor, tensor.scalar_type());
  state_.table.write(tensor, state_.builder.expand(source, tensor.sizes()));
}

void Mutation::as_strided_scatter(const PendingOp& op, const at::Tensor& output) {
  const bool dense = op.self.is_contiguous() && op.self.storage_offset() == 0;
  if (!dense) {
    if (op.owner != 0) {
      state_.errors.note(
          unimplemented(fmt::format("{}{} in node '{}': its first argument must be contiguous and start its "
                                    "storage to be exported",
                                    op.info->qualified_name(), at_line(op.location), state_.calls.name_of(op.owner))));
    }
    return;
  }
  const ValuePtr flat = state_.builder.reshape(op.arguments[0].tensor, {op.self.numel()});
  const std::int64_t offset = op.arguments[4].attribute.isInt() ? op.arguments[4].attribute.toInt() : 0;
  const ValuePtr scattered =
      state_.builder.as_strided_scatter(flat, op.arguments[1].tensor, op.arguments[2].attribute.toIntVector(),
                                        op.arguments[3].attribute.toIntVector(), offset);
  binder_.bind(op, output, state_.builder.reshape(scattered, output.sizes()));
}

}  // namespace leapp::capture
