// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder.h"

#include <ATen/functorch/TensorWrapper.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "capture/arguments.h"
#include "capture/hook.h"
#include "capture/op_info.h"
#include "capture/result_types.h"

namespace leapp::capture {
namespace {

std::uint32_t version_of(const at::Tensor& tensor) {
  const c10::VariableVersion& counter = tensor.unsafeGetTensorImpl()->version_counter();
  return counter.enabled() ? counter.current_version() : 0;
}

// What torch.func left behind after a transform ended (the saved tensors of vjp) is the tensor inside.
at::Tensor without_dead_wrapper(const at::Tensor& tensor) {
  if (!tensor.unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::FuncTorchGradWrapper)) return tensor;
  const at::functorch::TensorWrapper* wrapper = at::functorch::maybeGetTensorWrapper(tensor);
  return wrapper && !wrapper->is_alive() ? without_dead_wrapper(wrapper->value()) : tensor;
}

constexpr std::size_t kMaxNumbers = 256;

bool contains(const auto& list, const auto* item) { return std::find(list.begin(), list.end(), item) != list.end(); }

}  // namespace

Recorder::Recorder(std::shared_ptr<FrontEnd> front_end, Warn warn)
    : front_end_(std::move(front_end)),
      warn_(std::move(warn)),
      builder_([this](const OpInfo& op, LocationId where, ActivationId first, ActivationId second) {
        note_error(failed_precondition(fmt::format(
            "{}{} mixes values of two open nodes, '{}' and '{}': close one with output_tensors first and announce "
            "its output to the other with input_tensors",
            op.qualified_name(), at_line(where), name_of(first), name_of(second))));
      }),
      table_(builder_),
      escapes_(warn_) {}

Status Recorder::take_error() {
  const std::lock_guard guard(error_mutex_);
  return std::exchange(error_, Status());
}

void Recorder::note_error(Status status) {
  const std::lock_guard guard(error_mutex_);
  if (error_.ok()) error_ = std::move(status);
}

ActivationId Recorder::open(const std::string& node) {
  if (open_.empty()) {
    table_.begin();
    numbers_.clear();
  }
  open_[++next_activation_] = node;
  open_count_ = static_cast<int>(open_.size());
  return next_activation_;
}

Survivors Recorder::close(ActivationId activation, std::uint64_t pass) {
  const std::string node = name_of(activation);
  open_.erase(activation);
  open_count_ = static_cast<int>(open_.size());
  escapes_.close(activation);
  guards_.close(activation);
  return table_.close(activation, node, pass, open_.empty());
}

const std::string& Recorder::name_of(ActivationId activation) const {
  static const std::string closed = "(closed)";
  const auto found = open_.find(activation);
  return found == open_.end() ? closed : found->second;
}

bool Recorder::begin(PendingOp& op, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs) {
  try {
    return begin_unguarded(op, info, inputs);
  } catch (const std::exception& failure) {
    note_error(internal_error(fmt::format("recording {}: {}", info.qualified_name(), failure.what())));
    return false;
  }
}

bool Recorder::begin_unguarded(PendingOp& op, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs) {
  if (info.op_class() == OpClass::kMetadata) return false;
  const bool in_node = open_count_.load() > 0;
  if (!in_node) {
    // New memory and zeros_like have nothing of the tensor they are like.
    if (info.op_class() == OpClass::kUninitialised || info.op_class() == OpClass::kFull) return false;
    const auto guard = lock();
    if (!touches_known(info, inputs)) return false;
  }
  op.info = &info;
  op.location = front_end_->location();  // may wait for Python's lock: ours must not be held
  op.only_checked =
      in_node && !info.returns_tensor() && !info.schema().returns().empty() && front_end_->is_only_checked();
  const bool writes = in_node && !info.writes().empty() && !info.inplace_view();
  if (writes && info.twin().op) op.twin_dtypes = result_dtypes(info.twin(), inputs);
  std::vector<TensorTable::Unnamed> unnamed;
  {
    const auto guard = lock();
    builder_.set_current(&info, op.location);
    op.in_node = !open_.empty();
    op.in_node ? gather(op, inputs) : gather_idle(op, inputs);
    gather_written(op, inputs);
    unnamed = table_.take_unnamed();
  }
  // Likewise. What it learns comes back through set_name.
  if (!unnamed.empty() && front_end_->name_parameters()) {
    const auto guard = lock();
    for (const TensorTable::Unnamed& constant : unnamed) table_.name_again(constant);
  }
  return true;
}

