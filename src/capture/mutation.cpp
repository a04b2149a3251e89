// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that write to their arguments, turned into their functional form plus "this memory now holds that value".
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "capture/arguments.h"
#include "capture/hook.h"
#include "capture/op_info.h"
#include "capture/recorder.h"

namespace leapp::capture {
namespace {

std::vector<TraceArgument> twin_arguments(const FunctionalTwin& twin, const std::vector<TraceArgument>& original) {
  std::vector<TraceArgument> arguments;
  const auto& schema = twin.op->schema().arguments();
  for (std::size_t i = 0; i < twin.arguments.size(); ++i) {
    const int from = twin.arguments[i];
    arguments.push_back(from >= 0 ? original[static_cast<std::size_t>(from)]
                                  : TraceArgument::of(schema[i].default_value().value()));
  }
  return arguments;
}

TraceArgument pick(const PendingOp& op, const char* name) {
  const int position = op.info->argument(name);
  return position < 0 ? TraceArgument::of(c10::IValue()) : op.arguments[static_cast<std::size_t>(position)];
}

}  // namespace

void Recorder::finish_write(PendingOp& op, c10::ArrayRef<c10::IValue> outputs, bool random) {
  const FunctionalTwin& twin = op.info->twin();
  // Without a functional form the operator itself stands in the trace: exporting what it wrote is refused by name.
  const OpInfo* functional = twin.op ? twin.op : op.info;
  auto arguments = twin.op ? twin_arguments(twin, op.arguments) : op.arguments;
  const auto trace = builder_.make(functional, std::move(arguments), random);
  if (op.owner != 0) escapes_.check_arguments(op.owner, name_of(op.owner), *trace);
  const auto& types = op.twin_dtypes;

  std::vector<c10::IValue> own;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (op.info->return_aliases()[i] < 0) own.push_back(outputs[i]);
  }
  if (twin.leading_results > 0) bind_results(op, trace, 0, own);
  for (std::size_t i = 0; i < op.written.size(); ++i) {
    const at::Tensor& tensor = op.written[i].tensor;
    const std::size_t index = twin.leading_results + i;
    const bool known = types && index < types->size();
    ValueType type = type_of(tensor);
    if (known) type.dtype = (*types)[index];
    ValuePtr value = builder_.result(trace, index, std::move(type));
    value = known ? builder_.cast(value, tensor.scalar_type()) : builder_.cast_always(value, tensor.scalar_type());
    // A functional form may return a lazily conjugated result where memory holds the conjugate itself.
    if (c10::isComplexType(tensor.scalar_type())) value = builder_.unary("aten::resolve_conj", value);
    table_.write(tensor, std::move(value));
  }
}

void Recorder::finish_inplace_view(PendingOp& op) {
  const FunctionalTwin& twin = op.info->twin();
  if (!twin.op) return;  // found by the memory it looks at
  const at::Tensor& tensor = op.written.front().tensor;
  const auto trace = builder_.make(twin.op, twin_arguments(twin, op.arguments));
  table_.bind_view(tensor, builder_.result(trace, 0, type_of(tensor)));
}

void Recorder::finish_fill(PendingOp& op) {
  const at::Tensor& tensor = op.written.front().tensor;
  const bool zero = op.info->name() == "aten::zero_";
  if (!zero && op.arguments[1].kind == TraceArgument::Kind::kTensor) {
    const ValuePtr fill = builder_.cast(op.arguments[1].tensor, tensor.scalar_type());
    return table_.write(tensor, builder_.expand(fill, tensor.sizes()));
  }
  const c10::Scalar number = zero ? c10::Scalar(0) : op.arguments[1].attribute.toScalar();
  table_.write(tensor, builder_.full(tensor.sizes(), number, tensor.scalar_type()));
}

void Recorder::finish_fill_diagonal(PendingOp& op) {
  const at::Tensor& tensor = op.written.front().tensor;
  const c10::Scalar fill = op.arguments[1].attribute.toScalar();
  const auto strides = tensor.strides();
  const std::int64_t step = std::accumulate(strides.begin(), strides.end(), std::int64_t{0});
  const std::int64_t length = *std::min_element(tensor.sizes().begin(), tensor.sizes().end());
  const auto write = [&](std::int64_t count, std::int64_t offset) {
    const Unrecorded quiet;
    table_.write(tensor.as_strided({count}, {step}, tensor.storage_offset() + offset),
                 builder_.full({count}, fill, tensor.scalar_type()));
  };
  write(length, 0);
  const bool tall = tensor.dim() == 2 && tensor.size(0) > tensor.size(1) + 1;
  if (!tall || !flag(op, {"wrap"})) return;
  const std::int64_t period = tensor.size(1) + 1;  // the diagonal starts again after an empty row
  write((tensor.numel() + period - 1) / period - length, tensor.stride(0) * period);
}

void Recorder::finish_copy(PendingOp& op) {
  const at::Tensor& tensor = op.written.front().tensor;
  if (op.arguments[1].kind != TraceArgument::Kind::kTensor) {
    return table_.write(tensor,
                        builder_.full(tensor.sizes(), op.arguments[1].attribute.toScalar(), tensor.scalar_type()));
  }
  const ValuePtr source = builder_.cast(op.arguments[1].tensor, tensor.scalar_type());
  table_.write(tensor, builder_.expand(source, tensor.sizes()));
}

