// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Views whose place in memory depends on a tensor: buffer[i], where i is a tensor without dimensions.
//
// torch turns such an index into a number and takes the view that belongs to it. The program gets just that view; what
// is recorded is an operator that reads at the index, and for every write to the view one that writes there. So the
// memory of the view, by which other views are known, says nothing here: these are known by how they were made.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "capture/recorder/geometry.h"
#include "capture/recorder/tensor_content.h"
#include "capture/trace/trace.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {

/// One step from a tensor to a view of it.
struct DynamicView {
  std::shared_ptr<const DynamicView> parent;  ///< what it is a view of; null: `base`
  at::Tensor base;                            ///< an alias of our own
  Geometry geometry;                          ///< where it lies in this call
  ValueType type;

  ValuePtr index;  ///< of one dimension: where along `dim`. Null: a part of `parent`, whatever that holds
  std::int64_t dim = 0;
  ValueType type_in_place;  ///< with `dim`, also where the view has lost it

  /// Of `before`, what its parent holds.
  [[nodiscard]] ValuePtr read(const ValuePtr& before, TraceBuilder& builder) const;
  /// `before` with `value` in the place of the view.
  [[nodiscard]] ValuePtr write(const ValuePtr& before, const ValuePtr& value, TraceBuilder& builder) const;
};

/// Where to look, along which dimension, and how many elements; no length: one, and the dimension goes.
struct DynamicPlace {
  std::int64_t dim = 0;
  ValuePtr index;  ///< without dimensions
  std::optional<std::int64_t> length;
};

/// Those of the calls that are open.
class DynamicViews {
 public:
  using Ptr = std::shared_ptr<const DynamicView>;

  [[nodiscard]] bool empty() const { return views_.empty(); }
  void clear() { views_.clear(); }

  /// Null: `tensor` is an ordinary one.
  [[nodiscard]] Ptr find(const at::Tensor& tensor) const;

  /// `view` is at `place` of `base`. `range` is where the memory begins.
  void add(const at::Tensor& view, const at::Tensor& base, const DynamicPlace& place, std::uintptr_t range,
           TraceBuilder& builder);

  /// `view` has been made from `parent`, if that is one of them.
  void add_part(const at::Tensor& view, const c10::TensorImpl* parent, std::uintptr_t range);

 private:
  struct Item {
    WeakTensor tensor;
    Ptr view;
  };
  std::unordered_map<const c10::TensorImpl*, Item> views_;
};

/// The number k for which `later` is `earlier` + k whatever `earlier` is, as far as their operators tell.
std::optional<std::int64_t> distance(const ValuePtr& earlier, const ValuePtr& later);

}  // namespace leapp::capture
