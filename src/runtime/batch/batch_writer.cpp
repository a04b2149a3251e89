// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/batch/batch_writer.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace leapp::runtime {

std::string RowWriter::fresh(const std::string& wanted) {
  std::string name = wanted;
  while (!names_.insert(name).second) name += "_";
  return name;
}

std::string RowWriter::constant(const BatchExtents& numbers, const std::string& wanted) {
  const std::string name = fresh(wanted);
  onnx::NodeProto node;
  node.op_type = "Constant";
  node.outputs = {name};
  node.name = fmt::format("rows/Constant({})", name);
  node.attributes = {{"value_ints", numbers}};
  rewrite_.add_node(node);
  return name;
}

void RowWriter::add_operator(const char* op, const std::string& from, const BatchExtents& shape,
                             const std::string& to) {
  onnx::NodeProto node;
  node.op_type = op;
  node.inputs = {from, constant(shape, to + "/shape")};
  node.outputs = {to};
  node.name = fmt::format("rows/{}({})", op, to);
  rewrite_.add_node(node);
}

std::string RowWriter::transposed(const std::string& from, const BatchExtents& order) {
  onnx::NodeProto node;
  node.op_type = "Transpose";
  node.inputs = {from};
  node.outputs = {fresh(from + "/turned")};
  node.name = fmt::format("rows/Transpose({})", node.outputs.front());
  node.attributes = {{"perm", order}};
  rewrite_.add_node(node);
  return node.outputs.front();
}

std::string RowWriter::carried(const std::string& name, const BatchExtents& shape, std::int64_t from, std::int64_t to) {
  if (from == to) return name;
  const std::int64_t all = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  const std::string parts = fresh(name + "/parts");
  if (from < to) {
    add_operator("Reshape", name, {from, rows_, to / from, all / to}, parts);
  } else {
    add_operator("Reshape", name, {to, from / to, rows_, all / from}, parts);
  }
  return transposed(parts, {0, 2, 1, 3});
}

BatchExtents RowWriter::rows_before(const BatchExtents& shape) const {
  BatchExtents wide = shape;
  wide.insert(wide.begin(), rows_);
  return wide;
}

std::string RowWriter::counted(const std::string& places, const BatchExtents& shape) {
  BatchExtents numbers(static_cast<std::size_t>(rows_));
  std::iota(numbers.begin(), numbers.end(), 0);
  BatchExtents wide = rows_before(shape);
  wide.back() = 1;
  BatchExtents column(wide.size(), 1);
  column.front() = rows_;
  const std::string turned = fresh(places + "/row");
  const std::string row = fresh(places + "/rows");
  add_operator("Reshape", constant(numbers, places + "/count"), column, turned);
  add_operator("Expand", turned, wide, row);
  onnx::NodeProto node;
  node.op_type = "Concat";
  node.inputs = {row, places};
  node.outputs = {fresh(places + "/counted")};
  node.name = fmt::format("rows/Concat({})", node.outputs.front());
  node.attributes = {{"axis", std::ssize(shape)}};
  rewrite_.add_node(node);
  return node.outputs.front();
}

}  // namespace leapp::runtime
