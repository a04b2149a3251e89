// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace.h"

#include <ATen/EmptyTensor.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <span>
#include <utility>

#include "base/hash.h"
#include "capture/hook.h"

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

at::Tensor locked(const WeakTensor& tensor) {
  auto strong = tensor.lock();
  return strong ? at::Tensor(std::move(strong)) : at::Tensor();
}

std::string describe(const at::Tensor& tensor) {
  return fmt::format("{}[{}]", dtype_text(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
}

namespace {

// The usual case, for which a walk through the dispatcher is most of the cost.
bool lies_plainly(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

}  // namespace

at::Tensor dense_copy(const at::Tensor& tensor) {
  const Suppress quiet;
  if (!lies_plainly(tensor)) return tensor.detach().clone(at::MemoryFormat::Contiguous);
  at::Tensor copy = at::detail::empty_cpu(tensor.sizes(), tensor.options());
  if (copy.nbytes() > 0) std::memcpy(copy.mutable_data_ptr(), tensor.const_data_ptr(), copy.nbytes());
  return copy;
}

std::uint64_t content_hash(const at::Tensor& tensor) {
  const Suppress quiet;
  const at::Tensor dense =
      lies_plainly(tensor) ? tensor : tensor.detach().resolve_conj().resolve_neg().cpu().contiguous();
  return leapp::content_hash(std::span(static_cast<const std::byte*>(dense.const_data_ptr()), dense.nbytes()));
}

}  // namespace leapp::capture