void Recorder::finish_batch_norm(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  static const std::map<std::string_view, std::size_t> kResults = {
      {"out", 0}, {"save_mean", 1}, {"save_invstd", 2}, {"running_mean", 3}, {"running_var", 4}};
  const auto argument_name = [&](const PendingOp::Written& written) -> const std::string& {
    return op.info->schema().arguments()[written.argument].name();
  };
  const auto is_statistic = [&](const PendingOp::Written& written) { return kResults.at(argument_name(written)) >= 3; };
  if (!std::all_of(op.written.begin(), op.written.end(),
                   [&](const PendingOp::Written& written) { return kResults.contains(argument_name(written)); }) ||
      std::count_if(op.written.begin(), op.written.end(), is_statistic) != 2) {
    return op.written.empty() ? finish_plain(op, outputs, false) : finish_write(op, outputs, false);
  }
  static const OpInfo* const functional = op_info("aten::_native_batch_norm_legit_functional", "");
  const auto trace =
      builder_.make(functional, {pick(op, "input"), pick(op, "weight"), pick(op, "bias"), pick(op, "running_mean"),
                                 pick(op, "running_var"), pick(op, "training"), pick(op, "momentum"), pick(op, "eps")});
  const ValuePtr mean = pick(op, "running_mean").tensor;
  trace->results.assign(5, mean->type);
  trace->results[0] = pick(op, "input").tensor->type;
  const auto own = outputs.slice(0, std::min<std::size_t>(outputs.size(), 3));
  const bool training = flag(op, {"training", "train"});
  if (op.info->writes().size() <= 2 && !training) bind_results(op, trace, 0, own);
  if (op.info->writes().size() <= 2 && training) {
    // The result does not depend on the statistics before: they are no state unless something reads them.
    static const OpInfo* const alone = op_info("aten::_native_batch_norm_legit", "no_stats");
    const auto normalised =
        builder_.make(alone, {pick(op, "input"), pick(op, "weight"), pick(op, "bias"),
                              TraceArgument::of(c10::IValue(true)), pick(op, "momentum"), pick(op, "eps")});
    normalised->results.assign(3, mean->type);
    normalised->results[0] = pick(op, "input").tensor->type;
    bind_results(op, normalised, 0, own);
  }
  for (const PendingOp::Written& written : op.written) {
    const std::size_t index = kResults.at(argument_name(written));
    table_.write(written.tensor, builder_.result(trace, index, type_of(written.tensor)));
  }
}

// instance_norm is batch_norm over [1, batch * channels, ...]; its running statistics are the mean over the batch.
void Recorder::finish_instance_norm(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  if (op.written.size() != 2) return finish_plain(op, outputs, false);
  const ValuePtr input = op.arguments[0].tensor;
  const std::int64_t batch = input->type.sizes[0];
  const std::int64_t channels = input->type.sizes[1];
  const auto repeated = [&](const char* name) {
    TraceArgument argument = pick(op, name);
    if (!argument.tensor) return argument;
    const ValuePtr wide = builder_.expand(builder_.reshape(argument.tensor, {1, channels}), {batch, channels});
    return TraceArgument::of(builder_.reshape(wide, {batch * channels}));
  };
  c10::DimVector flat(input->type.sizes);
  flat[0] = 1;
  flat[1] = batch * channels;
  static const OpInfo* const functional = op_info("aten::_native_batch_norm_legit_functional", "");
  const auto trace =
      builder_.make(functional, {TraceArgument::of(builder_.reshape(input, flat)), repeated("weight"), repeated("bias"),
                                 repeated("running_mean"), repeated("running_var"),
                                 TraceArgument::of(c10::IValue(true)), pick(op, "momentum"), pick(op, "eps")});
  const ValueType wide{op.written[0].tensor.scalar_type(), {batch * channels}};
  trace->results.assign(5, wide);
  trace->results[0] = {input->type.dtype, flat};
  const ValuePtr normalised = builder_.result(trace, 0, {input->type.dtype, flat});
  bind_result(op, outputs[0].toTensor(), builder_.reshape(normalised, outputs[0].toTensor().sizes()));
  static const OpInfo* const mean = op_info("aten::mean", "dim");
  for (std::size_t i = 0; i < 2; ++i) {
    const ValuePtr rows = builder_.reshape(builder_.result(trace, 3 + i, wide), {batch, channels});
    const auto average =
        builder_.make(mean, {TraceArgument::of(rows), TraceArgument::of(c10::IValue(c10::List<std::int64_t>({0}))),
                             TraceArgument::of(c10::IValue(false)), TraceArgument::of(c10::IValue())});
    table_.write(op.written[i].tensor, builder_.result(average, 0, type_of(op.written[i].tensor)));
  }
}

void Recorder::finish_as_strided_scatter(PendingOp& op, const at::Tensor& output) {
  const bool dense = op.self.is_contiguous() && op.self.storage_offset() == 0;
  if (!dense) {
    if (op.owner != 0) {
      note_error(
          unimplemented(fmt::format("{}{} in node '{}': its first argument must be contiguous and start its "
                                    "storage to be exported",
                                    op.info->qualified_name(), at_line(op.location), name_of(op.owner))));
    }
    return;
  }
  const ValuePtr flat = builder_.reshape(op.arguments[0].tensor, {op.self.numel()});
  const std::int64_t offset = op.arguments[4].attribute.isInt() ? op.arguments[4].attribute.toInt() : 0;
  const ValuePtr scattered =
      builder_.as_strided_scatter(flat, op.arguments[1].tensor, op.arguments[2].attribute.toIntVector(),
                                  op.arguments[3].attribute.toIntVector(), offset);
  bind_result(op, output, builder_.reshape(scattered, output.sizes()));
}

}  // namespace leapp::capture
