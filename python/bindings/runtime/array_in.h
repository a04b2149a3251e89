// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of Python, seen without a copy and without knowing which library made them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dlpack.h"
#include "leapp/base/dtype.h"

namespace leapp::python {

/// One array that a caller gave: a torch tensor, a NumPy array, anything with the buffer protocol or DLPack. Keeps the
/// array alive, reads it and never writes to it. Stays where it is: a buffer may point into itself. Needs Python's
/// lock.
class ArrayIn {
 public:
  ArrayIn() = default;
  ArrayIn(const ArrayIn&) = delete;
  ArrayIn& operator=(const ArrayIn&) = delete;
  ~ArrayIn();

  /// Looks at `value`. Raises, naming `where`, a TypeError when it is no array, and a ValueError when its memory cannot
  /// be read here.
  void open(nanobind::handle value, std::string_view where);

  /// Absent: a type that no port can have.
  [[nodiscard]] std::optional<DType> dtype() const { return dtype_; }
  [[nodiscard]] std::span<const std::int64_t> shape() const { return {shape_, rank_}; }
  /// "float32[1,48]", for messages.
  [[nodiscard]] std::string type_text() const;

  /// Writes the elements to `target`, dense and row-major.
  void copy_to(void* target) const;

 private:
  bool open_buffer(nanobind::handle value);
  bool open_bfloat16(nanobind::handle value);
  bool open_exchange(nanobind::handle value);
  bool open_capsule(nanobind::handle value);
  void see_buffer();
  void see_tensor(const dlpack::DLTensor& tensor);

  nanobind::object owner_;
  Py_buffer buffer_{};  ///< .obj is null when it is not in use
  dlpack::ManagedTensor* managed_ = nullptr;
  dlpack::ManagedTensorVersioned* versioned_ = nullptr;

  const std::byte* data_ = nullptr;
  std::optional<DType> dtype_;
  std::string unknown_type_;  ///< what it is called when there is no dtype_
  std::size_t width_ = 0;     ///< bytes of an element
  std::size_t rank_ = 0;
  const std::int64_t* shape_ = nullptr;
  const std::int64_t* strides_ = nullptr;  ///< null: dense, row-major
  std::int64_t stride_unit_ = 1;           ///< bytes
  std::int32_t device_ = dlpack::kCpu;
};

}  // namespace leapp::python
