// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_tensors.h"

#include <ATen/Functions.h>
#include <torch/library.h>

#include <algorithm>
#include <string_view>

#include "generator.h"
#include "memory.h"

namespace leapp::annex {
namespace {

void nothing(void* /*address*/) {}

// These take indices, lengths or split points in memory of the CPU, as they do on a GPU.
bool mixes_devices(const std::string& op) {
  constexpr std::string_view kMixing[] = {"aten::index",
                                          "aten::index_put_",
                                          "aten::_index_put_impl_",
                                          "aten::index_put",
                                          "aten::_pack_padded_sequence",
                                          "aten::bincount",
                                          "aten::_unsafe_index",
                                          "aten::_unsafe_index_put"};
  return std::find(std::begin(kMixing), std::end(kMixing), op) != std::end(kMixing);
}

bool is_write(const c10::Argument& argument) { return argument.alias_info() && argument.alias_info()->isWrite(); }

template <typename Visit>
void for_each_tensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) visit(item.toTensor());
    }
  }
}

template <typename Change>
c10::IValue changed(const c10::IValue& value, Change change) {
  if (value.isTensor()) return change(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(change(tensor));
    return tensors;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const c10::IValue& item : value.toListRef())
      tensors.push_back(item.isTensor() ? std::optional(change(item.toTensor())) : std::nullopt);
    return tensors;
  }
  return value;
}

}  // namespace

at::Tensor over(const c10::Storage& storage, c10::DispatchKeySet keys, const at::Tensor& like) {
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), keys, like.dtype());
  made.unsafeGetTensorImpl()->set_storage_offset(like.storage_offset());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
  if (like.is_conj()) made._set_conj(true);
  if (like.is_neg()) made._set_neg(true);
  return made;
}

const CpuTensors::Memory& CpuTensors::memory_of(const at::Tensor& tensor) {
  const auto [at, added] = memories_.try_emplace(tensor.storage().unsafeGetStorageImpl());
  if (added) {
    const c10::Storage& own = tensor.storage();
    void* bytes = reach(own.data(), own.device().index());
    // It may grow: then the CPU's allocator gives it memory of its own, and write_back() sees that.
    at->second = {own, c10::Storage(c10::Storage::use_byte_size_t(), own.nbytes(),
                                    c10::DataPtr(bytes, bytes, &nothing, c10::Device(c10::DeviceType::CPU)),
                                    c10::GetAllocator(c10::DeviceType::CPU), /*resizable=*/true)};
  }
  return at->second;
}

at::Tensor CpuTensors::to_cpu(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  if (tensor.device().type() != kType) {
    met_cpu_tensor_ = met_cpu_tensor_ || tensor.dim() > 0;
    others_.push_back(tensor.unsafeGetTensorImpl());
    return tensor;
  }
  TORCH_CHECK(tensor.layout() == at::kStrided, "annex: only dense tensors");
  TORCH_CHECK(pairs_.empty() || pairs_[0].own.device() == tensor.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ", pairs_[0].own.device(),
              " and ", tensor.device(), "!");
  device_ = tensor.device();
  for (const Pair& pair : pairs_) {
    if (pair.own.is_same(tensor)) return pair.on_cpu;
  }
  pairs_.push_back({tensor, over(memory_of(tensor).on_cpu, c10::DispatchKeySet(c10::DispatchKey::CPU), tensor)});
  return pairs_.back().on_cpu;
}

c10::IValue CpuTensors::to_cpu(const c10::IValue& value) {
  if (value.isDevice()) {
    if (!device_) device_ = value.toDevice();
    return c10::Device(c10::DeviceType::CPU);
  }
  if (value.isGenerator()) return cpu_generator(value.toGenerator());
  return changed(value, [this](const at::Tensor& tensor) { return to_cpu(tensor); });
}

const CpuTensors::Pair* CpuTensors::pair_of(const at::Tensor& on_cpu) const {
  for (const Pair& pair : pairs_) {
    if (pair.on_cpu.is_same(on_cpu)) return &pair;
  }
  return nullptr;
}

void CpuTensors::write_back(const at::Tensor& on_cpu) {
  const Pair* pair = pair_of(on_cpu);
  if (!pair) return;
  at::Tensor own = pair->own;
  const bool moved = on_cpu.storage().data() != reach(own.storage().data(), own.device().index());
  const bool same = on_cpu.sizes() == own.sizes() && on_cpu.strides() == own.strides();
  if (same && !moved) return;
  if (moved) {
    const at::Tensor fresh =
        at::empty_strided(on_cpu.sizes(), on_cpu.strides(), on_cpu.options().device(own.device())).copy_(on_cpu);
    own.storage().unsafeGetStorageImpl()->set_nbytes(fresh.storage().nbytes());
    c10::DataPtr data = fresh.storage().unsafeGetStorageImpl()->set_data_ptr(c10::DataPtr());
    own.storage().unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(data));
    own.unsafeGetTensorImpl()->set_storage_offset(0);
  }
  own.unsafeGetTensorImpl()->set_sizes_and_strides(on_cpu.sizes(), on_cpu.strides());
}

at::Tensor CpuTensors::to_device(const at::Tensor& result) {
  if (!result.defined() || result.device().type() == kType) return result;
  if (const Pair* pair = pair_of(result)) return pair->own;
  if (std::find(others_.begin(), others_.end(), result.unsafeGetTensorImpl()) != others_.end()) return result;
  if (!result.has_storage()) return result.to(*device_);
  for (const auto& [storage, memory] : memories_) {
    if (memory.on_cpu.unsafeGetStorageImpl() != result.storage().unsafeGetStorageImpl()) continue;
    return over(memory.own, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), result);
  }
  return at::empty_strided(result.sizes(), result.strides(), result.options().device(*device_)).copy_(result);
}

c10::IValue CpuTensors::to_device(const c10::IValue& value) {
  return changed(value, [this](const at::Tensor& tensor) { return to_device(tensor); });
}

void run_with_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  finish_work();
  const auto& schema = op.schema();
  const std::size_t count = schema.arguments().size();
  const std::size_t first = stack->size() - count;
  CpuTensors tensors;
  std::vector<c10::IValue> written;
  for (std::size_t i = 0; i < count; ++i) {
    c10::IValue& argument = (*stack)[first + i];
    argument = tensors.to_cpu(argument);
    if (is_write(schema.arguments()[i])) written.push_back(argument);
  }
  TORCH_CHECK(!tensors.met_own_tensor() || !tensors.met_cpu_tensor() || mixes_devices(schema.name()),
              "Expected all tensors to be on the same device, but found at least two devices, ", *tensors.device(),
              " and cpu! (", schema.operator_name(), ")");
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  for (const c10::IValue& argument : written)
    for_each_tensor(argument, [&](const at::Tensor& on_cpu) { tensors.write_back(on_cpu); });
  const std::size_t results = stack->size() - schema.returns().size();
  if (!tensors.device()) return;
  for (std::size_t i = results; i < stack->size(); ++i) (*stack)[i] = tensors.to_device((*stack)[i]);
}

}  // namespace leapp::annex

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&leapp::annex::run_with_cpu_kernel>());
}
