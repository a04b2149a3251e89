// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/result_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "capture/hook/arguments.h"
#include "capture/hook/op_info.h"

namespace leapp::capture {

void ResultBinder::bind(const PendingOp& op, const at::Tensor& output, ValuePtr value) {
  const auto& inputs = op.input_impls;
  if (std::find(inputs.begin(), inputs.end(), output.unsafeGetTensorImpl()) != inputs.end()) return;
  if (value->owner != 0 && !is_dense(output)) {
    state_.errors.note(unimplemented(fmt::format(
        "{}{} makes a {} tensor in node '{}': only dense tensors can be exported", op.info->qualified_name(),
        at_line(op.location), layout_text(output), state_.calls.name_of(value->owner))));
  }
  if (!op.shares_memory(output)) return state_.table.bind_content(output, std::move(value));
  if (op.of_unwritten) return;  // found by the memory it looks at, once there is something
  state_.table.note_part(output, op.input_impls);
  state_.table.bind_view(output, std::move(value));
}

void ResultBinder::bind_all(const PendingOp& op, const std::shared_ptr<TraceOp>& trace, std::size_t first,
                            c10::ArrayRef<c10::IValue> outputs) {
  std::vector<at::Tensor> tensors;  // all of them first: a result's type must be known even if the tensor is dropped
  for (const c10::IValue& output : outputs) {
    if (output.isTensor()) tensors.push_back(output.toTensor());
    if (is_tensor_list(output)) {
      for (const c10::IValue& item : output.toListRef()) tensors.push_back(item.toTensor());
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) {
      if (trace->results.size() <= first + i) trace->results.resize(first + i + 1);
      continue;
    }
    bind(op, tensors[i], state_.builder.result(trace, first + i, type_of(tensors[i])));
  }
}

}  // namespace leapp::capture
