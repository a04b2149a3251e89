// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The binary interface of DLPack 1.x, as far as it is used here: how array libraries hand tensors to each other.
// Layouts and names of members are fixed by that interface.
#pragma once

#include <cstdint>

namespace leapp::python::dlpack {

inline constexpr std::int32_t kCpu = 1;

enum class TypeCode : std::uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kBool = 6 };

struct DLDevice {
  std::int32_t device_type = kCpu;
  std::int32_t device_id = 0;
};

struct DataType {
  TypeCode code = TypeCode::kFloat;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
};

struct DLTensor {
  void* data = nullptr;
  DLDevice device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  ///< in elements; null: dense, row-major
  std::uint64_t byte_offset = 0;
};

struct Version {
  std::uint32_t major = 1;
  std::uint32_t minor = 0;
};

/// In a capsule named "dltensor".
struct ManagedTensor {
  DLTensor tensor;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;
};

/// In a capsule named "dltensor_versioned".
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensorVersioned*) = nullptr;
  std::uint64_t flags = 0;
  DLTensor tensor;
};

/// Functions of an array library, in the capsule `__dlpack_c_exchange_api__` of its array type: no call into Python, no
/// capsule per array. Each returns 0, or sets a Python exception.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous = nullptr;
  void* managed_tensor_allocator = nullptr;
  int (*managed_tensor_from_object)(void* object, ManagedTensorVersioned** out) = nullptr;
  int (*managed_tensor_to_object)(ManagedTensorVersioned* tensor, void** out_object) = nullptr;
  /// Borrows: what it fills is good for as long as the object lives and nobody changes it. May be null.
  int (*tensor_from_object)(void* object, DLTensor* out) = nullptr;
  void* current_work_stream = nullptr;
};

}  // namespace leapp::python::dlpack
