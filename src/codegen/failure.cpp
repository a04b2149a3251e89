// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/failure.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "codegen/kernel_table.h"
#include "engine/native/scalar/elementwise.h"
#include "engine/native/scalar/gather.h"

namespace leapp::codegen {
namespace {

using native::KernelCall;
using native::Plan;
using native::ValueId;

ValueId operand_at(const KernelCall& call, std::size_t field) {
  for (const native::Operand& operand : call.operands) {
    if (operand.field == field) return operand.value;
  }
  return native::kNoValue;
}

/// The elements of a constant of integers; nothing when it is none.
std::optional<std::vector<std::int64_t>> known_integers(const Plan& plan, ValueId id) {
  if (id == native::kNoValue || !plan.values[id].constant) return std::nullopt;
  const native::PlanValue& value = plan.values[id];
  if (value.dtype != DType::kInt64 && value.dtype != DType::kInt32) return std::nullopt;
  const std::size_t size = dtype_size(value.dtype);
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i + size <= value.constant->view.size(); i += size) {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    if (size == 8) std::memcpy(&wide, value.constant->view.data() + i, size);
    if (size == 4) std::memcpy(&narrow, value.constant->view.data() + i, size);
    numbers.push_back(size == 8 ? wide : narrow);
  }
  return numbers;
}

bool places_are_known(const Plan& plan, const KernelCall& call) {
  const std::string_view kernel = call.kernel->name;
  const bool gather = kernel == "gather";
  if (!gather && kernel != "gather elements") return false;
  const std::int64_t extent =
      gather ? call.as<native::GatherArgs>().extent : call.as<native::GatherElementsArgs>().extent;
  const std::size_t field =
      gather ? offsetof(native::GatherArgs, indices) : offsetof(native::GatherElementsArgs, indices);
  const auto indices = known_integers(plan, operand_at(call, field));
  return indices && std::all_of(indices->begin(), indices->end(),
                                [&](std::int64_t index) { return index >= -extent && index < extent; });
}

bool divides_well(const Plan& plan, const KernelCall& call) {
  if (call.kernel->name != std::string_view("scalar binary")) return false;
  using native::kernels::Binary;
  const auto function = static_cast<Binary>(call.as<native::Walk>().function);
  if (function != Binary::kDiv && function != Binary::kFmod) return true;
  const ValueId divisor = operand_at(call, offsetof(native::Walk, b));
  if (plan.values[divisor].dtype == DType::kFloat64) return true;
  const auto numbers = known_integers(plan, divisor);
  return numbers && std::find(numbers->begin(), numbers->end(), 0) == numbers->end();
}

}  // namespace

bool may_fail(const Plan& plan, const native::Block& block) {
  return std::any_of(block.begin(), block.end(), [&](const KernelCall& call) {
    const KernelEntry* entry = find_kernel(call.kernel->name);
    const bool fails = entry != nullptr && entry->fails && !places_are_known(plan, call) && !divides_well(plan, call);
    return fails || std::any_of(call.blocks.begin(), call.blocks.end(),
                                [&](const native::Block& inner) { return may_fail(plan, inner); });
  });
}

}  // namespace leapp::codegen