bool Recorder::touches_known(const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs) {
  bool known = false;
  for (const std::size_t written : info.writes()) {
    for_each_tensor(inputs[written], [&](const at::Tensor& tensor) { known = known || table_.knows_memory(tensor); });
  }
  for (const c10::IValue& input : inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) { known = known || table_.find(tensor) != nullptr; });
  }
  return known;
}

void Recorder::gather_written(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs) {
  const bool writes_content = op.info->op_class() != OpClass::kIgnored && !op.info->inplace_view();
  const auto add = [&](std::size_t argument) {
    for_each_tensor(inputs[argument], [&](const at::Tensor& tensor) {
      op.written.push_back({tensor, argument, version_of(tensor)});
      if (writes_content) table_.about_to_write(tensor, op.in_node);
    });
  };
  for (const std::size_t written : op.info->writes()) add(written);
  const bool hidden = op.info->op_class() == OpClass::kBatchNorm || op.info->op_class() == OpClass::kInstanceNorm;
  if (!hidden || !flag(op, {"training", "train", "use_input_stats"})) return;
  for (const char* name : {"running_mean", "running_var"}) {
    const int position = op.info->argument(name);
    const auto& stated = op.info->writes();
    if (position < 0 || std::find(stated.begin(), stated.end(), static_cast<std::size_t>(position)) != stated.end())
      continue;
    add(static_cast<std::size_t>(position));
  }
}

// No node is open: only what happens to published outputs matters.
void Recorder::gather_idle(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs) {
  bool first = true;
  for (const c10::IValue& input : inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      op.input_impls.push_back(tensor.unsafeGetTensorImpl());
      if (tensor.has_storage()) op.input_storages.push_back(tensor.storage().unsafeGetStorageImpl());
      ValuePtr value = table_.find(tensor);
      const bool source = op.info->op_class() == OpClass::kCopy ? op.input_impls.size() == 2 : first;
      if (source) op.identity = value;
      first = false;
      if (value && (value->kind == TracedKind::kPublished || value->kind == TracedKind::kGlue)) op.published = value;
    });
    op.arguments.push_back(TraceArgument::of(c10::IValue()));
  }
}

ActivationId Recorder::preferred(c10::ArrayRef<const c10::IValue> inputs) {
  ActivationId found = only_open();
  if (found != 0) return found;
  for (const c10::IValue& input : inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      if (found != 0) return;
      if (const ValuePtr value = table_.find_own(tensor)) found = value->owner;
    });
  }
  return found;
}

ValuePtr Recorder::operand(PendingOp& op, const at::Tensor& given, ActivationId preferred) {
  const at::Tensor tensor = without_dead_wrapper(given);
  op.input_impls.push_back(tensor.unsafeGetTensorImpl());
  if (tensor.has_storage()) op.input_storages.push_back(tensor.storage().unsafeGetStorageImpl());
  return table_.operand(tensor, preferred);
}

TraceArgument Recorder::argument(PendingOp& op, const c10::IValue& value, ActivationId preferred) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined()) return TraceArgument::of(c10::IValue());
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return TraceArgument::of(wrapped_number(tensor));
    return TraceArgument::of(operand(op, tensor, preferred));
  }
  if (!is_tensor_list(value)) return TraceArgument::of(frozen(value));
  std::vector<ValuePtr> values;
  for (const c10::IValue& item : value.toListRef()) {
    const bool present = item.isTensor() && item.toTensor().defined();
    values.push_back(present ? operand(op, item.toTensor(), preferred) : nullptr);
  }
  return TraceArgument::of(std::move(values));
}

