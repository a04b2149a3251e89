// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/masks/rewriter.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace leapp::graph::masks {

const MaskedRows* Rewriter::rows(const Value* value) const {
  const auto found = rows_.find(value);
  return found == rows_.end() ? nullptr : &found->second;
}

std::vector<RowSpace*> Rewriter::spaces_of(const Node& node) const {
  std::vector<RowSpace*> found;
  for (const Value* input : node.inputs()) {
    const MaskedRows* of = rows(input);
    if (of != nullptr && std::find(found.begin(), found.end(), of->space) == found.end()) found.push_back(of->space);
  }
  return found;
}

RowSpace& Rewriter::space() const { return *spaces_of(*at_).front(); }

RowSpace& Rewriter::add_space(RowSpace space) {
  space.group = spaces_.size();
  space.source = at_;
  spaces_.push_back(std::make_unique<RowSpace>(std::move(space)));
  return *spaces_.back();
}

bool Rewriter::is_space_of(const RowSpace& space, const Value* mask, const Shape& frame) const {
  const auto found = by_mask_.find({mask, frame});
  return found != by_mask_.end() &&
         std::find(found->second.begin(), found->second.end(), &space) != found->second.end();
}

RowSpace* Rewriter::find_length(const std::vector<RowSpace*>& known, std::optional<std::int64_t> length) {
  const std::int64_t wanted = length.value_or(1);
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const RowSpace* one) { return one->length == wanted; });
  if (found != known.end()) return *found;
  return length || known.empty() ? nullptr : known.front();
}

RowSpace& Rewriter::space_of(Value* mask, const Shape& frame, std::optional<std::int64_t> length) {
  std::vector<RowSpace*>& known = by_mask_[{mask, frame}];
  if (RowSpace* found = find_length(known, length)) return *found;
  RowSpace made;
  made.frame = frame;
  made.count = element_count(frame);
  made.length = length.value_or(1);
  made.mask = known.empty() ? reshape(expand(truth(mask), frame), {made.count}) : known.front()->mask;
  known.push_back(&add_space(std::move(made)));
  return *known.back();
}

RowSpace& Rewriter::space_within(Value* mask, std::optional<std::int64_t> length) {
  std::vector<RowSpace*>& known = by_mask_[{mask, {}}];
  if (RowSpace* found = find_length(known, length)) return *found;
  const MaskedRows& chosen = *rows(mask);
  known.push_back(&narrowed(*chosen.space, truth(reshape(chosen.dense, {chosen.space->count})), length.value_or(1)));
  return *known.back();
}

RowSpace& Rewriter::narrowed(RowSpace& space, Value* dense, std::int64_t length) {
  RowSpace made = space;
  made.parent = &space;
  made.length = length;
  made.mask = binary("aten::logical_and", space.mask, dense, {DType::kBool, {made.count}});
  RowSpace& added = add_space(std::move(made));
  join_groups(added, space);
  return added;
}

void Rewriter::join_groups(const RowSpace& a, const RowSpace& b) {
  const std::size_t from = b.group;
  const std::size_t to = a.group;
  if (from == to) return;
  for (const auto& space : spaces_) {
    if (space->group == from) space->group = to;
  }
  if (auto failed = failures_.extract(from)) {
    failed.key() = to;
    failures_.insert(std::move(failed));
  }
}

void Rewriter::bind(std::size_t result, MaskedRows rows) { rows_.insert_or_assign(at_->result(result), rows); }

void Rewriter::replace(std::size_t result, Value* fresh) {
  for (const RowSpace* because : spaces_of(*at_)) replace(result, fresh, *because);
}

void Rewriter::replace(std::size_t result, Value* fresh, const RowSpace& because) {
  exits_.push_back({{at_->result(result), fresh}, &because});
}

void Rewriter::give_up(const RowSpace& space, const std::string& why, const SourceLocation& where) {
  failures_.try_emplace(space.group, Failure{why, where});
}

const Rewriter::Failure* Rewriter::failure(const RowSpace& space) const {
  const auto found = failures_.find(space.group);
  return found == failures_.end() ? nullptr : &found->second;
}

