// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/masks/space.h"
#include "leapp/base/status.h"

namespace leapp::graph::masks {

using Dims = std::vector<std::int64_t>;

/// Writes the dense form of one graph beside what is there. Nothing that was there changes before finish(): what turns
/// out to have no dense form leaves dead nodes behind, and nothing else.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph) {}

  /// The node whose dense form is being written; new nodes stand before it.
  void set_node(Node* node) { at_ = node; }
  [[nodiscard]] Node& node() const { return *at_; }

  /// Null: an ordinary value.
  [[nodiscard]] const MaskedRows* rows(const Value* value) const;
  /// REQUIRES: an operand of the node has rows, all in the same space.
  [[nodiscard]] RowSpace& space() const;
  [[nodiscard]] std::vector<RowSpace*> spaces_of(const Node& node) const;

  /// The rows that `mask` chooses, `length` of them in the recorded call. Made on first use. Calls that went different
  /// ways may have counted another number of rows each; nothing: what is written does not tell how many there were.
  RowSpace& space_of(Value* mask, const Shape& frame, std::optional<std::int64_t> length);
  /// Whether `space` is the rows that `mask` chooses.
  [[nodiscard]] bool is_space_of(const RowSpace& space, const Value* mask, const Shape& frame) const;
  /// Those of `mask`'s rows for which it is true. REQUIRES: `mask` has rows and one dimension.
  RowSpace& space_within(Value* mask, std::optional<std::int64_t> length);

  /// Those rows of `space` for which `dense`, bool[count], is true as well.
  RowSpace& narrowed(RowSpace& space, Value* dense, std::int64_t length);

  // What the node's results are.
  void bind(std::size_t result, MaskedRows rows);
  /// An ordinary value, once the dense form is taken.
  void replace(std::size_t result, Value* fresh);
  void replace(std::size_t result, Value* fresh, const RowSpace& because);

  /// All spaces of the group stay as they are.
  void give_up(const RowSpace& space, const std::string& why, const SourceLocation& where);
  [[nodiscard]] bool given_up(const RowSpace& space) const { return failures_.contains(space.group); }
  void join_groups(const RowSpace& a, const RowSpace& b);

  struct Failure {
    std::string why;
    SourceLocation where;
  };
  [[nodiscard]] const std::vector<std::unique_ptr<RowSpace>>& spaces() const { return spaces_; }
  [[nodiscard]] const Failure* failure(const RowSpace& space) const;

  /// Puts the dense values in the place of the ordinary ones they give. Returns whether anything changed.
  bool finish();

  // Operators, spelled out once.
  Value* emit(std::string op, std::string overload, std::vector<Argument> arguments, TensorType type);
  Value* reshape(Value* value, Shape shape);
  Value* expand(Value* value, Shape shape);
  Value* cast(Value* value, DType dtype);
  Value* where(Value* condition, Value* yes, Value* no, const TensorType& type);
  Value* binary(const std::string& op, Value* left, Value* right, TensorType type);
  Value* sum(Value* value, const Dims& dims, bool keepdim, DType dtype);
  /// Without dimensions.
  Value* number(double value, DType dtype);
  Value* integers(const std::vector<std::int64_t>& numbers, Shape shape);
  Value* truth(Value* value);

  /// The mask, to stand beside a value of that rank with rows along `axis`.
  Value* mask_beside(const RowSpace& space, std::int64_t rank, std::int64_t axis);
  /// Dense, with `neutral` in the rows that do not count.
  Value* filled(const MaskedRows& rows, double neutral);
  /// Dense row numbers in one dimension of the frame, and in all.
  Value* column(const RowSpace& space, std::size_t dim);
  Value* positions(const RowSpace& space);
  /// 0, 1, 2, ...: the row itself.
  Value* own_row(const RowSpace& space);
  /// For each row how many of those that count come before it.
  Value* rank(const RowSpace& space);
  /// How many rows count, as a number of that type without dimensions.
  Value* how_many(const RowSpace& space, DType dtype);

  /// What an ordinary `value` is beside the rows of `space`, which stand along its dimension `dim` (below 0: it has
  /// none there). Of as many rows as were recorded, one is kept where all are the same. kUnimplemented: they are not.
  Result<Value*> beside(Value* value, std::int64_t dim, RowSpace& space);
  /// The same with all rows spelled out.
  Result<Value*> all_beside(Value* value, std::int64_t dim, RowSpace& space);

  /// The node with other arguments; results that have rows (`axis` not negative) get as many as there are densely.
  std::vector<Value*> again(std::vector<Argument> arguments, std::int64_t axis, std::int64_t count);
  /// The arguments of the node with dense values in the place of those that have rows.
  [[nodiscard]] std::vector<Argument> dense_arguments() const;

 private:
  RowSpace& add_space(RowSpace space);
  static RowSpace* find_length(const std::vector<RowSpace*>& known, std::optional<std::int64_t> length);
  Result<Value*> one_row_of(Value* value, std::int64_t dim, RowSpace& space);
  Result<Value*> drawn_for_all(const Node& drawn, std::int64_t dim, RowSpace& space);

  struct Exit {
    Value* old = nullptr;
    Value* fresh = nullptr;
    std::size_t space = 0;
  };

  Graph& graph_;
  Node* at_ = nullptr;
  std::unordered_map<const Value*, MaskedRows> rows_;
  std::vector<std::unique_ptr<RowSpace>> spaces_;
  std::map<std::pair<const Value*, Shape>, std::vector<RowSpace*>> by_mask_;
  std::map<std::size_t, Failure> failures_;  // by group
  std::vector<std::pair<Exit, const RowSpace*>> exits_;
};

/// `shape` with `size` along `axis`.
[[nodiscard]] Shape with_rows(Shape shape, std::int64_t axis, std::int64_t size);
/// Counted from the front. REQUIRES: within the rank.
[[nodiscard]] std::int64_t wrapped(std::int64_t dim, std::int64_t rank);
[[nodiscard]] std::int64_t rank_of(const Value* value);
[[nodiscard]] std::int64_t size_at(const Value* value, std::int64_t dim);
[[nodiscard]] std::size_t at(std::int64_t index);

// Arguments of a node by name; nullptr or the other value given where there is no such thing.
[[nodiscard]] Value* tensor(const Node& node, std::string_view name);
[[nodiscard]] std::vector<Value*> tensors(const Node& node, std::string_view name);
[[nodiscard]] std::int64_t integer(const Node& node, std::string_view name, std::int64_t otherwise);
[[nodiscard]] bool flag(const Node& node, std::string_view name);
[[nodiscard]] const Dims* list(const Node& node, std::string_view name);
void set(std::vector<Argument>& arguments, std::string_view name, Attribute value);

}  // namespace leapp::graph::masks
