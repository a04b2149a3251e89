// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "capture/session/front_end.h"
#include "capture/trace/trace.h"
#include "leapp/base/status.h"

namespace leapp::capture {

class OpRecorder;

/// What happens to tensors without an operator that torch shows to its observers: a front end tells. Thread-safe.
class TensorNotices {
 public:
  TensorNotices(std::shared_ptr<OpRecorder> recorder, FrontEnd& front_end)
      : recorder_(std::move(recorder)), front_end_(front_end) {}

  void name(const at::Tensor& tensor, const std::string& name, bool parameter);
  /// `target` holds the bits of `source` and continues its trace.
  Status mirror(const at::Tensor& source, const at::Tensor& target);
  /// Python is about to exchange what two tensors are; torch refuses while anyone holds weak references.
  void release(const at::Tensor& tensor);
  /// `tensor` was written to without an operator (apply_, map_).
  void rewritten(const at::Tensor& tensor);
  /// `copy` was made from `source` without an operator (deepcopy).
  void copied(const at::Tensor& source, const at::Tensor& copy);
  /// `result` was computed with a number where `recorded` was with the tensor that the number is from. If they agree up
  /// to rounding, it continues the trace of `recorded`.
  [[nodiscard]] bool repeated(const at::Tensor& recorded, const at::Tensor& result);
  /// A value left the graph (tolist, numpy).
  void escaped(const at::Tensor& tensor, const std::string& how);
  [[nodiscard]] bool is_live(const at::Tensor& tensor);
  [[nodiscard]] bool in_node();
  /// Which of its dimensions is as long as the data says, if one is known to be.
  [[nodiscard]] RowsDim rows(const at::Tensor& tensor);
  /// The program asked for the length of such a dimension, and guards follow what it did.
  void length_asked(const at::Tensor& tensor);
  /// The number that `tensor` holds, which the front end is going to follow. None: no node is open.
  [[nodiscard]] std::optional<c10::Scalar> followed_number(const at::Tensor& tensor);

  /// The view of `base` at the index that `start` holds, one or `length` elements along `dim`, recorded as depending on
  /// it; with `stop`, up to there. Undefined: no node is open, it cannot be followed or torch would refuse it.
  struct IndexedView {
    at::Tensor base;
    std::int64_t dim = 0;
    at::Tensor start;
    at::Tensor stop;
    std::optional<std::int64_t> length;
  };
  [[nodiscard]] at::Tensor view_at(const IndexedView& wanted);

 private:
  std::shared_ptr<OpRecorder> recorder_;
  FrontEnd& front_end_;
};

}  // namespace leapp::capture