void Recorder::gather(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs) {
  const OpInfo& info = *op.info;
  const ActivationId preference = preferred(inputs);
  op.arguments.reserve(inputs.size());
  const std::size_t source = info.op_class() == OpClass::kCopy ? 1 : 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    op.arguments.push_back(info.reads(i) ? argument(op, inputs[i], preference) : TraceArgument::of(c10::IValue()));
    if (i == source && inputs[i].isTensor() && inputs[i].toTensor().defined()) {
      op.self = info.op_class() == OpClass::kAsStrided || info.op_class() == OpClass::kAsStridedScatter
                    ? inputs[i].toTensor()
                    : at::Tensor();
    }
  }
  op.owner = owner_of(op.arguments);
}

bool Recorder::is_random(const PendingOp& op) const {
  if (!op.info->may_be_random()) return false;
  for (const char* name : {"train", "training"}) {
    if (op.info->argument(name) >= 0 && !flag(op, {name})) return false;
  }
  for (const char* name : {"p", "dropout_p", "dropout"}) {
    const int position = op.info->argument(name);
    if (position < 0) continue;
    const c10::IValue& value = op.arguments[static_cast<std::size_t>(position)].attribute;
    if (value.isDouble() && value.toDouble() == 0.0) return false;
  }
  return true;
}

bool Recorder::explained(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  const auto guard = lock();
  if (op.owner == 0) return true;
  bool all_live = true;
  const auto check = [&](const at::Tensor& tensor) {
    const ValuePtr value = table_.find(tensor, op.owner);
    all_live = all_live && value && value->owner == op.owner;
  };
  for (const c10::IValue& output : outputs) for_each_tensor(output, check);
  for (const PendingOp::Written& written : op.written) check(written.tensor);
  if (all_live) return true;
  warn_(fmt::format("{}the model of node '{}' needs the library that provides {} to run", line_prefix(op.location),
                    name_of(op.owner), op.info->qualified_name()));
  return false;
}

void Recorder::abandon(PendingOp& op) {
  const auto guard = lock();
  for (const PendingOp::Written& written : op.written) {
    // torch checks shapes and types before it writes, and counts the write after it.
    if (version_of(written.tensor) != written.version) table_.overwrite_unknown(written.tensor);
  }
}

void Recorder::finish(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  try {
    const auto guard = lock();
    builder_.set_current(op.info, op.location);
    op.in_node ? finish_locked(op, outputs) : finish_idle(op, outputs);
  } catch (const std::exception& failure) {
    note_error(internal_error(
        fmt::format("recording {}{}: {}", op.info->qualified_name(), at_line(op.location), failure.what())));
  }
}

