// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace leapp::capture {
namespace {

constexpr std::size_t kMinCalls = 4;        // with the first
constexpr std::size_t kMaxElements = 4096;  // one for each of many environments
constexpr double kRounding = 1e-5;          // of a step that is no binary fraction, over a few calls

using Numbers = std::vector<double>;

template <typename T>
Numbers widened(const graph::Constant& constant) {
  const T* data = static_cast<const T*>(constant.data.get());
  return {data, data + constant.byte_size() / sizeof(T)};
}

/// Nothing: not of a kind that anybody counts in, or too many.
std::optional<Numbers> numbers_of(const ValuePtr& value) {
  if (!value || value->kind != TracedKind::kConstant) return std::nullopt;
  const auto constant = value->cell->exported();
  if (!constant || constant->byte_size() == 0 || constant->byte_size() > kMaxElements * sizeof(double))
    return std::nullopt;
  switch (constant->type.dtype) {
    case DType::kInt32:
      return widened<std::int32_t>(*constant);
    case DType::kInt64:
      return widened<std::int64_t>(*constant);
    case DType::kFloat32:
      return widened<float>(*constant);
    case DType::kFloat64:
      return widened<double>(*constant);
    default:
      return std::nullopt;
  }
}

ValuePtr operand_at(const Use& use) {
  ValuePtr found;
  std::size_t operand = 0;
  for_each_operand(*use.op, [&](const ValuePtr& value) {
    if (operand++ == use.operand) found = value;
  });
  return found;
}

/// By call. Nothing: it does not grow by the same amount in each, in all elements.
std::optional<double> step_of(const std::map<std::size_t, Numbers>& calls) {
  if (calls.size() < kMinCalls) return std::nullopt;
  const auto& [first, begin] = *calls.begin();
  std::optional<double> step;
  for (const auto& [call, numbers] : calls) {
    if (call == first) continue;
    if (numbers.size() != begin.size()) return std::nullopt;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double grown = (numbers[i] - begin[i]) / static_cast<double>(call - first);
      if (!step) step = grown;
      if (!(std::abs(grown - *step) <= kRounding * std::abs(*step))) return std::nullopt;
    }
  }
  return step && *step != 0.0 ? step : std::nullopt;
}

}  // namespace

void find_counters(NodeRecord& node) {
  std::map<Use, std::vector<Divergence*>> places;
  for (Divergence& divergence : node.divergences) {
    if (divergence.kind == Divergence::Kind::kConstant && divergence.use.op)
      places[divergence.use].push_back(&divergence);
  }
  for (const auto& [use, divergences] : places) {
    std::map<std::size_t, Numbers> calls;
    const auto add = [&](std::size_t call, const ValuePtr& value) {
      if (auto numbers = numbers_of(value)) calls.emplace(call, std::move(*numbers));
    };
    add(node.first_call, operand_at(use));
    for (const Divergence* divergence : divergences) add(divergence->call, divergence->now);
    const auto step = step_of(calls);
    if (!step) continue;
    // As people write it: 0.1, not what 32 bits make of it.
    for (Divergence* divergence : divergences) divergence->step = fmt::format("{:.5g}", *step);
  }
}

}  // namespace leapp::capture
