// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <ATen/CPUGeneratorImpl.h>

#include <array>
#include <utility>

#include "memory.h"

namespace leapp::annex {
namespace {

class Generator final : public c10::GeneratorImpl {
 public:
  Generator(c10::DeviceIndex device, at::Generator cpu)
      : c10::GeneratorImpl(c10::Device(kType, device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        cpu_(std::move(cpu)) {}

  [[nodiscard]] const at::Generator& cpu() const { return cpu_; }

  void set_current_seed(std::uint64_t seed) override { cpu_.set_current_seed(seed); }
  void set_offset(std::uint64_t /*offset*/) override { TORCH_CHECK(false, "annex: its generators have no offset"); }
  [[nodiscard]] std::uint64_t get_offset() const override { return 0; }
  [[nodiscard]] std::uint64_t current_seed() const override { return cpu_.current_seed(); }
  std::uint64_t seed() override { return cpu_.seed(); }
  void set_state(const c10::TensorImpl& state) override { cpu_.unsafeGetGeneratorImpl()->set_state(state); }
  [[nodiscard]] c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return cpu_.unsafeGetGeneratorImpl()->get_state();
  }

 private:
  [[nodiscard]] Generator* clone_impl() const override { return new Generator(device_.index(), cpu_.clone()); }

  at::Generator cpu_;
};

}  // namespace

at::Generator make_generator(c10::DeviceIndex device) {
  const c10::DeviceIndex index = device < 0 ? current_device() : device;
  return at::make_generator<Generator>(index, at::detail::createCPUGenerator());
}

// Behind the default ones is the CPU's default: a seed gives the same numbers on both.
const at::Generator& default_generator(c10::DeviceIndex device) {
  static auto* made = new std::array<at::Generator, kDevices>{
      at::make_generator<Generator>(static_cast<c10::DeviceIndex>(0), at::detail::getDefaultCPUGenerator()),
      at::make_generator<Generator>(static_cast<c10::DeviceIndex>(1), at::detail::getDefaultCPUGenerator())};
  return made->at(static_cast<std::size_t>(device < 0 ? current_device() : device));
}

at::Generator cpu_generator(const at::Generator& generator) {
  if (!generator.defined() || generator.device().type() != kType) return generator;
  return static_cast<const Generator*>(generator.unsafeGetGeneratorImpl())->cpu();
}

}  // namespace leapp::annex
