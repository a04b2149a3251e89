// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "capture/recorder/geometry.h"
#include "capture/trace/trace.h"

namespace leapp::capture {

/// Something that the program did to a memory while no node was open.
struct OutsideWrite {
  const OpInfo* info = nullptr;
  std::vector<c10::IValue> arguments;  ///< in the order of the schema; None for the tensor that is written to
  bool repeatable = false;             ///< it depends on nothing but these
  Geometry place;
  LocationId location = 0;
  c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> tensor;  ///< the program's
};

/// All that it did to one memory, in that order (outside_counters.h).
class OutsideWrites {
 public:
  [[nodiscard]] const std::vector<OutsideWrite>& all() const { return writes_; }
  /// There were more than are remembered: then nothing is known.
  [[nodiscard]] bool too_many() const { return writes_.size() >= kMost; }
  void note(OutsideWrite write) {
    if (!too_many()) writes_.push_back(std::move(write));
  }

 private:
  static constexpr std::size_t kMost = 4096;

  std::vector<OutsideWrite> writes_;
};

}  // namespace leapp::capture
