// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes that are added to a model for many rows.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "onnx_proto/rewrite.h"
#include "runtime/batch/batch_node.h"

namespace leapp::runtime {

class RowWriter {
 public:
  RowWriter(const onnx::ModelView& model, std::int64_t rows) : rows_(rows), rewrite_(model) {}

  [[nodiscard]] onnx::Rewrite& model() { return rewrite_; }

  /// A name that the model has.
  void reserve(std::string_view name) { names_.emplace(name); }
  /// A name that nothing has yet.
  std::string fresh(const std::string& wanted);
  std::string constant(const BatchExtents& numbers, const std::string& wanted);
  /// Reshape and the like, which are told a shape.
  void add_operator(const char* op, const std::string& from, const BatchExtents& shape, const std::string& to);
  std::string transposed(const std::string& from, const BatchExtents& order);
  /// What has `from` entries before its rows, with `to` of them there; `shape`: that of one row. One divides the other:
  /// both are products of its first extents.
  std::string carried(const std::string& name, const BatchExtents& shape, std::int64_t from, std::int64_t to);
  /// Lists of places, `shape` for each row, with the row's number before each of them.
  std::string counted(const std::string& places, const BatchExtents& shape);
  [[nodiscard]] BatchExtents rows_before(const BatchExtents& shape) const;

 private:
  std::int64_t rows_;
  onnx::Rewrite rewrite_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace leapp::runtime
