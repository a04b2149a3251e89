// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "capture/trace/trace.h"

namespace leapp::capture {

struct PendingOp;

/// A list of tensors or of optional tensors, empty ones included when their type says so.
bool is_tensor_list(const c10::IValue& value);

/// Calls `visit(const at::Tensor&)` for every defined tensor in `value`.
template <typename Visit>
void for_each_tensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (is_tensor_list(value)) {
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) visit(item.toTensor());
    }
  }
}

/// The number behind a Python scalar that was passed where the schema says Tensor.
c10::IValue wrapped_number(const at::Tensor& tensor);

/// A copy nobody else can change: the TorchScript interpreter shares its lists with us. Generators become None. So do
/// devices and pinned memory: where tensors lie is the business of who runs the model.
c10::IValue frozen(const c10::IValue& value, const c10::Argument& formal);

/// The activation some operand is live in; 0: none.
ActivationId owner_of(const std::vector<TraceArgument>& arguments);

/// Whether the first of these arguments that exists is true.
bool flag(const PendingOp& op, std::initializer_list<const char*> names);

/// By its schema's tag, less the cases in which the tag is too broad.
bool shape_depends_on_data(const TraceOp& op);

ValueType type_of(const at::Tensor& tensor);

bool is_dense(const at::Tensor& tensor);

/// "strided", "sparse_coo", "quantised", "nested"
std::string layout_text(const at::Tensor& tensor);

}  // namespace leapp::capture
