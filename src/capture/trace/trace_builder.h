// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/trace/trace.h"

namespace leapp::capture {

/// Makes operators and their results. Knows the line they belong to and who must hear of nodes that were mixed.
class TraceBuilder {
 public:
  using MixedNodes = std::function<void(const OpInfo&, LocationId, ActivationId, ActivationId)>;
  /// Operators are numbered from `first` on; a program's, so that those made for it later can come before.
  static constexpr std::uint64_t kProgram = std::uint64_t{1} << 32U;
  explicit TraceBuilder(MixedNodes on_mixed, std::uint64_t first = kProgram)
      : on_mixed_(std::move(on_mixed)), sequence_(first) {}

  /// The operator of the user's program that is being recorded.
  void set_current(const OpInfo* info, LocationId location) {
    current_ = info;
    location_ = location;
  }
  /// Of random operators from here on.
  void set_draw(const Draw& draw) { draw_ = draw; }
  void set_location(LocationId location) { location_ = location; }
  [[nodiscard]] LocationId location() const { return location_; }
  /// The sum of what operators until now are (unguarded_variants.h).
  [[nodiscard]] std::uint64_t signature() const { return signature_; }

  /// An operator whose results are made by `result`.
  std::shared_ptr<TraceOp> make(const OpInfo* info, std::vector<TraceArgument> arguments, bool random = false);
  ValuePtr result(const std::shared_ptr<TraceOp>& op, std::size_t index, ValueType type);

  /// The one activation the operands are live in; 0: none. More than one is reported.
  ActivationId owner(const TraceOp& op);

  // Common operators, spelled out once.
  ValuePtr reshape(const ValuePtr& value, c10::IntArrayRef sizes);
  ValuePtr permute(const ValuePtr& value, const std::vector<std::int64_t>& dims);
  ValuePtr expand(const ValuePtr& value, c10::IntArrayRef sizes);
  ValuePtr cast(const ValuePtr& value, at::ScalarType dtype);
  /// A cast even if it seems to change nothing: for values whose type is only assumed.
  ValuePtr cast_always(const ValuePtr& value, at::ScalarType dtype);
  ValuePtr unary(const char* name, const ValuePtr& value);
  ValuePtr unary_as(const char* name, const ValuePtr& value, ValueType type);
  /// REQUIRES: `condition` is a bool without dimensions, the others have one type.
  ValuePtr where(const ValuePtr& condition, const ValuePtr& yes, const ValuePtr& no);
  ValuePtr full(c10::IntArrayRef sizes, const c10::Scalar& fill, at::ScalarType dtype);
  ValuePtr as_strided(const ValuePtr& flat, c10::IntArrayRef sizes, c10::IntArrayRef strides, std::int64_t offset);
  ValuePtr as_strided_scatter(const ValuePtr& flat, const ValuePtr& source, c10::IntArrayRef sizes,
                              c10::IntArrayRef strides, std::int64_t offset);
  /// The same bits as another type. REQUIRES: `flat` is one-dimensional.
  ValuePtr reinterpret(const ValuePtr& flat, at::ScalarType dtype);

 private:
  ValuePtr single(const OpInfo* info, std::vector<TraceArgument> arguments, ValueType type);

  MixedNodes on_mixed_;
  const OpInfo* current_ = nullptr;
  LocationId location_ = 0;
  Draw draw_;
  std::uint64_t sequence_;
  std::uint64_t signature_ = 0;
};

/// What is made while it lives is of another line, unless that is not known.
class AtLocation {
 public:
  AtLocation(TraceBuilder& builder, LocationId location) : builder_(builder), before_(builder.location()) {
    if (location != 0) builder_.set_location(location);
  }
  ~AtLocation() { builder_.set_location(before_); }
  AtLocation(const AtLocation&) = delete;
  AtLocation& operator=(const AtLocation&) = delete;

 private:
  TraceBuilder& builder_;
  LocationId before_;
};

}  // namespace leapp::capture
