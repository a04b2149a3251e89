// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/phase_number.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

constexpr ActivationId kPhaseOwner = std::numeric_limits<ActivationId>::max();  // it is no constant

TraceArgument phase_argument(std::size_t value) {
  return TraceArgument::of(c10::IValue(static_cast<std::int64_t>(value)));
}

/// Without dimensions, as all that is computed of a phase.
ValuePtr make_phase_op(TraceBuilder& builder, const char* name, const char* overload,
                       std::vector<TraceArgument> arguments, at::ScalarType dtype) {
  return builder.result(builder.make(op_info(name, overload), std::move(arguments)), 0, {dtype, {}});
}

}  // namespace

PhaseNumber::PhaseNumber() : builder_([](auto&&...) {}, 0) {
  Origin origin;
  origin.port = "the phase of the calls";
  value_ = make_value(TracedKind::kInput, {at::kLong, {}}, std::move(origin));
  value_->owner = kPhaseOwner;
}

ValuePtr PhaseNumber::is_one_of(const Phases& phases) {
  ValuePtr& known = conditions_[phases];
  if (known) return known;
  ValuePtr any;
  for (const std::size_t phase : phases) {
    const ValuePtr is =
        make_phase_op(builder_, "aten::eq", "Scalar", {TraceArgument::of(value_), phase_argument(phase)}, at::kBool);
    any = any ? make_phase_op(builder_, "aten::logical_or", "", {TraceArgument::of(any), TraceArgument::of(is)},
                              at::kBool)
              : is;
  }
  return known = any;
}

ValuePtr PhaseNumber::next(const Schedule& schedule, TraceBuilder& builder) const {
  const ValuePtr up = make_phase_op(builder, "aten::add", "Scalar",
                                    {TraceArgument::of(value_), phase_argument(1), phase_argument(1)}, at::kLong);
  if (schedule.warm_up == 0)
    return make_phase_op(builder, "aten::remainder", "Scalar", {TraceArgument::of(up), phase_argument(schedule.period)},
                         at::kLong);
  // The phases of the beginning do not come again.
  const ValuePtr over =
      builder.cast(make_phase_op(builder, "aten::ge", "Scalar",
                                 {TraceArgument::of(up), phase_argument(schedule.count())}, at::kBool),
                   at::kLong);
  const ValuePtr back = make_phase_op(builder, "aten::mul", "Scalar",
                                      {TraceArgument::of(over), phase_argument(schedule.period)}, at::kLong);
  return make_phase_op(builder, "aten::sub", "Tensor",
                       {TraceArgument::of(up), TraceArgument::of(back), phase_argument(1)}, at::kLong);
}

}  // namespace leapp::capture
