// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Which dimension of a value has as many elements as the data says.
//
// nonzero, x[mask] and unique give as many rows as they find. A program that asks for this number (len(ids),
// ids.shape[0]) may decide by it. The rules below name the dimension by what an operator does, never by its size: two
// calls with different data must agree on it.
#pragma once

#include "capture/trace/trace.h"

namespace leapp::capture {

/// REQUIRES: all operands of `op` are set. `type`: of the result in question.
[[nodiscard]] RowsDim rows_of(const TraceOp& op, const ValueType& type);

/// Whether an open call has made a value with such a dimension. Any thread may ask, without a lock.
[[nodiscard]] bool any_rows() noexcept;
/// No call is open.
void forget_rows() noexcept;

/// Questions that this thread asks while one exists are about the number of rows.
class AboutRows {
 public:
  AboutRows();
  ~AboutRows();
  AboutRows(const AboutRows&) = delete;
  AboutRows& operator=(const AboutRows&) = delete;

  [[nodiscard]] static bool asked() noexcept;
};

}  // namespace leapp::capture
