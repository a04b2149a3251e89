// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions, and what runs along a dimension. Over the rows, those that do not count are given a number that changes
// nothing.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "graph/masks/handlers.h"

namespace leapp::graph::masks {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// What changes nothing when it takes part.
std::optional<double> neutral(const std::string& op) {
  struct Entry {
    std::string_view op;
    double number;
  };
  static constexpr std::array<Entry, 18> kTable = {{{"aten::sum", 0},
                                                    {"aten::nansum", 0},
                                                    {"aten::count_nonzero", 0},
                                                    {"aten::prod", 1},
                                                    {"aten::any", 0},
                                                    {"aten::all", 1},
                                                    {"aten::amax", -kInf},
                                                    {"aten::amin", kInf},
                                                    {"aten::max", -kInf},
                                                    {"aten::min", kInf},
                                                    {"aten::logsumexp", -kInf},
                                                    {"aten::softmax", -kInf},
                                                    {"aten::_softmax", -kInf},
                                                    {"aten::log_softmax", -kInf},
                                                    {"aten::cumsum", 0},
                                                    {"aten::cumprod", 1},
                                                    {"aten::logcumsumexp", -kInf},
                                                    {"aten::linalg_vector_norm", 0}}};
  const auto found = std::find_if(kTable.begin(), kTable.end(), [&](const Entry& entry) { return entry.op == op; });
  return found == kTable.end() ? std::nullopt : std::optional(found->number);
}

std::optional<double> real(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  if (attribute == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<double>(attribute)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(attribute)) return static_cast<double>(*number);
  return std::nullopt;
}

/// The dimensions that go; all, where the node names none.
Dims reduced_dims(const Node& node, std::int64_t rank) {
  Dims dims;
  const Attribute* given = node.find("dim");
  if (const Dims* some = list(node, "dim"); some != nullptr && !some->empty()) {
    for (const std::int64_t dim : *some) dims.push_back(wrapped(dim, rank));
  } else if (given != nullptr && std::holds_alternative<std::int64_t>(*given)) {
    dims.push_back(wrapped(std::get<std::int64_t>(*given), rank));
  } else {
    for (std::int64_t dim = 0; dim < rank; ++dim) dims.push_back(dim);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

/// How many elements go into each result.
Value* elements(Rewriter& writer, const MaskedRows& from, const Dims& dims, DType dtype) {
  std::int64_t others = 1;
  for (const std::int64_t dim : dims) others *= dim == from.axis ? 1 : size_at(from.dense, dim);
  Value* rows = writer.how_many(*from.space, dtype);
  if (others == 1) return rows;
  return writer.binary("aten::mul", rows, writer.number(static_cast<double>(others), dtype), {dtype, {}});
}

Value* mean_of(Rewriter& writer, const MaskedRows& from, const Dims& dims, bool keepdim, DType dtype) {
  Value* sum = writer.sum(writer.cast(writer.filled(from, 0), dtype), dims, keepdim, dtype);
  return writer.binary("aten::div", sum, elements(writer, from, dims, dtype), sum->type());
}

/// `correction` as the three ways to ask for it say.
double correction_of(const Node& node) {
  if (const Attribute* unbiased = node.find("unbiased")) {
    const auto* truth = std::get_if<bool>(unbiased);
    return truth == nullptr || *truth ? 1 : 0;
  }
  return real(node, "correction").value_or(1);
}

Value* variance_of(Rewriter& writer, const MaskedRows& from, const Dims& dims) {
  const Node& node = writer.node();
  const TensorType type = node.result()->type();
  Value* mean = mean_of(writer, from, dims, true, type.dtype);
  MaskedRows apart = from;
  const TensorType whole = {type.dtype, from.dense->shape()};
  Value* off = writer.binary("aten::sub", from.dense, mean, whole);
  apart.dense = writer.binary("aten::mul", off, off, whole);
  Value* squares = writer.sum(writer.filled(apart, 0), dims, flag(node, "keepdim"), type.dtype);
  Value* count = elements(writer, from, dims, type.dtype);
  Value* freedom = writer.binary("aten::sub", count, writer.number(correction_of(node), type.dtype), {type.dtype, {}});
  freedom = writer.binary("aten::maximum", freedom, writer.number(0, type.dtype), {type.dtype, {}});
  return writer.binary("aten::div", squares, freedom, squares->type());
}

/// The node itself, on rows of which those that do not count are `number`.
Status with_neutral(Rewriter& writer, const MaskedRows& from, double number) {
  std::vector<Argument> arguments = writer.dense_arguments();
  set(arguments, "self", writer.filled(from, number));
  const std::vector<Value*> made = writer.again(std::move(arguments), -1, 0);
  for (std::size_t i = 0; i < made.size(); ++i) writer.replace(i, made[i]);
  return {};
}

Status over_rows(Rewriter& writer, const MaskedRows& from, const Dims& dims) {
  const Node& node = writer.node();
  const std::string& op = node.op();
  if (op == "aten::mean") {
    writer.replace(0, mean_of(writer, from, dims, flag(node, "keepdim"), node.result()->dtype()));
    return {};
  }
  if (op == "aten::var" || op == "aten::std") {
    if (node.results().size() != 1) return unimplemented("it looks at all rows together");
    Value* made = variance_of(writer, from, dims);
    if (op == "aten::std") made = writer.emit("aten::sqrt", "", {{"self", made}}, made->type());
    writer.replace(0, made);
    return {};
  }
  if (op == "aten::norm" || op == "aten::linalg_vector_norm") {
    const double order = real(node, op == "aten::norm" ? "p" : "ord").value_or(2);
    return order > 0 ? with_neutral(writer, from, 0) : unimplemented("it looks at all rows together");
  }
  const bool places = (op == "aten::max" || op == "aten::min") && node.results().size() > 1;
  if (places && !node.result(1)->unused()) return unimplemented("it counts rows to say which one it is");
  const auto number = neutral(op);
  return number ? with_neutral(writer, from, *number) : unimplemented("it looks at all rows together");
}

}  // namespace

Status reduce(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  const MaskedRows* from = self != nullptr ? writer.rows(self) : nullptr;
  if (from == nullptr) return unimplemented("it takes rows for something else than what it reduces");
  if (tensor(node, "other") != nullptr) return elementwise(writer);  // max(a, b)
  const Dims dims = reduced_dims(node, rank_of(self));
  if (std::find(dims.begin(), dims.end(), from->axis) != dims.end()) return over_rows(writer, *from, dims);
  const auto before = std::count_if(dims.begin(), dims.end(), [&](std::int64_t dim) { return dim < from->axis; });
  const std::int64_t axis = flag(node, "keepdim") ? from->axis : from->axis - before;
  const std::vector<Value*> made = writer.again(writer.dense_arguments(), axis, from->space->count);
  for (std::size_t i = 0; i < made.size(); ++i) writer.bind(i, {.space = from->space, .axis = axis, .dense = made[i]});
  return {};
}

Status along_dim(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  const MaskedRows* from = self != nullptr ? writer.rows(self) : nullptr;
  if (from == nullptr || writer.spaces_of(node).size() != 1) return unimplemented("it takes rows for something else");
  std::vector<Argument> arguments = writer.dense_arguments();
  Dims dims;
  if (const Dims* some = list(node, node.op() == "aten::flip" || node.op() == "aten::roll" ? "dims" : "dim")) {
    for (const std::int64_t dim : *some) dims.push_back(wrapped(dim, rank_of(self)));
    if (dims.empty()) return unimplemented("it looks at all rows together");
  } else {
    dims.push_back(wrapped(integer(node, "dim", -1), rank_of(self)));
  }
  if (std::find(dims.begin(), dims.end(), from->axis) != dims.end()) {
    const auto number = neutral(node.op());
    if (!number) return unimplemented("it looks at all rows together");
    set(arguments, "self", writer.filled(*from, *number));
  }
  const std::vector<Value*> made = writer.again(std::move(arguments), from->axis, from->space->count);
  for (std::size_t i = 0; i < made.size(); ++i)
    writer.bind(i, {.space = from->space, .axis = from->axis, .dense = made[i]});
  return {};
}

}  // namespace leapp::graph::masks
