// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What every device has to do itself: memory, views, copies. The rest is done by the CPU's kernels (cpu_tensors.h).
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/NativeFunctions.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "cpu_tensors.h"
#include "memory.h"

namespace leapp::annex {
namespace {

const c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

c10::Device device_or_current(std::optional<c10::Device> device) {
  return c10::Device(kType, device && device->has_index() ? device->index() : current_device());
}

void check_dense(std::optional<at::Layout> layout, std::optional<bool> pin_memory) {
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided, "annex: only dense tensors");
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                 std::optional<at::Device> device, std::optional<bool> pin_memory,
                 std::optional<at::MemoryFormat> memory_format) {
  check_dense(layout, pin_memory);
  const c10::DeviceGuard guard(device_or_current(device));
  return at::detail::empty_generic(size, allocator(), kKeys, c10::dtype_or_default(dtype), memory_format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout, std::optional<at::Device> device,
                         std::optional<bool> pin_memory) {
  check_dense(layout, pin_memory);
  const c10::DeviceGuard guard(device_or_current(device));
  return at::detail::empty_strided_generic(size, stride, allocator(), kKeys, c10::dtype_or_default(dtype));
}

void grow(const c10::Storage& storage, std::size_t bytes) {
  finish_work();
  const c10::DeviceGuard guard(storage.device());
  c10::DataPtr fresh = allocator()->allocate(bytes);
  const c10::DeviceIndex device = storage.device().index();
  const std::size_t kept = std::min(bytes, storage.nbytes());
  if (kept > 0) std::memcpy(reach(fresh.get(), device), reach(storage.data(), device), kept);
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(fresh));
  storage.unsafeGetStorageImpl()->set_nbytes(bytes);
}

void set_geometry(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  if (stride.empty() && !size.empty()) {
    impl->set_sizes_contiguous(size);
  } else {
    impl->set_sizes_and_strides(size, stride);
  }
  const std::size_t needed = at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.itemsize(),
                                                              static_cast<std::size_t>(self.storage_offset()));
  if (self.numel() > 0 && needed > self.storage().nbytes()) grow(self.storage(), needed);
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat> format) {
  set_geometry(self, size, {});
  if (format && *format != at::MemoryFormat::Preserve) self.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, std::int64_t offset, at::IntArrayRef size,
                        at::IntArrayRef stride) {
  TORCH_CHECK(source.device() == self.device(), "Attempted to set the storage of a tensor on device \"", self.device(),
              "\" to a storage on different device \"", source.device(), "\".");
  self.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(source));
  self.unsafeGetTensorImpl()->set_storage_offset(offset);
  set_geometry(self, size, stride);
  return self;
}

at::Tensor& set_empty(at::Tensor& self) {
  const at::Tensor nothing = at::empty({0}, self.options());
  return set_storage(self, nothing.storage(), 0, {0}, {});
}

std::atomic<std::int64_t> g_bytes_to_cpu = 0;

// Beside memory that is pinned the program goes on before a copy has been made, when it says that it may.
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  // Each by itself: they may be on two devices.
  const at::Tensor source = CpuTensors().to_cpu(from);
  const at::Tensor target = CpuTensors().to_cpu(to);
  const at::Tensor& on_cpu = from.is_cpu() ? from : to;
  if (non_blocking && on_cpu.is_cpu() && on_cpu.has_storage() && is_pinned(on_cpu.storage().data())) {
    postpone([from, to, source, target] { target.copy_(source); });
    return to;
  }
  finish_work();
  target.copy_(source);
  if (to.is_cpu()) g_bytes_to_cpu += static_cast<std::int64_t>(from.nbytes());
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}

void record_stream(at::Tensor& /*self*/, at::Stream /*stream*/) {}

void synchronize() { finish_work(); }
std::int64_t bytes_to_cpu() { return g_bytes_to_cpu; }
std::int64_t copies_left() { return static_cast<std::int64_t>(work_left()); }

}  // namespace

void resize_storage(const c10::Storage& storage, std::size_t bytes) { grow(storage, bytes); }

}  // namespace leapp::annex

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  namespace annex = leapp::annex;
  m.impl("empty.memory_format", &annex::empty);
  m.impl("empty_strided", &annex::empty_strided);
  m.impl("resize_", &annex::resize_);
  m.impl("set_", &annex::set_empty);
  m.impl("set_.source_Storage", TORCH_FN(at::native::set_));
  m.impl("set_.source_Storage_storage_offset", &annex::set_storage);
  m.impl("set_.source_Tensor", TORCH_FN(at::native::set_tensor_));
  m.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  m.impl("view", TORCH_FN(at::native::view));
  m.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  m.impl("unfold", TORCH_FN(at::native::unfold));
  m.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  m.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  m.impl("_copy_from", &annex::copy_from);
  m.impl("_copy_from_and_resize", &annex::copy_from_and_resize);
  m.impl("record_stream", &annex::record_stream);
}

TORCH_LIBRARY(annex, m) {
  m.def("synchronize() -> ()", &leapp::annex::synchronize);
  m.def("copies_left() -> int", &leapp::annex::copies_left);
  m.def("bytes_to_cpu() -> int", &leapp::annex::bytes_to_cpu);
}

// It looks at the bits itself: who resolves them copies, and would come here again.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
