// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/common.h"
#include "engine/native/ops/element_places.h"
#include "engine/native/scalar/gather.h"

namespace leapp::native {
namespace {

ScatterReduction reduction_of(Lowering& b) {
  const std::string name = b.attr_string("reduction", "none");
  if (name == "none") return ScatterReduction::kNone;
  if (name == "add") return ScatterReduction::kAdd;
  if (name == "mul") return ScatterReduction::kMul;
  if (name == "max") return ScatterReduction::kMax;
  if (name == "min") return ScatterReduction::kMin;
  refuse(fmt::format("reduction {}", quote(name)));
}

const Kernel& checked(const Kernel* kernel, DType dtype) {
  if (kernel == nullptr) refuse(fmt::format("not for {}", dtype_name(dtype)));
  return *kernel;
}

void lower_scatter_elements(Lowering& b) {
  const ValueId x = b.input(0);
  const ValueId indices = b.input(1);
  const ValueId updates = b.input(2);
  if (b.shape(indices) != b.shape(updates) || b.dtype(updates) != b.dtype(x)) {
    refuse("indices and updates that do not go with its input");
  }
  ScatterElementsArgs args;
  set_element_places(b, x, indices, args);
  args.reduction = reduction_of(b);
  const ValueId y = b.make_like(x);
  copy_bytes(b, x, y);
  b.bind(0, y);
  if (b.elements(indices) == 0) return;
  CallMaker make(checked(scatter_elements_kernel(b.dtype(x), args.reduction), b.dtype(x)), args);
  b.add(make.update(args.y, y).read(args.indices.data, indices).read(args.updates, updates).take());
}

void lower_scatter_nd(Lowering& b) {
  const ValueId x = b.input(0);
  const ValueId indices = b.input(1);
  const ValueId updates = b.input(2);
  if (b.rank(indices) < 1 || b.dtype(updates) != b.dtype(x))
    refuse("indices and updates that do not go with its input");
  const std::int64_t depth = b.shape(indices).back();
  if (depth < 1 || depth > kMaxRank || depth > b.rank(x)) refuse("rows of indices that are too long");
  ScatterNdArgs args;
  args.indices = indices_of(b, indices);
  args.indices.count = product(std::span(b.shape(indices)).first(b.shape(indices).size() - 1));
  args.reduction = reduction_of(b);
  args.depth = static_cast<std::int32_t>(depth);
  const std::span<const std::int64_t> dims = b.shape(x);
  args.slice = product(dims.subspan(static_cast<std::size_t>(depth)));
  for (std::size_t d = 0; d < static_cast<std::size_t>(depth); ++d) args.extents[d] = dims[d];
  Shape expected(b.shape(indices).begin(), b.shape(indices).end() - 1);
  expected.insert(expected.end(), dims.begin() + depth, dims.end());
  if (b.shape(updates) != expected) refuse("updates of another shape");
  const ValueId y = b.make_like(x);
  copy_bytes(b, x, y);
  b.bind(0, y);
  if (b.elements(updates) == 0) return;
  CallMaker make(checked(scatter_nd_kernel(b.dtype(x), args.reduction), b.dtype(x)), args);
  b.add(make.update(args.y, y).read(args.indices.data, indices).read(args.updates, updates).take());
}

constexpr std::array kScatterOps = {
    LowerEntry{"ScatterElements", lower_scatter_elements},
    LowerEntry{"Scatter", lower_scatter_elements},
    LowerEntry{"ScatterND", lower_scatter_nd},
};

}  // namespace

LowerEntries scatter_ops() { return kScatterOps; }

}  // namespace leapp::native
