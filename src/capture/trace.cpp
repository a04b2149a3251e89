// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace.h"

#include <utility>

namespace leapp::capture {

TraceArgument TraceArgument::of(ValuePtr value) {
  TraceArgument argument;
  argument.kind = Kind::kTensor;
  argument.tensor = std::move(value);
  return argument;
}

TraceArgument TraceArgument::of(std::vector<ValuePtr> values) {
  TraceArgument argument;
  argument.kind = Kind::kTensorList;
  argument.list = std::move(values);
  return argument;
}

TraceArgument TraceArgument::of(c10::IValue value) {
  TraceArgument argument;
  argument.attribute = std::move(value);
  return argument;
}

// A long chain of operators would otherwise be destroyed by recursion and overflow the stack.
TraceOp::~TraceOp() {
  thread_local std::vector<ValuePtr>* pending = nullptr;
  std::vector<ValuePtr> own;
  const bool outermost = pending == nullptr;
  if (outermost) pending = &own;
  for (TraceArgument& argument : arguments) {
    if (argument.tensor) pending->push_back(std::move(argument.tensor));
    for (ValuePtr& value : argument.list) {
      if (value) pending->push_back(std::move(value));
    }
  }
  if (!outermost) return;
  while (!own.empty()) {
    ValuePtr value = std::move(own.back());
    own.pop_back();
  }
  pending = nullptr;
}

ValuePtr make_value(TracedKind kind, ValueType type, Origin origin) {
  auto value = std::make_shared<TracedValue>();
  value->kind = kind;
  value->type = std::move(type);
  value->origin = std::make_unique<Origin>(std::move(origin));
  return value;
}

ValuePtr make_constant(std::shared_ptr<ConstantCell> cell) {
  auto value = std::make_shared<TracedValue>();
  value->kind = TracedKind::kConstant;
  value->type = cell->type();
  value->cell = std::move(cell);
  return value;
}

}  // namespace leapp::capture
