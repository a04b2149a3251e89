// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/row_counts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "capture/branches/branch_conditions.h"
#include "capture/hook/op_info.h"
#include "capture/trace/lengths.h"

namespace leapp::capture {
namespace {

std::atomic<bool> g_any{false};
thread_local int t_asked = 0;

std::int64_t product(const c10::DimVector& sizes, std::size_t begin, std::size_t end) {
  std::int64_t all = 1;
  for (std::size_t i = begin; i < end; ++i) all *= sizes[i];
  return all;
}

RowsDim at(std::size_t dim, const ValueType& type, const RowsDim& like) {
  return dim < type.sizes.size() ? RowsDim{static_cast<int>(dim), like.unit, like.source} : RowsDim();
}

/// In front, but for dimensions of size one. A dimension of the result may hold several elements for each row.
RowsDim reshaped(const TracedValue& from, const ValueType& type) {
  const auto dim = static_cast<std::size_t>(from.rows.dim);
  const auto& before = from.type.sizes;
  if (product(before, 0, dim) != 1) return {};
  const std::int64_t each = from.rows.unit * product(before, dim + 1, before.size());
  for (std::size_t i = 0; i < type.sizes.size() && product(type.sizes, 0, i) == 1; ++i) {
    const std::int64_t behind = product(type.sizes, i + 1, type.sizes.size());
    if (behind == 0 || each % behind != 0) continue;
    const std::int64_t unit = each / behind;
    if (type.sizes[i] * from.rows.unit == before[dim] * unit) return at(i, type, {0, unit, from.rows.source});
  }
  return {};
}

RowsDim strided(const TracedValue& from, const TraceOp& op, const ValueType& type) {
  if (from.rows.dim != 0 || from.type.sizes.size() != 1) return {};
  const std::vector<std::int64_t> strides = op.arguments[2].attribute.toIntVector();
  const std::int64_t rows = from.type.sizes[0] / from.rows.unit;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] == from.rows.unit && type.sizes[i] == rows) return at(i, type, {0, 1, from.rows.source});
  }
  return {};
}

RowsDim permuted(const TracedValue& from, const TraceOp& op, const ValueType& type) {
  const std::vector<std::int64_t> dims = op.arguments[1].attribute.toIntVector();
  const auto found = std::find(dims.begin(), dims.end(), from.rows.dim);
  return found == dims.end() ? RowsDim() : at(static_cast<std::size_t>(found - dims.begin()), type, from.rows);
}

/// Sizes are aligned at the end.
RowsDim element_wise(const TracedValue& from, const ValueType& type) {
  const std::size_t rank = type.sizes.size();
  const std::size_t before = from.type.sizes.size();
  if (rank < before) return {};
  return at(static_cast<std::size_t>(from.rows.dim) + rank - before, type, from.rows);
}

/// Of select, slice and their kin: the dimension they are about, of so many.
std::int64_t dim_argument(const TraceOp& op, std::size_t rank) {
  const int position = op.info->argument("dim");
  if (position < 0) return 0;
  const c10::IValue& given = op.arguments[static_cast<std::size_t>(position)].attribute;
  const std::int64_t dim = given.isInt() ? given.toInt() : 0;
  return dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
}

/// One element of another dimension.
RowsDim selected(const TracedValue& from, const TraceOp& op, const ValueType& type) {
  const std::int64_t gone = dim_argument(op, from.type.sizes.size());
  if (gone == from.rows.dim) return {};
  return at(static_cast<std::size_t>(from.rows.dim - (gone < from.rows.dim ? 1 : 0)), type, from.rows);
}

/// Some elements of another dimension.
RowsDim sliced(const TracedValue& from, const TraceOp& op, const ValueType& type) {
  if (dim_argument(op, from.type.sizes.size()) == from.rows.dim) return {};
  return at(static_cast<std::size_t>(from.rows.dim), type, from.rows);
}

bool is_list_of_rows(const ValuePtr& value) {
  return value && value->rows.dim == 0 && value->rows.unit == 1 && value->type.sizes.size() == 1;
}

/// x[ids] and index_select(x, dim, ids).
RowsDim picked(const TraceOp& op, const ValueType& type) {
  if (op.info->name() == "aten::index_select") {
    const ValuePtr& ids = op.arguments[2].tensor;
    if (!is_list_of_rows(ids)) return {};
    const std::int64_t dim = op.arguments[1].attribute.toInt();
    const std::int64_t rank = static_cast<std::int64_t>(type.sizes.size());
    return at(static_cast<std::size_t>(dim < 0 ? dim + rank : dim), type, ids->rows);
  }
  // Indices that are not side by side put their rows in front.
  const auto& indices = op.arguments[1].list;
  const auto first = std::find_if(indices.begin(), indices.end(), is_list_of_rows);
  if (first == indices.end() || std::count(indices.begin(), first, nullptr) != first - indices.begin()) return {};
  const bool one_block = std::all_of(first, indices.end(), is_list_of_rows) || first + 1 == indices.end();
  return one_block ? at(static_cast<std::size_t>(first - indices.begin()), type, (*first)->rows) : RowsDim();
}

bool chooses(const TraceOp& op) {
  if (gives_rows(op)) return true;
  const std::string& name = op.info->name();
  return name == "aten::_unique2" || name == "aten::unique_dim" || name == "aten::unique_consecutive";
}

}  // namespace

RowsDim rows_of(const TraceOp& op, const ValueType& type) {
  if (chooses(op)) {
    g_any.store(true, std::memory_order_relaxed);
    return at(length_dim(op), type, {0, 1, &op});
  }
  if (!g_any.load(std::memory_order_relaxed)) return {};
  const std::string& name = op.info->name();
  if (name == "aten::index" || name == "aten::index_select") return picked(op, type);
  const TracedValue* from = nullptr;
  for_each_operand(op, [&](const ValuePtr& operand) {
    if (!from && operand->rows.dim >= 0) from = operand.get();
  });
  if (!from) return {};
  if (op.info->facts().pointwise || name == "aten::to") return element_wise(*from, type);
  static constexpr std::array<std::string_view, 5> kReshaping = {"aten::reshape", "aten::flatten", "aten::squeeze",
                                                                 "aten::unsqueeze", "aten::ravel"};
  if (std::find(kReshaping.begin(), kReshaping.end(), name) != kReshaping.end()) return reshaped(*from, type);
  if (name == "aten::select" || name == "aten::unbind") return selected(*from, op, type);
  if (name == "aten::slice" || name == "aten::narrow") return sliced(*from, op, type);
  if (name == "aten::as_strided") return strided(*from, op, type);
  if (name == "aten::permute") return permuted(*from, op, type);
  return {};
}

bool any_rows() noexcept { return g_any.load(std::memory_order_relaxed); }
void forget_rows() noexcept { g_any.store(false, std::memory_order_relaxed); }

AboutRows::AboutRows() { ++t_asked; }
AboutRows::~AboutRows() { --t_asked; }
bool AboutRows::asked() noexcept { return t_asked > 0; }

}  // namespace leapp::capture
