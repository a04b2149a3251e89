// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/trace/trace.h"
#include "capture/trace/value_type.h"

namespace leapp::capture {

/// Says what a value is that depends on constants only.
class ConstantEvaluator {
 public:
  ConstantEvaluator() = default;
  virtual ~ConstantEvaluator() = default;
  ConstantEvaluator(const ConstantEvaluator&) = delete;
  ConstantEvaluator& operator=(const ConstantEvaluator&) = delete;

  /// A copy. REQUIRES: is_constant(*value).
  [[nodiscard]] virtual ContentPtr value_of(const ValuePtr& value) = 0;
};

/// By running the operators. Throws what torch throws.
class TorchEvaluator : public ConstantEvaluator {
 public:
  [[nodiscard]] ContentPtr value_of(const ValuePtr& value) override;
};

}  // namespace leapp::capture
