// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/value_key.h"

#include <bit>
#include <functional>
#include <sstream>

#include <string_view>
#include <vector>
#include "capture/hook/arguments.h"
#include "capture/trace/lengths.h"

namespace leapp::capture {
namespace {

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) { return mix_hash(seed, value); }

std::uint64_t mix(std::uint64_t seed, std::string_view text) { return mix(seed, std::hash<std::string_view>{}(text)); }

std::uint64_t mix(std::uint64_t seed, const ValueType& type) {
  seed = mix(seed, static_cast<std::uint64_t>(type.dtype));
  for (const std::int64_t size : type.sizes) seed = mix(seed, static_cast<std::uint64_t>(size));
  return seed;
}

// zeros, arange: no tensor goes into it.
bool is_made_of_nothing(const TracedValue& value) {
  bool nothing = value.kind == TracedKind::kResult;
  if (nothing) for_each_operand(*value.op, [&](const ValuePtr&) { nothing = false; });
  return nothing;
}

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number == 0.0 ? 0.0 : number); }

}  // namespace

std::uint64_t mix_hash(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6U) + (seed >> 2U));
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 31U);
}

std::uint64_t hash_attribute(const c10::IValue& value) {
  if (value.isNone()) return 1;
  if (value.isInt()) return mix(2, static_cast<std::uint64_t>(value.toInt()));
  if (value.isDouble()) return mix(3, bits(value.toDouble()));
  if (value.isBool()) return value.toBool() ? 5 : 4;
  if (value.isString()) return mix(6, value.toStringRef());
  if (value.isList()) {
    std::uint64_t seed = 7;
    for (const c10::IValue& item : value.toListRef()) seed = mix(seed, hash_attribute(item));
    return seed;
  }
  return 8;
}

bool same_attribute(const c10::IValue& a, const c10::IValue& b) {
  if (a.tagKind() != b.tagKind()) return false;
  if (a.isNone()) return true;
  if (a.isInt()) return a.toInt() == b.toInt();
  if (a.isDouble()) return bits(a.toDouble()) == bits(b.toDouble());
  if (a.isBool()) return a.toBool() == b.toBool();
  if (a.isComplexDouble()) return a.toComplexDouble() == b.toComplexDouble();
  if (a.isString()) return a.toStringRef() == b.toStringRef();
  if (a.isDevice()) return a.toDevice() == b.toDevice();
  if (!a.isList()) return true;
  const auto first = a.toListRef();
  const auto second = b.toListRef();
  if (first.size() != second.size()) return false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!same_attribute(first[i], second[i])) return false;
  }
  return true;
}

std::string attribute_text(const c10::IValue& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::uint64_t ValueKeys::of_leaf(const TracedValue& value) const {
  if (value.kind == TracedKind::kInput) return mix(11, value.origin->port);
  if (is_parameter(value)) return mix(13, reinterpret_cast<std::uintptr_t>(value.cell->read_from));
  return mix(12, value.type);
}

bool ValueKeys::known(const TracedValue& value) const {
  return value.kind != TracedKind::kResult || ops_.contains(value.op.get());
}

bool ValueKeys::is_parameter(const TracedValue& value) const {
  if (value.kind == TracedKind::kConstant) return value.cell->read_from != nullptr;
  return value.kind == TracedKind::kResult && of_parameters_.contains(value.op.get());
}

std::uint64_t ValueKeys::of_op(const TraceOp& op) {
  bool live = false;
  bool of_parameter = false;
  bool any_length = shape_depends_on_data(op);
  for_each_operand(op, [&](const ValuePtr& operand) {
    live = live || operand->owner != 0;
    of_parameter = of_parameter || is_parameter(*operand);
    any_length = any_length || (operand->kind == TracedKind::kResult && of_data_length_.contains(operand->op.get()));
  });
  if (any_length) of_data_length_.insert(&op);
  if (of_parameter && !live) of_parameters_.insert(&op);
  std::uint64_t seed = mix(op.location, reinterpret_cast<std::uintptr_t>(op.info));
  for (const TraceArgument& argument : op.arguments) {
    if (argument.kind != TraceArgument::Kind::kAttribute || (any_length && argument.attribute.isIntList())) continue;
    seed = mix(seed, hash_attribute(argument.attribute));
  }
  for_each_operand(op, [&](const ValuePtr& given) {
    const ValuePtr& operand = any_length ? with_its_row(given) : given;
    // State may be made afresh in one call (zeros) and be there already in the next.
    const bool any_constant =
        is_constant(*operand) && (live || is_made_of_nothing(*operand)) && !is_parameter(*operand);
    seed = any_constant && any_length             ? mix(seed, static_cast<std::uint64_t>(operand->type.dtype))
           : any_constant                         ? mix(seed, mix(12, operand->type))
           : operand->kind == TracedKind::kResult ? mix(mix(seed, ops_.at(operand->op.get())), operand->index)
                                                  : mix(seed, of_leaf(*operand));
  });
  return seed;
}

std::uint64_t ValueKeys::of(const ValuePtr& value) {
  if (value->kind != TracedKind::kResult) return of_leaf(*value);
  std::vector<const TraceOp*> pending;
  if (!known(*value)) pending.push_back(value->op.get());
  while (!pending.empty()) {
    const TraceOp* op = pending.back();
    bool ready = true;
    for_each_operand(*op, [&](const ValuePtr& operand) {
      if (known(*operand)) return;
      pending.push_back(operand->op.get());
      ready = false;
    });
    if (!ready) continue;
    pending.pop_back();
    if (!ops_.contains(op)) ops_.emplace(op, of_op(*op));
  }
  return mix(ops_.at(value->op.get()), value->index);
}

}  // namespace leapp::capture
