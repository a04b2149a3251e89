// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/block_environment.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/trace/slice.h"
#include "capture/trace/to_graph.h"

namespace leapp::capture {
namespace {

const c10::StorageImpl* storage_of(const at::Tensor& tensor) { return tensor.storage().unsafeGetStorageImpl(); }

bool same_place(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.storage_offset() == b.storage_offset();
}

at::Tensor whole_memory(const at::Tensor& tensor) {
  const Unrecorded quiet;
  const auto count = static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.element_size());
  return at::empty({0}, tensor.options().requires_grad(false)).set_(tensor.storage(), 0, {count}, {1});
}

at::Tensor copied(const at::Tensor& tensor, bool zeros) {
  const at::Tensor copy = tensor.detach().clone();
  const bool whole_numbers = at::isIntegralType(copy.scalar_type(), /*includeBool=*/true);
  return zeros && whole_numbers ? copy.zero_() : copy;
}

/// Tensors by what they are, numbers by what they say.
std::vector<std::string> items_in(const c10::IValue& list) {
  std::vector<std::string> found;
  for (const c10::IValue& item : list.toListRef()) {
    std::ostringstream text;
    item.isTensor() ? text << static_cast<const void*>(item.toTensor().unsafeGetTensorImpl()) : text << item;
    found.push_back(std::move(text).str());
  }
  return found;
}

}  // namespace

void BlockEnvironment::add(const c10::IValue& value) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) add_tensor(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) add(item);
  } else if (value.isTuple()) {
    for (const c10::IValue& item : value.toTupleRef().elements()) add(item);
  } else if (value.isGenericDict()) {
    throw Unrecordable("it reads a dict");
  }
}

void BlockEnvironment::add_tensor(const at::Tensor& tensor) {
  if (!tensors_.emplace(tensor.unsafeGetTensorImpl(), tensor).second) return;
  if (!is_dense(tensor) || !tensor.has_storage() || !tensor.device().is_cpu()) {
    throw Unrecordable(fmt::format("it reads a {} tensor on {}", layout_text(tensor), tensor.device().str()));
  }
  const auto [known, fresh] = by_storage_.emplace(storage_of(tensor), parts_.size());
  if (fresh) return parts_.push_back({tensor, tensor});
  Part& part = parts_[known->second];
  if (part.first.scalar_type() != tensor.scalar_type()) throw Unrecordable("it reads one memory as two types");
  if (!same_place(part.first, tensor)) part.operand = whole_memory(tensor);
}

std::size_t BlockEnvironment::part_of(const at::Tensor& tensor) const {
  const auto found = by_storage_.find(storage_of(tensor));
  return found == by_storage_.end() ? parts_.size() : found->second;
}

BlockRecording::BlockRecording(const BlockEnvironment& world, Data data, BlockRecording* around)
    : world_(world),
      data_(data),
      around_(around),
      recorder_(std::make_shared<OpRecorder>(std::make_shared<FrontEnd>(), [this](const std::string& text) {
        if (complaint_.empty()) complaint_ = text;
      })) {
  record_.name = "scripted";
  {
    const auto guard = recorder_->lock();
    activation_ = recorder_->open(record_.name);
  }
  const Unrecorded quiet;
  for (std::size_t i = 0; i < world.size(); ++i) {
    const at::Tensor& outside = world.operand(i);
    at::Tensor whole = copied(whole_memory(outside), data_ == Data::kZeros);
    at::Tensor shadow = whole.as_strided(outside.sizes(), outside.strides(), outside.storage_offset());
    ValuePtr value = bind(fmt::format("x{}", i), shadow);
    parts_.push_back({std::move(shadow), std::move(whole), std::move(value)});
  }
}

BlockRecording::~BlockRecording() = default;

ValuePtr BlockRecording::bind(const std::string& name, const at::Tensor& tensor) {
  const ValuePtr value = make_value(TracedKind::kInput, type_of(tensor), {.port = name});
  const auto guard = recorder_->lock();
  value->owner = activation_;
  recorder_->table().bind_content(tensor, value);
  return value;
}