void Recorder::finish_locked(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  const bool random = is_random(op);
  if (random && op.owner == 0) return finish_drawn(op, outputs);
  if (is_published_whole(op, outputs)) return;
  const OpClass kind = op.info->op_class();
  const bool keeps_elements = kind == OpClass::kIdentity || kind == OpClass::kReshape;
  // A number in a tensor's place: the inside of an operator that had begun before the hook was there.
  if (keeps_elements && !op.arguments[0].tensor) return;
  switch (kind) {
    case OpClass::kIdentity:
      return finish_identity(op, outputs[0].toTensor());
    case OpClass::kReshape:
      return bind_result(op, outputs[0].toTensor(),
                         builder_.reshape(op.arguments[0].tensor, outputs[0].toTensor().sizes()));
    case OpClass::kAsStrided: {
      // A view needs no entry: it is found by the memory it looks at.
      const at::Tensor& output = outputs[0].toTensor();
      if (output.storage().unsafeGetStorageImpl() == op.self.storage().unsafeGetStorageImpl())
        return table_.note_part(output, op.input_impls);
      const Unrecorded quiet;
      const at::Tensor view =
          op.self.as_strided(op.arguments[1].attribute.toIntVector(), op.arguments[2].attribute.toIntVector(),
                             op.arguments[3].attribute.toOptional<std::int64_t>());
      return bind_result(op, output, table_.operand(view, op.owner));
    }
    case OpClass::kAsStridedScatter:
      return finish_as_strided_scatter(op, outputs[0].toTensor());
    case OpClass::kFull:
      return finish_full(op, outputs[0].toTensor());
    case OpClass::kFill:
      return finish_fill(op);
    case OpClass::kCopy:
      return finish_copy(op);
    case OpClass::kBatchNorm:
      return finish_batch_norm(op, outputs);
    case OpClass::kInstanceNorm:
      return finish_instance_norm(op, outputs);
    case OpClass::kUninitialised:
      return table_.note_birth(outputs[0].toTensor());
    case OpClass::kFillDiagonal:
      return finish_fill_diagonal(op);
    case OpClass::kMetadata:
    case OpClass::kIgnored:
      return;
    case OpClass::kPlain:
      break;
  }
  if (op.info->inplace_view()) return finish_inplace_view(op);
  op.written.empty() ? finish_plain(op, outputs, random) : finish_write(op, outputs, random);
}

// A view of all of a published output (v[:], view_as) is that output.
bool Recorder::is_published_whole(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  if (op.owner != 0 || !op.written.empty() || outputs.size() != 1 || !outputs[0].isTensor()) return false;
  const at::Tensor& output = outputs[0].toTensor();
  if (!output.defined() || !output.has_storage()) return false;
  if (!contains(op.input_storages, output.storage().unsafeGetStorageImpl())) return false;
  const ValuePtr value = table_.find(output);
  return value && value->kind == TracedKind::kPublished;
}

// The program may go one way or another from here on. True: nothing else leaves the graph through the operator.
bool Recorder::note_guard(const PendingOp& op, const std::shared_ptr<TraceOp>& trace,
                          c10::ArrayRef<c10::IValue> outputs) {
  if (op.only_checked || outputs.empty()) return false;
  const ActivationId activation = op.owner != 0 ? op.owner : only_open();
  if (outputs[0].isBool() && is_decision(*trace)) {
    guards_.add(activation, {.op = trace, .taken = outputs[0].toBool()});
    return true;
  }
  if (!gives_rows(*trace)) return false;
  bool any = false;
  for_each_tensor(outputs[0], [&](const at::Tensor& tensor) { any = any || tensor.numel() > 0; });
  guards_.add(activation, {.op = trace, .rows = true, .taken = any});
  return false;
}

void Recorder::finish_plain(PendingOp& op, c10::ArrayRef<c10::IValue> outputs, bool random) {
  const auto trace = builder_.make(op.info, std::move(op.arguments), random);
  if (note_guard(op, trace, outputs)) return;
  if (op.owner != 0) {
    const std::string& node = name_of(op.owner);
    escapes_.check_arguments(op.owner, node, *trace);
    if (shape_depends_on_data(*trace)) escapes_.data_dependent_shape(node, *op.info, op.location);
    for (const c10::IValue& output : outputs) {
      if (output.isTensor() || output.isNone() || is_tensor_list(output) || op.only_checked) continue;
      escapes_.left(node, op.info->qualified_name(), op.location);
      escapes_.number_left(op.owner, output, op.location);
    }
  } else if (outputs.size() == 1 && outputs[0].isScalar() && !op.only_checked && numbers_.size() < kMaxNumbers) {
    auto value = std::make_shared<TracedValue>();
    value->op = trace;
    numbers_.emplace_back(std::move(value), op.location);
  }
  bind_results(op, trace, 0, outputs);
}

void Recorder::bind_results(PendingOp& op, const std::shared_ptr<TraceOp>& trace, std::size_t first,
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
    bind_result(op, tensors[i], builder_.result(trace, first + i, type_of(tensors[i])));
  }
}