bool Rewriter::finish() {
  std::set<const Value*> done;
  for (const auto& [exit, because] : exits_) {
    if (given_up(*because) || !done.insert(exit.old).second) continue;
    graph_.replace_all_uses(exit.old, exit.fresh);
  }
  return !done.empty();
}

Value* Rewriter::emit(std::string op, std::string overload, std::vector<Argument> arguments, TensorType type) {
  NodeSpec spec;
  spec.op = std::move(op);
  spec.overload = std::move(overload);
  spec.arguments = std::move(arguments);
  spec.results = {std::move(type)};
  spec.location = at_->location();
  return graph_.insert_before(at_, std::move(spec))->result();
}

Value* Rewriter::reshape(Value* value, Shape shape) {
  if (value->shape() == shape) return value;
  return emit("aten::reshape", "", {{"self", value}, {"shape", shape}}, {value->dtype(), shape});
}

Value* Rewriter::expand(Value* value, Shape shape) {
  if (value->shape() == shape) return value;
  return emit("aten::expand", "", {{"self", value}, {"size", shape}, {"implicit", false}}, {value->dtype(), shape});
}

Value* Rewriter::cast(Value* value, DType dtype) {
  if (value->dtype() == dtype) return value;
  return emit("aten::to", "dtype",
              {{"self", value},
               {"dtype", dtype},
               {"non_blocking", false},
               {"copy", false},
               {"memory_format", std::monostate{}}},
              {dtype, value->shape()});
}

Value* Rewriter::truth(Value* value) {
  if (value->dtype() == DType::kBool) return value;
  return emit("aten::ne", "Scalar", {{"self", value}, {"other", std::int64_t{0}}}, {DType::kBool, value->shape()});
}

Value* Rewriter::where(Value* condition, Value* yes, Value* no, const TensorType& type) {
  return emit("aten::where", "self",
              {{"condition", condition}, {"self", cast(yes, type.dtype)}, {"other", cast(no, type.dtype)}}, type);
}

Value* Rewriter::binary(const std::string& op, Value* left, Value* right, TensorType type) {
  std::vector<Argument> arguments = {{"self", left}, {"other", right}};
  const bool scaled = op == "aten::add" || op == "aten::sub";
  if (scaled) arguments.push_back({"alpha", std::int64_t{1}});
  const bool plain = op == "aten::logical_and" || op == "aten::maximum";
  return emit(op, plain ? "" : "Tensor", std::move(arguments), std::move(type));
}

Value* Rewriter::sum(Value* value, const Dims& dims, bool keepdim, DType dtype) {
  Shape shape;
  for (std::int64_t dim = 0; dim < rank_of(value); ++dim) {
    const bool gone = std::find(dims.begin(), dims.end(), dim) != dims.end();
    if (!gone) shape.push_back(size_at(value, dim));
    if (gone && keepdim) shape.push_back(1);
  }
  return emit("aten::sum", "dim_IntList", {{"self", value}, {"dim", dims}, {"keepdim", keepdim}, {"dtype", dtype}},
              {dtype, shape});
}

Value* Rewriter::mask_beside(const RowSpace& space, std::int64_t rank, std::int64_t axis) {
  return reshape(space.mask, with_rows(Shape(at(rank), 1), axis, space.count));
}

Value* Rewriter::filled(const MaskedRows& rows, double neutral) {
  const TensorType type = rows.dense->type();
  return where(mask_beside(*rows.space, rank_of(rows.dense), rows.axis), rows.dense, number(neutral, type.dtype), type);
}

Value* Rewriter::column(const RowSpace& space, std::size_t dim) {
  std::vector<std::int64_t> numbers;
  const auto after = space.frame.begin() + static_cast<std::ptrdiff_t>(dim) + 1;
  const std::int64_t inner = element_count(Shape(after, space.frame.end()));
  for (std::int64_t row = 0; row < space.count; ++row) numbers.push_back(row / inner % space.frame[dim]);
  return integers(numbers, {space.count});
}

