// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/trace.h"

#include <memory>
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

namespace {

/// Lets go of the operands of `op`. Operators that nobody else has are put on the list instead of being destroyed.
void drop_operands(TraceOp& op, std::shared_ptr<TraceOp>& list) {
  const auto drop = [&](ValuePtr& value) {
    if (value && value.use_count() == 1 && value->op && value->op.use_count() == 1) {
      std::shared_ptr<TraceOp> last = std::move(value->op);
      last->next_to_go = std::move(list);
      list = std::move(last);
    }
    value.reset();
  };
  for (TraceArgument& argument : op.arguments) {
    drop(argument.tensor);
    for (ValuePtr& value : argument.list) drop(value);
  }
}

}  // namespace

// A long chain of operators would otherwise be destroyed by recursion and overflow the stack. The list is made of the
// operators themselves: there may be no memory for another.
TraceOp::~TraceOp() {
  std::shared_ptr<TraceOp> list;
  drop_operands(*this, list);
  while (list) {
    const std::shared_ptr<TraceOp> op = std::move(list);
    list = std::move(op->next_to_go);
    drop_operands(*op, list);
  }
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