at::Tensor BlockRecording::add_input(const std::string& name, const at::Tensor& like) {
  const Unrecorded quiet;
  const at::Tensor own = copied(like, data_ == Data::kZeros);
  own_.emplace_back(own, bind(name, own));
  own_ports_.push_back({.name = name, .type = type_of(own), .source = std::nullopt});
  return own;
}

bool BlockRecording::is_written(const at::Tensor& input) {
  const auto guard = recorder_->lock();
  for (const auto& [own, value] : own_) {
    if (own.is_same(input)) return recorder_->table().operand(own, activation_) != value;
  }
  return false;
}

bool BlockRecording::is_written(std::size_t part) {
  const auto guard = recorder_->lock();
  return recorder_->table().operand(parts_[part].shadow, activation_) != parts_[part].value;
}

at::Tensor BlockRecording::shadow_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const auto known = shadows_.find(tensor.unsafeGetTensorImpl());
  if (known != shadows_.end()) return known->second;
  const std::size_t part = world_.part_of(tensor);
  if (!world_.has(tensor)) throw Unrecordable("it reads a tensor that was not there before");
  const Bound& memory = parts_[part];
  const Unrecorded quiet;
  const at::Tensor shadow = same_place(memory.shadow, tensor)
                                ? memory.shadow
                                : memory.whole.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  shadows_.emplace(tensor.unsafeGetTensorImpl(), shadow);
  return shadow;
}

c10::IValue BlockRecording::copied_list(const c10::IValue& value) {
  for (const Container& known : containers_) {
    if (known.outside.is(value)) return known.inside;
  }
  c10::impl::GenericList copy(value.toList().elementType());
  for (const c10::IValue& item : value.toListRef()) copy.push_back(inside(item));
  containers_.push_back({value, copy, items_in(copy)});
  return copy;
}

c10::IValue BlockRecording::inside(const c10::IValue& value) {
  if (value.isTensor()) return shadow_of(value.toTensor());
  if (value.isList()) return copied_list(value);
  if (!value.isTuple()) return value;
  std::vector<c10::IValue> items;
  for (const c10::IValue& item : value.toTupleRef().elements()) items.push_back(inside(item));
  return c10::ivalue::Tuple::create(std::move(items));
}

std::size_t BlockRecording::part_of(const at::Tensor& inside) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (storage_of(parts_[i].whole) == storage_of(inside)) return i;
  }
  return parts_.size();
}

void BlockRecording::check() {
  const Status error = recorder_->take_error();
  if (!error.ok()) throw Unrecordable(error.message());
  for (const Container& container : containers_) {
    if (items_in(container.inside) != container.items) throw Unrecordable("it changes a list");
  }
  const auto guard = recorder_->lock();
  if (!recorder_->guards().take(activation_).empty())
    throw Unrecordable("it decides on a value that cannot be followed");
  if (!complaint_.empty()) throw Unrecordable(complaint_);
  if (!recorder_->escapes().lengths().empty()) throw Unrecordable("a shape in it depends on data");
}

graph::Graph BlockRecording::graph(const std::vector<at::Tensor>& outputs, const std::vector<std::size_t>& parts) {
  record_.inputs = own_ports_;
  for (const std::size_t part : parts) {
    record_.inputs.push_back(
        {.name = fmt::format("x{}", part), .type = type_of(parts_[part].shadow), .source = std::nullopt});
  }
  record_.outputs.clear();
  record_.output_values.clear();
  {
    const auto guard = recorder_->lock();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      record_.outputs.push_back({.name = fmt::format("y{}", i), .type = type_of(outputs[i]), .source = std::nullopt});
      record_.output_values.push_back(recorder_->table().operand(outputs[i], activation_));
    }
  }
  check();
  const Slice slice = slice_of(record_.output_values);
  for (const TraceOp* op : slice.ops) {
    // Whether these are the same in every call is found out where they are operators of the node itself.
    if (op->draw.call != 0) throw Unrecordable("it draws random numbers from nothing that depends on data");
  }
  seal_constants(slice);
  auto made = to_graph(record_);
  if (!made.ok()) throw Unrecordable(made.status().message());
  return std::move(made).value();
}

}  // namespace leapp::capture