void Recorder::bind_result(PendingOp& op, const at::Tensor& output, ValuePtr value) {
  if (contains(op.input_impls, output.unsafeGetTensorImpl())) return;
  if (value->owner != 0 && !is_dense(output)) {
    note_error(unimplemented(fmt::format("{}{} makes a {} tensor in node '{}': only dense tensors can be exported",
                                         op.info->qualified_name(), at_line(op.location), layout_text(output),
                                         name_of(value->owner))));
  }
  const bool view = output.has_storage() && contains(op.input_storages, output.storage().unsafeGetStorageImpl());
  if (view) table_.note_part(output, op.input_impls);
  view ? table_.bind_view(output, std::move(value)) : table_.bind_content(output, std::move(value));
}

void Recorder::finish_identity(PendingOp& op, const at::Tensor& output) {
  bind_result(op, output, builder_.cast(op.arguments[0].tensor, output.scalar_type()));
}

void Recorder::finish_full(PendingOp& op, const at::Tensor& output) {
  const std::string& name = op.info->name();
  c10::Scalar fill = name == "aten::ones_like" || name == "aten::new_ones" ? 1 : 0;
  if (const int position = op.info->argument("fill_value"); position >= 0) {
    fill = op.arguments[static_cast<std::size_t>(position)].attribute.toScalar();
  }
  op.input_impls.clear();
  bind_result(op, output, builder_.full(output.sizes(), fill, output.scalar_type()));
}

void Recorder::finish_drawn(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  const ValuePtr value =
      make_value(TracedKind::kDrawn, {}, {.node = op.info->qualified_name(), .location = op.location});
  for (const PendingOp::Written& written : op.written) table_.write_constant(written.tensor, value);
  for (const c10::IValue& output : outputs) {
    for_each_tensor(output, [&](const at::Tensor& tensor) { bind_result(op, tensor, value); });
  }
}

void Recorder::finish_idle(PendingOp& op, c10::ArrayRef<c10::IValue> outputs) {
  const auto keeps = [&](const at::Tensor& tensor) {
    const OpClass kind = op.info->op_class();
    const bool keeping = kind == OpClass::kIdentity || kind == OpClass::kCopy || kind == OpClass::kReshape;
    return keeping && op.identity && op.identity->type.dtype == tensor.scalar_type() &&
           c10::IntArrayRef(op.identity->type.sizes) == tensor.sizes();
  };
  ValuePtr glue;
  if (op.published) {
    const bool glued = op.published->kind == TracedKind::kGlue;
    const Origin& from = *op.published->origin;
    glue = make_value(TracedKind::kGlue, {},
                      {.source = glued ? from.source : op.published,
                       .glue_op = glued ? from.glue_op : op.info->qualified_name(),
                       .location = glued ? from.location : op.location});
  }
  for (const PendingOp::Written& written : op.written) {
    const ValuePtr value = keeps(written.tensor) ? op.identity : glue;
    value ? table_.write(written.tensor, value) : table_.overwrite_unknown(written.tensor);
  }
  if (!op.written.empty()) return;
  for (const c10::IValue& output : outputs) {
    for_each_tensor(output, [&](const at::Tensor& tensor) {
      const bool view = tensor.has_storage() && contains(op.input_storages, tensor.storage().unsafeGetStorageImpl());
      const ValuePtr known = view ? table_.find(tensor) : nullptr;
      if (known && known->kind == TracedKind::kPublished) return;
      if (const ValuePtr value = keeps(tensor) ? op.identity : glue) bind_result(op, tensor, value);
    });
  }
}

void Recorder::note_escape(const at::Tensor& tensor, const std::string& how) {
  if (front_end_->is_only_checked()) return;
  const LocationId where = front_end_->location();
  const auto guard = lock();
  const ValuePtr value = table_.find(tensor);
  if (value && open_.contains(value->owner)) escapes_.left(name_of(value->owner), how, where);
}

}  // namespace leapp::capture
