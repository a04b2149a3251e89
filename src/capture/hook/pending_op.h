// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "capture/trace/trace.h"

namespace leapp::capture {

/// An operator between its start and its end.
struct PendingOp {
  const OpInfo* info = nullptr;
  std::vector<TraceArgument> arguments;
  LocationId location = 0;
  ActivationId owner = 0;
  bool in_node = false;       ///< some node was open when it began
  bool only_checked = false;  ///< the number it gives is looked at by checks of a library and nobody else

  struct Written {
    at::Tensor tensor;
    std::size_t argument;
    std::uint32_t version;  ///< before the operator ran
  };
  std::vector<Written> written;
  std::optional<std::vector<at::ScalarType>> twin_dtypes;  ///< of the functional form's results, where torch can tell

  c10::SmallVector<const c10::TensorImpl*, 6> input_impls;
  c10::SmallVector<const c10::StorageImpl*, 6> input_storages;
  ValuePtr identity;   ///< what the first tensor argument holds (the source, for copy_)
  at::Tensor self;     ///< kept only where the class of the operator needs it
  ValuePtr published;  ///< some published output among the arguments

  bool of_unwritten = false;     ///< it gives a view of memory that nobody has written to yet
  std::uint64_t generator = 0;   ///< hash of the state of the generator it draws from, before it ran
  bool draws_over_live = false;  ///< random numbers that are written over something live

  std::vector<c10::IValue> given;  ///< no node is open: its arguments, None for tensors
  bool repeatable = false;         ///< likewise: it reads no tensor but the one that it writes to

  /// Whether `tensor` lies in memory of one of the arguments.
  [[nodiscard]] bool shares_memory(const at::Tensor& tensor) const;
  /// Whether it draws: an operator that may, with arguments that make it so.
  [[nodiscard]] bool is_random() const;
};

/// How often `tensor` has been written to, as torch counts.
[[nodiscard]] std::uint32_t version_of(const at::Tensor& tensor);

}  // namespace leapp::capture