Value* Rewriter::positions(const RowSpace& space) {
  std::vector<std::int64_t> numbers;
  Dims inner(space.frame.size(), 1);
  for (std::size_t dim = space.frame.size(); dim-- > 1;) inner[dim - 1] = inner[dim] * space.frame[dim];
  for (std::int64_t row = 0; row < space.count; ++row) {
    for (std::size_t dim = 0; dim < inner.size(); ++dim) numbers.push_back(row / inner[dim] % space.frame[dim]);
  }
  return integers(numbers, {space.count, std::ssize(inner)});
}

Value* Rewriter::own_row(const RowSpace& space) {
  std::vector<std::int64_t> numbers(at(space.count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return integers(numbers, {space.count});
}

Value* Rewriter::rank(const RowSpace& space) {
  const TensorType type = {DType::kInt64, {space.count}};
  Value* counted =
      emit("aten::cumsum", "",
           {{"self", cast(space.mask, DType::kInt64)}, {"dim", std::int64_t{0}}, {"dtype", std::monostate{}}}, type);
  return binary("aten::sub", counted, number(1, DType::kInt64), type);
}

Value* Rewriter::how_many(const RowSpace& space, DType dtype) {
  return cast(sum(cast(space.mask, DType::kInt64), {0}, false, DType::kInt64), dtype);
}

std::vector<Argument> Rewriter::dense_arguments() const {
  std::vector<Argument> arguments = at_->arguments();
  const auto dense = [&](Value* value) {
    const MaskedRows* of = value != nullptr ? rows(value) : nullptr;
    return of != nullptr ? of->dense : value;
  };
  for (Argument& argument : arguments) {
    if (auto* single = std::get_if<Value*>(&argument.value)) *single = dense(*single);
    if (auto* many = std::get_if<std::vector<Value*>>(&argument.value)) {
      for (Value*& value : *many) value = dense(value);
    }
  }
  return arguments;
}

std::vector<Value*> Rewriter::again(std::vector<Argument> arguments, std::int64_t axis, std::int64_t count) {
  NodeSpec spec;
  spec.op = at_->op();
  spec.overload = at_->overload();
  spec.arguments = std::move(arguments);
  spec.location = at_->location();
  spec.random = at_->is_random();
  for (const auto& result : at_->results()) {
    TensorType type = result->type();
    if (axis >= 0) type.shape = with_rows(type.shape, axis, count);
    spec.results.push_back(std::move(type));
  }
  Node* made = graph_.insert_before(at_, std::move(spec));
  std::vector<Value*> results;
  for (const auto& result : made->results()) results.push_back(result.get());
  return results;
}

Shape with_rows(Shape shape, std::int64_t axis, std::int64_t size) {
  shape[at(axis)] = size;
  return shape;
}

std::int64_t wrapped(std::int64_t dim, std::int64_t rank) {
  return dim < 0 ? dim + std::max<std::int64_t>(rank, 1) : dim;
}

std::int64_t rank_of(const Value* value) { return std::ssize(value->shape()); }

std::int64_t size_at(const Value* value, std::int64_t dim) { return value->shape()[at(dim)]; }

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Value* tensor(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  const auto* value = attribute != nullptr ? std::get_if<Value*>(attribute) : nullptr;
  return value != nullptr ? *value : nullptr;
}

std::vector<Value*> tensors(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  const auto* values = attribute != nullptr ? std::get_if<std::vector<Value*>>(attribute) : nullptr;
  return values != nullptr ? *values : std::vector<Value*>();
}

std::int64_t integer(const Node& node, std::string_view name, std::int64_t otherwise) {
  const Attribute* attribute = node.find(name);
  const auto* number = attribute != nullptr ? std::get_if<std::int64_t>(attribute) : nullptr;
  return number != nullptr ? *number : otherwise;
}

bool flag(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  const auto* truth = attribute != nullptr ? std::get_if<bool>(attribute) : nullptr;
  return truth != nullptr && *truth;
}

const Dims* list(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  return attribute != nullptr ? std::get_if<Dims>(attribute) : nullptr;
}

void set(std::vector<Argument>& arguments, std::string_view name, Attribute value) {
  for (Argument& argument : arguments) {
    if (argument.name != name) continue;
    argument.value = std::move(value);
    return;
  }
}

}  // namespace leapp::graph::masks
