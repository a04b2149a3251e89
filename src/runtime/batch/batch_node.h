// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One node of an ONNX model, seen by somebody who wants to run many rows at once: which of its inputs have rows, and
// along which axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/base/status.h"
#include "onnx_proto/contents.h"

namespace leapp::runtime {

using BatchExtents = std::vector<std::int64_t>;

/// A value of a model that is run for one row. One that has rows depends on the model's inputs: along `axis` the
/// widened model has as many entries for each row as there are here, mostly one. If there are several, one row stands
/// after the other; with `inner`, rows take turns entry by entry. Others are the same for all rows.
struct RowValue {
  BatchExtents shape;
  std::optional<std::int64_t> axis;
  bool inner = false;
  std::optional<BatchExtents> numbers;  ///< of a constant of integers
};

/// What a rule finds: where the rows of the results are, and what has to change before the node.
struct RowEdits {
  std::vector<std::optional<std::int64_t>> axes;              ///< of each output
  std::optional<bool> inner;                                  ///< of the outputs; nothing: as the inputs
  std::vector<std::pair<std::size_t, std::int64_t>> repeats;  ///< input, axis: a constant that every row needs
  std::vector<std::pair<std::size_t, BatchExtents>> numbers;  ///< input, and the integers that it is now
  std::vector<std::pair<std::size_t, BatchExtents>> frozen;   ///< output, and the integers that it is for every row
};

class RowNode {
 public:
  RowNode(const onnx::NodeView& node, std::int64_t opset, std::int64_t rows, std::vector<RowValue> inputs,
          std::vector<BatchExtents> outputs)
      : node_(node), opset_(opset), rows_(rows), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    edits_.axes.resize(outputs_.size());
  }

  [[nodiscard]] std::string_view op() const { return node_.op_type; }
  [[nodiscard]] std::int64_t opset() const { return opset_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] std::optional<BatchExtents> integers(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] const std::vector<onnx::AttributeProto>& attributes() const { return node_.attributes; }

  [[nodiscard]] std::size_t inputs() const { return inputs_.size(); }
  [[nodiscard]] std::size_t outputs() const { return outputs_.size(); }
  [[nodiscard]] bool has(std::size_t input) const { return input < inputs_.size() && !node_.inputs[input].empty(); }
  /// Whether the input has rows.
  [[nodiscard]] bool wide(std::size_t input) const { return has(input) && inputs_[input].axis.has_value(); }
  /// REQUIRES: wide(input).
  [[nodiscard]] std::int64_t axis(std::size_t input) const { return *inputs_[input].axis; }
  /// How many entries each row has along that axis.
  [[nodiscard]] std::int64_t each(std::size_t input) const {
    return inputs_[input].shape[static_cast<std::size_t>(axis(input))];
  }
  [[nodiscard]] bool inner(std::size_t input) const { return inputs_[input].inner; }
  /// Whether two inputs with rows have them in the same way along their axes.
  [[nodiscard]] bool alike(std::size_t a, std::size_t b) const { return each(a) == each(b) && inner(a) == inner(b); }
  /// Of an input that is left out: no axes.
  [[nodiscard]] const BatchExtents& shape(std::size_t input) const { return at(input).shape; }
  [[nodiscard]] std::int64_t rank(std::size_t input) const { return std::ssize(shape(input)); }
  [[nodiscard]] std::int64_t result_rank(std::size_t output) const { return std::ssize(outputs_[output]); }
  [[nodiscard]] const BatchExtents& result(std::size_t output) const { return outputs_[output]; }
  /// The integers of a constant; nothing when they are not known.
  [[nodiscard]] const std::optional<BatchExtents>& numbers(std::size_t input) const { return at(input).numbers; }

  /// That no other input than the first `count` has rows.
  [[nodiscard]] Status only_first(std::size_t count) const;

  void rows_at(std::size_t output, std::int64_t axis) { edits_.axes[output] = axis; }
  void rows_are_inner(bool inner) { edits_.inner = inner; }
  void all_rows_at(std::int64_t axis) { edits_.axes.assign(outputs_.size(), axis); }
  void repeat(std::size_t input, std::int64_t axis) { edits_.repeats.emplace_back(input, axis); }
  void replace(std::size_t input, BatchExtents numbers) { edits_.numbers.emplace_back(input, std::move(numbers)); }
  void freeze(std::size_t output, BatchExtents numbers) { edits_.frozen.emplace_back(output, std::move(numbers)); }
  [[nodiscard]] const RowEdits& edits() const { return edits_; }

 private:
  [[nodiscard]] const RowValue& at(std::size_t input) const {
    static const RowValue kNone;
    return input < inputs_.size() ? inputs_[input] : kNone;
  }
  [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const;

  const onnx::NodeView& node_;
  std::int64_t opset_;
  std::int64_t rows_;
  std::vector<RowValue> inputs_;
  std::vector<BatchExtents> outputs_;
  RowEdits edits_;
};

/// kUnimplemented, with the reason, when the operator would mix rows or nothing is known of it.
using RowRule = Status (*)(RowNode& node);

struct RowRuleEntry {
  std::string_view op;  ///< of the default domain
  RowRule rule = nullptr;
};

/// The rule of an operator of the default domain; null when there is none.
[[nodiscard]] RowRule find_row_rule(std::string_view op);

/// Whether it does the same with every element, after broadcasting.
[[nodiscard]] bool is_elementwise_onnx(std::string_view op);

/// Whether the rule holds when rows have several entries along their axis.
[[nodiscard]] bool takes_blocks(std::string_view op);

/// Rows of the table in row_rules.cpp that stand in files of their own.
[[nodiscard]] RowRule find_shape_rule(std::string_view op);
[[nodiscard]] RowRule find_network_rule(std::string_view op);

/// `axis`, from the back if it is negative.
[[nodiscard]] inline std::int64_t from_front(std::int64_t axis, std::int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

/// Where rows can stand in memory between entries, seen as a part of an axis.
struct RowPlace {
  std::int64_t axis = 0;
  bool inner = false;
};

/// How many entries stand before the first place of the rows.
[[nodiscard]] std::int64_t before_rows(const BatchExtents& shape, std::int64_t axis, bool inner);

/// All ways to see rows that have so many entries before them as a part of an axis of `shape`; those with an axis of
/// their own first. In memory they are the same.
[[nodiscard]] std::vector<RowPlace> places_before(const BatchExtents& shape, std::int64_t before);

[[nodiscard]] Status mixes_rows(std::string_view what);

}  // namespace leapp::runtime
