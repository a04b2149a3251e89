// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "torch_types/host.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace leapp {
namespace {

// The usual case, for which a walk through the dispatcher is most of the cost.
bool lies_plainly(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

// A copy waits for the stream it is made on. What is read may be written to on another one, and nobody has told that
// stream to wait for us.
void wait_for(c10::Device device) {
  if (!c10::impl::hasDeviceGuardImpl(device.type())) return;
  const c10::impl::DeviceGuardImplInterface* guard = c10::impl::getDeviceGuardImpl(device.type());
  try {
    guard->synchronizeDevice(device.has_index() ? device.index() : guard->getDevice().index());
  } catch (const c10::Error&) {
    // A back end that cannot wait for all of its streams has one. What is wrong otherwise, the copy says.
  }
}

struct Copies {
  std::atomic<bool> any = false;
  std::mutex mutex;
  std::vector<c10::Device> from;
};

Copies& copies() {
  static auto* under_way = new Copies();
  return *under_way;
}

void wait_for_copies() {
  if (!copies().any.load(std::memory_order_acquire)) return;
  std::vector<c10::Device> devices;
  {
    const std::lock_guard lock(copies().mutex);
    devices = std::exchange(copies().from, {});
    copies().any.store(false, std::memory_order_release);
  }
  for (const c10::Device& device : devices) wait_for(device);
}

}  // namespace

at::Tensor on_host(const at::Tensor& tensor) {
  wait_for_copies();
  if (lies_plainly(tensor)) return tensor;
  if (!tensor.device().is_cpu()) wait_for(tensor.device());
  return tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
}

at::Tensor copied_to_host(const at::Tensor& tensor) {
  const at::Tensor dense = on_host(tensor);
  if (!dense.is_same(tensor) && !(tensor.has_storage() && dense.is_alias_of(tensor))) return dense;
  at::Tensor copy = at::detail::empty_cpu(dense.sizes(), dense.options());
  if (copy.nbytes() > 0) std::memcpy(copy.mutable_data_ptr(), dense.const_data_ptr(), copy.nbytes());
  return copy;
}

at::Tensor bytes_over(const c10::Storage& storage) {
  const c10::DispatchKey key = c10::computeDispatchKey(at::kByte, at::kStrided, storage.device());
  at::Tensor bytes = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), c10::DispatchKeySet(key),
                                                              caffe2::TypeMeta::Make<std::uint8_t>());
  bytes.unsafeGetTensorImpl()->set_sizes_contiguous({static_cast<std::int64_t>(storage.nbytes())});
  return bytes;
}

void note_copy_under_way(c10::Device device) {
  const std::lock_guard lock(copies().mutex);
  std::vector<c10::Device>& from = copies().from;
  if (std::find(from.begin(), from.end(), device) == from.end()) from.push_back(device);
  copies().any.store(true, std::memory_order_release);
}

}  // namespace leapp
