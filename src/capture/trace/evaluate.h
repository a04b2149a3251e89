// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/recorder/content.h"
#include "capture/trace/trace.h"

namespace leapp::capture {

/// Says what a value is that depends on constants only.
class Evaluator {
 public:
  Evaluator() = default;
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// A copy. REQUIRES: is_constant(*value).
  [[nodiscard]] virtual ContentPtr value_of(const ValuePtr& value) = 0;
};

/// By running the operators. Throws what torch throws.
class TorchEvaluator : public Evaluator {
 public:
  [[nodiscard]] ContentPtr value_of(const ValuePtr& value) override;
};

}  // namespace leapp::capture
