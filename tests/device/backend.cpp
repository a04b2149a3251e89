// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// How torch learns of the device: its allocator, its guard, its hooks, its autocast.
#include <ATen/autocast_mode.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include "generator.h"
#include "memory.h"

namespace leapp::annex {

void resize_storage(const c10::Storage& storage, std::size_t bytes);

namespace {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  Guard() = default;
  explicit Guard(c10::DeviceType /*type*/) {}

  [[nodiscard]] c10::DeviceType type() const override { return kType; }
  [[nodiscard]] c10::Device exchangeDevice(c10::Device device) const override {
    return {kType, exchange_device(device.index())};
  }
  [[nodiscard]] c10::Device getDevice() const override { return {kType, current_device()}; }
  void setDevice(c10::Device device) const override { exchange_device(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { exchange_device(device.index()); }
  [[nodiscard]] c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }

  // There is one stream.
  [[nodiscard]] c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  [[nodiscard]] c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  [[nodiscard]] c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  [[nodiscard]] bool queryStream(const c10::Stream& /*stream*/) const override { return work_left() == 0; }
  void synchronizeStream(const c10::Stream& /*stream*/) const override { finish_work(); }
  void synchronizeDevice(const c10::DeviceIndex /*device*/) const override { finish_work(); }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  [[nodiscard]] bool isBuilt() const override { return true; }
  [[nodiscard]] bool isAvailable() const override { return true; }
  [[nodiscard]] bool hasPrimaryContext(c10::DeviceIndex /*device*/) const override { return true; }
  [[nodiscard]] c10::DeviceIndex deviceCount() const override { return kDevices; }
  [[nodiscard]] c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { exchange_device(device); }
  [[nodiscard]] c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return exchange_device(device);
  }
  [[nodiscard]] c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return exchange_device(device);
  }
  [[nodiscard]] bool isPinnedPtr(const void* address) const override { return is_pinned(address); }
  [[nodiscard]] c10::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  [[nodiscard]] const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device);
  }
  [[nodiscard]] at::Generator getNewGenerator(c10::DeviceIndex device) const override { return make_generator(device); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    resize_storage(storage, bytes);
  }
};

[[maybe_unused]] const bool kRegistered = [] {
  c10::SetAllocator(kType, allocator());
  at::RegisterPrivateUse1HooksInterface(new Hooks());
  return true;
}();

}  // namespace

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

}  // namespace leapp::annex

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

// The operators that CUDA casts down, as far as policies have them, and some that it computes in 32 bits.
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  KERNEL_PRIVATEUSEONE(addmm, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(baddbmm, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(bmm, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(conv1d, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(conv2d, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(linear, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(matmul, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(mm, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(exp, fp32)
  KERNEL_PRIVATEUSEONE(log, fp32)
  KERNEL_PRIVATEUSEONE(layer_norm, fp32)
  KERNEL_PRIVATEUSEONE(softmax, int, fp32)
  KERNEL_PRIVATEUSEONE(cat, promote)
}
