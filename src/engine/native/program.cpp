// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/program.h"

#include <algorithm>
#include <new>

#include "engine/native/memory.h"

namespace leapp::native {

std::byte* Addresses::operator()(const PlannedAddress& place) const {
  switch (place.space) {
    case MemorySpace::kArena:
      return arena + place.offset;
    case MemorySpace::kConstant:
      return constants + place.offset;
    case MemorySpace::kInput:
      return inputs[place.port] + place.offset;
    case MemorySpace::kOutput:
      return outputs[place.port] + place.offset;
  }
  return nullptr;
}

AlignedMemory::AlignedMemory(std::size_t bytes, Content content) {
  const std::size_t size = std::max<std::size_t>(bytes, kAlignment);
  memory_.reset(static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment})));
  if (content == Content::kZero) std::memset(memory_.get(), 0, size);
}

void AlignedMemory::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{kAlignment});
}

void* Program::bind_args(const KernelCall& call, const AddressOf& address) {
  args_.push_back(std::make_unique<std::max_align_t[]>(call.args.size()));
  auto* bytes = reinterpret_cast<std::byte*>(args_.back().get());
  std::memcpy(bytes, call.args.data(), call.args_size);
  for (const Operand& operand : call.operands) {
    std::byte* at = address(operand.value);
    std::memcpy(bytes + operand.field, &at, sizeof(at));
  }
  for (std::size_t i = 0; i < call.blocks.size(); ++i) {
    const void* block = bind(call.blocks[i], address);
    std::memcpy(bytes + call.block_fields[i], &block, sizeof(block));
  }
  return bytes;
}

const BoundBlock* Program::bind(const Block& block, const AddressOf& address) {
  auto calls = std::make_unique<BoundCall[]>(block.size());
  for (std::size_t i = 0; i < block.size(); ++i) {
    calls[i] = {block[i].kernel->run, bind_args(block[i], address), &block[i]};
  }
  blocks_.push_back(std::make_unique<BoundBlock>(BoundBlock{calls.get(), calls.get() + block.size(), &failed_, stop_}));
  calls_.push_back(std::move(calls));
  return blocks_.back().get();
}

void move_constants(Plan& plan, std::byte* constants) {
  for (PlanValue& value : plan.values) {
    if (!value.constant) continue;
    const auto bytes = value.constant->view;
    const bool placed = value.view_of == kNoValue && value.place.space == MemorySpace::kConstant;
    if (placed && !bytes.empty()) {
      std::memcpy(constants + value.place.offset, bytes.data(), bytes.size());
      // Kernels may read what lies between two of them.
      const std::size_t end = value.place.offset + bytes.size();
      const std::size_t next = std::min(plan.constant_bytes, (end + kAlignment - 1) / kAlignment * kAlignment);
      std::memset(constants + end, 0, next - end);
    }
    value.constant = onnx::Bytes{};
  }
}

}  // namespace leapp::native
