// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "capture/trace/trace.h"

namespace leapp::capture {

class Escapes;
struct CaptureResult;

/// Lengths that depend on data, in two calls that are compared: len(mask.nonzero()) is another number in each, and so
/// are the sizes of what is computed from it. Such a size does not make the calls differ.
class FollowedLengths {
 public:
  /// What is compared next, in the first call and in the later one.
  void set_roots(const ValuePtr& first, const ValuePtr& now);

  /// Whether two lists of sizes differ only in lengths that depend on data, or in multiples of them.
  bool follow(const c10::IValue& first, const c10::IValue& now);

 private:
  void look();
  [[nodiscard]] bool is_followed(std::int64_t first, std::int64_t now) const;

  ValuePtr first_;
  ValuePtr now_;
  bool looked_ = false;
  std::set<std::int64_t> in_first_;
  std::set<std::int64_t> in_now_;
};

/// Of a value that was written as x[ids] = v with one row: v. torch drops the dimension of the row there, and only
/// then.
[[nodiscard]] const ValuePtr& with_its_row(const ValuePtr& value);

/// What to compare in the place of two values that `op` writes, where one of them has lost the dimension of its row.
[[nodiscard]] std::optional<std::pair<ValuePtr, ValuePtr>> with_their_rows(const TraceOp& op, const ValuePtr& first,
                                                                           const ValuePtr& now);

/// Warns of lengths that the program may have used, of what no output and no state of its node needs.
/// REQUIRES: the session has ended, and state is part of the records.
void report_lengths(Escapes& escapes, CaptureResult& recording);

/// Which dimension of the result of `op` has a length that depends on data.
[[nodiscard]] std::size_t length_dim(const TraceOp& op);

/// The sizes of operators' results that depend on data, of all that `value` needs.
[[nodiscard]] std::set<std::int64_t> data_lengths(const ValuePtr& value);

}  // namespace leapp::capture
