// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/storage_content.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "capture/hook/hook.h"
#include "capture/recorder/tensor_content.h"
#include "torch_types/host.h"

namespace leapp::capture {

ContentPtr StorageContent::content_before(const Geometry& place) const {
  const Suppress quiet;
  const std::int64_t usable = bytes_ / place.item_size() * place.item_size();
  return copied_content(bytes_before()
                            .narrow(0, 0, usable)
                            .view(place.dtype)
                            .as_strided(place.sizes, place.strides, place.byte_offset / place.item_size()));
}

void StorageContent::forget_before() {
  before_.reset();
  Memory::forget_before();
}

std::shared_ptr<ConstantCell> StorageContent::cell_before(at::ScalarType dtype, std::int64_t count) {
  const Suppress quiet;
  auto cell = std::make_shared<TensorCell>();
  const auto item = static_cast<std::int64_t>(c10::elementSize(dtype));
  // Never written: zeros, so that no call differs by what happened to lie there, and no model carries it.
  cell->tensor = use_.undefined() ? at::zeros({count}, at::TensorOptions().dtype(dtype).device(device_))
                                  : bytes_before().narrow(0, 0, count * item).view(dtype);
  return cell;
}

at::Tensor StorageContent::bytes_now() const {
  const Suppress quiet;
  at::Tensor bytes = at::zeros({bytes_}, at::kByte);
  for (const auto& weak : storages_) {
    const auto storage = weak.lock();
    if (!storage || storage->nbytes() == 0 || !storage->data() || device_.is_meta()) continue;
    const auto start = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(storage->data()) - begin_);
    const auto size = static_cast<std::int64_t>(storage->nbytes());
    bytes.narrow(0, start, size).copy_(on_host(bytes_over(c10::Storage(storage))));
  }
  return bytes;
}

void StorageContent::add_storage(const c10::Storage& storage) { storages_.emplace_back(storage.getWeakStorageImpl()); }

bool StorageContent::alive() {
  storages_.erase(
      std::remove_if(storages_.begin(), storages_.end(), [](const auto& storage) { return storage.expired(); }),
      storages_.end());
  return !storages_.empty();
}

void StorageContent::move_to(std::uintptr_t begin, std::int64_t bytes) {
  begin_ = begin;
  bytes_ = bytes;
}

void StorageContent::absorb(StorageContent& other) {
  const std::uintptr_t begin = std::min(begin_, other.begin_);
  const std::uintptr_t last = std::max(end(), other.end());
  const at::Tensor own_before = shift(static_cast<std::int64_t>(begin_ - begin));
  const at::Tensor other_before = other.shift(static_cast<std::int64_t>(other.begin_ - begin));
  const auto own_start = static_cast<std::int64_t>(begin_ - begin);
  const auto other_start = static_cast<std::int64_t>(other.begin_ - begin);
  layers_.append(std::make_move_iterator(other.layers_.begin()), std::make_move_iterator(other.layers_.end()));
  use_.absorb(other.use_);
  storages_.append(other.storages_.begin(), other.storages_.end());
  constants_.insert(constants_.end(), other.constants_.begin(), other.constants_.end());
  whole_.reset();
  epoch_ = std::max(epoch_, other.epoch_) + 1;
  move_to(begin, static_cast<std::int64_t>(last - begin));
  before_.reset();
  if (!own_before.defined() && !other_before.defined()) return;
  const Suppress quiet;
  before_ = bytes_now();
  if (other_before.defined()) before_.narrow(0, other_start, other_before.numel()).copy_(other_before);
  if (own_before.defined()) before_.narrow(0, own_start, own_before.numel()).copy_(own_before);
}

// The range is about to begin earlier. Gives what is kept of it.
at::Tensor StorageContent::shift(std::int64_t bytes) {
  for (Layer& layer : layers_) layer.geometry.byte_offset += bytes;
  use_.shift(bytes);
  for (const auto& weak : constants_) {
    const auto cell = weak.lock();
    if (!cell) continue;
    cell->place.byte_offset += bytes;
    for (Geometry& place : cell->covered) place.byte_offset += bytes;
  }
  return before_;
}

void StorageContent::detach_constants(std::vector<at::Tensor>& released, bool in_node) {
  const Suppress quiet;
  if (in_node && use_.is_first_write()) {
    const bool computed =
        std::any_of(layers_.begin(), layers_.end(), [](const Layer& l) { return is_operand(*l.value); });
    if (!computed) use_.note_kept();
    if (!computed && bytes_ <= kMaxKept) before_ = bytes_now();
  }
  if (in_node) use_.note_node_writes();
  for (const auto& weak : constants_) {
    const auto cell = std::static_pointer_cast<TensorCell>(weak.lock());
    if (!cell || !cell->by_reference) continue;
    at::Tensor copy = dense_copy(cell->tensor);
    released.push_back(std::exchange(cell->tensor, std::move(copy)));
    cell->by_reference = false;
    cell->overwritten = !use_.born_in_node();
  }
  constants_.clear();
}

}  // namespace leapp::capture
