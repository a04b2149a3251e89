// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/op_results.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"
#include "capture/recorder/tensor_content.h"
#include "capture/trace/row_counts.h"

namespace leapp::capture {
namespace {

constexpr std::size_t kMaxNumbers = 256;

// Whether `tensor` has what the operator was given, in no other form.
bool keeps_content(const PendingOp& op, const at::Tensor& tensor) {
  const OpClass kind = op.info->op_class();
  const bool keeping =
      kind == OpClass::kIdentity || kind == OpClass::kFilled || kind == OpClass::kCopy || kind == OpClass::kReshape;
  return keeping && op.identity && op.identity->type.dtype == tensor.scalar_type() &&
         c10::IntArrayRef(op.identity->type.sizes) == tensor.sizes();
}

// What the program computed between nodes from an output; null: nothing of that kind.
ValuePtr glue_of(const PendingOp& op) {
  if (!op.published) return nullptr;
  const bool glued = op.published->kind == TracedKind::kGlue;
  const Origin& from = *op.published->origin;
  return make_value(TracedKind::kGlue, {},
                    {.source = glued ? from.source : op.published,
                     .glue_op = glued ? from.glue_op : op.info->qualified_name(),
                     .location = glued ? from.location : op.location});
}

}  // namespace

void OpResults::in_node(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  const bool random = op.is_random();
  if (random && op.owner == 0) return drawn(op, outputs);
  if (is_published_whole(op, outputs)) return;
  switch (op.info->op_class()) {
    case OpClass::kFilled:
      state_.table.memories().note_filled(outputs[0].toTensor());
      return reshape(op, outputs[0].toTensor());
    case OpClass::kIdentity:
    case OpClass::kReshape:
      return reshape(op, outputs[0].toTensor());
    case OpClass::kAsStrided:
      return as_strided(op, outputs[0].toTensor());
    case OpClass::kAsStridedScatter:
      return mutation_.as_strided_scatter(op, outputs[0].toTensor());
    case OpClass::kFull:
      return full(op, outputs[0].toTensor());
    case OpClass::kFill:
      return mutation_.fill(op);
    case OpClass::kCopy:
      return mutation_.copy(op);
    case OpClass::kFillDiagonal:
      return mutation_.fill_diagonal(op);
    case OpClass::kBatchNorm:
      if (normalisation_.batch_norm(op, outputs)) return;
      break;
    case OpClass::kInstanceNorm:
      if (!normalisation_.instance_norm(op, outputs)) plain(op, outputs, random);
      return;
    case OpClass::kControl:
      return control(op, outputs);
    case OpClass::kUninitialised:
      return state_.table.memories().note_birth(outputs[0].toTensor());
    case OpClass::kMetadata:
    case OpClass::kIgnored:
      return;
    case OpClass::kPlain:
      break;
  }
  if (op.info->facts().inplace_view) return mutation_.inplace_view(op);
  op.written.empty() ? plain(op, outputs, random) : mutation_.write(op, outputs, random);
}

void OpResults::idle(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  const ValuePtr glue = glue_of(op);
  for (const PendingOp::Written& written : op.written) {
    const ValuePtr value = keeps_content(op, written.tensor) ? op.identity : glue;
    value ? state_.table.write(written.tensor, value) : state_.table.overwrite_unknown(written.tensor);
    note_outside(op, written.tensor);
  }
  if (!op.written.empty()) return;
  for (const c10::IValue& output : outputs) {
    for_each_tensor(output, [&](const at::Tensor& tensor) {
      const ValuePtr known = op.shares_memory(tensor) ? state_.table.find(tensor) : nullptr;
      if (known && known->kind == TracedKind::kPublished) return;
      if (const ValuePtr value = keeps_content(op, tensor) ? op.identity : glue) binder_.bind(op, tensor, value);
    });
  }
}

void OpResults::note_outside(const PendingOp& op, const at::Tensor& tensor) {
  const auto memory = state_.table.memories().memory(tensor);
  if (!memory) return;
  memory->outside().note({op.info, op.given, op.repeatable, geometry_of(tensor, memory->begin()), op.location,
                          WeakTensor(tensor.getIntrusivePtr())});
}

bool OpResults::fully_decomposed(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  if (op.owner == 0) {
    const auto fill = [&](const at::Tensor& tensor) { state_.table.memories().note_filled(tensor); };
    for (const c10::IValue& output : outputs) for_each_tensor(output, fill);
    for (const PendingOp::Written& written : op.written) fill(written.tensor);
    return true;
  }
  bool all_live = true;
  const auto check = [&](const at::Tensor& tensor) {
    const ValuePtr value = state_.table.find(tensor, op.owner);
    all_live = all_live && value && value->owner == op.owner;
  };
  for (const c10::IValue& output : outputs) for_each_tensor(output, check);
  for (const PendingOp::Written& written : op.written) check(written.tensor);
  return all_live;
}

void OpResults::plain(PendingOp& op, c10::ArrayRef<c10::IValue> outputs, bool random) {
  const auto trace = state_.builder.make(op.info, std::move(op.arguments), random);
  if (note_guard(op, trace, outputs)) return;
  if (op.owner != 0) {
    const std::string& node = state_.calls.name_of(op.owner);
    state_.escapes.check_arguments(op.owner, node, *trace);
    if (shape_depends_on_data(*trace)) state_.escapes.data_dependent_shape(node, *op.info, op.location);
  }
  if (!op.only_checked) note_numbers(op, trace, outputs);
  binder_.bind_all(op, trace, 0, outputs);
}

// What the program gets that is no tensor is out of sight from here on.
void OpResults::note_numbers(const PendingOp& op, const std::shared_ptr<TraceOp>& trace,
                             c10::ArrayRef<c10::IValue> outputs) {
  if (op.owner != 0) {
    for (const c10::IValue& output : outputs) {
      if (output.isTensor() || output.isNone() || is_tensor_list(output)) continue;
      state_.escapes.left(state_.calls.name_of(op.owner), op.info->qualified_name(), op.location);
      state_.escapes.number_left(op.owner, output, op.location);
    }
  } else if (outputs.size() == 1 && outputs[0].isScalar() && state_.numbers_of_constants.size() < kMaxNumbers) {
    auto value = std::make_shared<TracedValue>();
    value->op = trace;
    state_.numbers_of_constants.emplace_back(std::move(value), op.location);
  }
}

// The program may go one way or another from here on. True: nothing else leaves the graph through the operator.
bool OpResults::note_guard(const PendingOp& op, const std::shared_ptr<TraceOp>& trace,
                           c10::ArrayRef<c10::IValue> outputs) {
  if (op.only_checked || outputs.empty()) return false;
  const ActivationId activation = op.owner != 0 ? op.owner : state_.calls.only();
  if (outputs[0].isBool() && is_decision(*trace)) {
    const bool rows = AboutRows::asked();
    state_.guards.add(activation, {.op = trace, .rows = rows, .asked = rows, .taken = outputs[0].toBool()});
    return true;
  }
  if (!gives_rows(*trace)) return false;
  bool any = false;
  for_each_tensor(outputs[0], [&](const at::Tensor& tensor) { any = any || tensor.numel() > 0; });
  state_.guards.add(activation, {.op = trace, .rows = true, .taken = any});
  return false;
}

// A view of all of a published output (v[:], view_as) is that output.
bool OpResults::is_published_whole(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  if (op.owner != 0 || !op.written.empty() || outputs.size() != 1 || !outputs[0].isTensor()) return false;
  const at::Tensor& output = outputs[0].toTensor();
  if (!output.defined() || !op.shares_memory(output)) return false;
  const ValuePtr value = state_.table.find(output);
  return value && value->kind == TracedKind::kPublished;
}

// The same elements in another shape or as another type.
void OpResults::reshape(const PendingOp& op, const at::Tensor& output) {
  const ValuePtr& value = op.arguments[0].tensor;
  // A number in a tensor's place: the inside of an operator that had begun before the hook was there.
  if (!value) return;
  binder_.bind(op, output,
               op.info->op_class() == OpClass::kReshape ? state_.builder.reshape(value, output.sizes())
                                                        : state_.builder.cast(value, output.scalar_type()));
}

void OpResults::as_strided(const PendingOp& op, const at::Tensor& output) {
  // A view needs no entry: it is found by the memory it looks at.
  if (output.storage().unsafeGetStorageImpl() == op.self.storage().unsafeGetStorageImpl())
    return state_.table.note_part(output, op.input_impls);
  const Unrecorded quiet;
  const at::Tensor view =
      op.self.as_strided(op.arguments[1].attribute.toIntVector(), op.arguments[2].attribute.toIntVector(),
                         op.arguments[3].attribute.toOptional<std::int64_t>());
  binder_.bind(op, output, state_.table.operand(view, op.owner));
}

void OpResults::full(PendingOp& op, const at::Tensor& output) {
  const std::string& name = op.info->name();
  c10::Scalar fill = name == "aten::ones_like" || name == "aten::new_ones" ? 1 : 0;
  if (const int position = op.info->argument("fill_value"); position >= 0) {
    fill = op.arguments[static_cast<std::size_t>(position)].attribute.toScalar();
  }
  op.input_impls.clear();
  binder_.bind(op, output, state_.builder.full(output.sizes(), fill, output.scalar_type()));
}

// What it writes to is among what it reads, and its functional form gives the new content after the results.
void OpResults::control(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  std::vector<TraceArgument> arguments;
  for (const std::size_t i : {0U, 2U, 3U}) arguments.push_back(std::move(op.arguments[i]));
  const auto trace = state_.builder.make(op_info("leapp::control", ""), std::move(arguments));
  const std::size_t results = outputs[0].toListRef().size();
  for (std::size_t i = 0; i < op.written.size(); ++i) {
    const at::Tensor& tensor = op.written[i].tensor;
    state_.table.write(tensor, state_.builder.result(trace, results + i, type_of(tensor)));
  }
  binder_.bind_all(op, trace, 0, outputs);
}

// The node that is open draws, in every call of its own. Of several that are, nobody knows which it would be.
void OpResults::drawn(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  const ActivationId call = state_.calls.only();
  if (call == 0) return drawn_for_several(op, outputs);
  const Draw::Later later = op.draws_over_live ? Draw::Later::kAlways : Draw::Later::kUnknown;
  state_.builder.set_draw({.call = call, .generator = op.generator, .later = later});
  op.written.empty() ? plain(op, outputs, true) : mutation_.write(op, outputs, true);
  state_.builder.set_draw({});
  for (const PendingOp::Written& written : op.written) state_.table.note_drawn(written.tensor);
  for (const c10::IValue& output : outputs) {
    for_each_tensor(output, [&](const at::Tensor& tensor) { state_.table.note_drawn(tensor); });
  }
}

void OpResults::drawn_for_several(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  const ValuePtr value =
      make_value(TracedKind::kDrawn, {}, {.node = op.info->qualified_name(), .location = op.location});
  for (const PendingOp::Written& written : op.written) state_.table.write_constant(written.tensor, value);
  for (const c10::IValue& output : outputs) {
    for_each_tensor(output, [&](const at::Tensor& tensor) { binder_.bind(op, tensor, value); });
  }
}

}  // namespace leapp::capture
