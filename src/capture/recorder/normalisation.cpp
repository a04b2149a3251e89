// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/normalisation.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "capture/hook/arguments.h"
#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

TraceArgument pick(const PendingOp& op, const char* name) {
  const int position = op.info->argument(name);
  return position < 0 ? TraceArgument::of(c10::IValue()) : op.arguments[static_cast<std::size_t>(position)];
}

}  // namespace

bool Normalisation::batch_norm(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  static const std::map<std::string_view, std::size_t> kResults = {
      {"out", 0}, {"save_mean", 1}, {"save_invstd", 2}, {"running_mean", 3}, {"running_var", 4}};
  const auto argument_name = [&](const PendingOp::Written& written) -> const std::string& {
    return op.info->schema().arguments()[written.argument].name();
  };
  const auto is_statistic = [&](const PendingOp::Written& written) { return kResults.at(argument_name(written)) >= 3; };
  if (!std::all_of(op.written.begin(), op.written.end(),
                   [&](const PendingOp::Written& written) { return kResults.contains(argument_name(written)); }) ||
      std::count_if(op.written.begin(), op.written.end(), is_statistic) != 2) {
    return false;
  }
  static const OpInfo* const functional = op_info("aten::_native_batch_norm_legit_functional", "");
  const auto trace = state_.builder.make(
      functional, {pick(op, "input"), pick(op, "weight"), pick(op, "bias"), pick(op, "running_mean"),
                   pick(op, "running_var"), pick(op, "training"), pick(op, "momentum"), pick(op, "eps")});
  const ValuePtr mean = pick(op, "running_mean").tensor;
  trace->results.assign(5, mean->type);
  trace->results[0] = pick(op, "input").tensor->type;
  const auto own = outputs.slice(0, std::min<std::size_t>(outputs.size(), 3));
  const bool training = flag(op, {"training", "train"});
  if (op.info->writes().size() <= 2 && !training) binder_.bind_all(op, trace, 0, own);
  if (op.info->writes().size() <= 2 && training) {
    // The result does not depend on the statistics before: they are no state unless something reads them.
    static const OpInfo* const alone = op_info("aten::_native_batch_norm_legit", "no_stats");
    const auto normalised =
        state_.builder.make(alone, {pick(op, "input"), pick(op, "weight"), pick(op, "bias"),
                                    TraceArgument::of(c10::IValue(true)), pick(op, "momentum"), pick(op, "eps")});
    normalised->results.assign(3, mean->type);
    normalised->results[0] = pick(op, "input").tensor->type;
    binder_.bind_all(op, normalised, 0, own);
  }
  for (const PendingOp::Written& written : op.written) {
    const std::size_t index = kResults.at(argument_name(written));
    state_.table.write(written.tensor, state_.builder.result(trace, index, type_of(written.tensor)));
  }
  return true;
}

// instance_norm is batch_norm over [1, batch * channels, ...]; its running statistics are the mean over the batch.
bool Normalisation::instance_norm(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  if (op.written.size() != 2) return false;
  const ValuePtr input = op.arguments[0].tensor;
  const std::int64_t batch = input->type.sizes[0];
  const std::int64_t channels = input->type.sizes[1];
  const auto repeated = [&](const char* name) {
    TraceArgument argument = pick(op, name);
    if (!argument.tensor) return argument;
    const ValuePtr wide =
        state_.builder.expand(state_.builder.reshape(argument.tensor, {1, channels}), {batch, channels});
    return TraceArgument::of(state_.builder.reshape(wide, {batch * channels}));
  };
  c10::DimVector flat(input->type.sizes);
  flat[0] = 1;
  flat[1] = batch * channels;
  static const OpInfo* const functional = op_info("aten::_native_batch_norm_legit_functional", "");
  const auto trace =
      state_.builder.make(functional, {TraceArgument::of(state_.builder.reshape(input, flat)), repeated("weight"),
                                       repeated("bias"), repeated("running_mean"), repeated("running_var"),
                                       TraceArgument::of(c10::IValue(true)), pick(op, "momentum"), pick(op, "eps")});
  const ValueType wide{op.written[0].tensor.scalar_type(), {batch * channels}};
  trace->results.assign(5, wide);
  trace->results[0] = {input->type.dtype, flat};
  const ValuePtr normalised = state_.builder.result(trace, 0, {input->type.dtype, flat});
  binder_.bind(op, outputs[0].toTensor(), state_.builder.reshape(normalised, outputs[0].toTensor().sizes()));
  static const OpInfo* const mean = op_info("aten::mean", "dim");
  for (std::size_t i = 0; i < 2; ++i) {
    const ValuePtr rows = state_.builder.reshape(state_.builder.result(trace, 3 + i, wide), {batch, channels});
    const auto average = state_.builder.make(
        mean, {TraceArgument::of(rows), TraceArgument::of(c10::IValue(c10::List<std::int64_t>({0}))),
               TraceArgument::of(c10::IValue(false)), TraceArgument::of(c10::IValue())});
    state_.table.write(op.written[i].tensor, state_.builder.result(average, 0, type_of(op.written[i].tensor)));
  }
  return true;
}

}  // namespace leapp::capture
