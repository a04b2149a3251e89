// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/contents.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "onnx_proto/writer.h"

namespace leapp::onnx {
namespace {

TensorProto float_tensor(const std::string& name, const std::vector<float>& values) {
  TensorProto tensor;
  tensor.name = name;
  tensor.data_type = *data_type_of(DType::kFloat32);
  tensor.dims = {static_cast<std::int64_t>(values.size())};
  tensor.raw_data = Bytes::copy_of(std::as_bytes(std::span(values)));
  return tensor;
}

std::string model_text() {
  ModelProto model;
  model.ir_version = 8;
  model.opset_imports = {{"", 18}};
  model.graph.name = "test";
  model.graph.nodes = {
      {{"x", "w"}, {"y"}, "first", "Gemm", "", "line 3", {{"alpha", 0.5F}, {"transB", std::int64_t{1}}}},
      {{"y", ""}, {"z"}, "second", "Thing", "mine", "", {{"axes", std::vector<std::int64_t>{-1, 2}}, {"mode", "up"}}},
      {{"z"}, {"u"}, "third", "Gemm", "ai.onnx", "", {{"value", float_tensor("inside", {1, 2})}}}};
  model.graph.initializers = {float_tensor("w", {1, 2, 3})};
  model.graph.inputs = {{"x", 1, {1}}};
  model.graph.outputs = {{"u", 1, {1}}};
  return write_model(model).text();
}

Encoded bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Contents, NodesHaveTheirOperatorNamesAndAttributes) {
  const std::string text = model_text();
  const ModelView model = read_model(bytes_of(text)).value();
  const NodeView first = read_node(model.graph.nodes[0]).value();
  EXPECT_EQ(first.op_type, "Gemm");
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.doc_string, "line 3");
  EXPECT_EQ(first.inputs, (std::vector<std::string_view>{"x", "w"}));
  ASSERT_EQ(first.attributes.size(), 2U);
  EXPECT_EQ(std::get<float>(first.attributes[0].value), 0.5F);
  EXPECT_EQ(std::get<std::int64_t>(first.attributes[1].value), 1);
  const NodeView second = read_node(model.graph.nodes[1]).value();
  EXPECT_EQ(second.domain, "mine");
  EXPECT_EQ(second.inputs[1], "");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(second.attributes[0].value), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(std::get<std::string>(second.attributes[1].value), "up");
  const NodeView third = read_node(model.graph.nodes[2]).value();
  EXPECT_EQ(std::get<TensorProto>(third.attributes[0].value).dims, (std::vector<std::int64_t>{2}));
}

TEST(Contents, OperatorsAreCounted) {
  const std::string text = model_text();
  const auto counts = count_operators(read_model(bytes_of(text)).value()).value();
  EXPECT_EQ(counts, (std::map<std::string, std::size_t>{{"Gemm", 2}, {"mine::Thing", 1}}));
}

TEST(Contents, TensorsGiveTheirBytes) {
  const std::string text = model_text();
  const ModelView model = read_model(bytes_of(text)).value();
  const TensorContents tensor = read_tensor(model.graph.initializers[0].bytes).value();
  EXPECT_EQ(tensor.name, "w");
  EXPECT_EQ(tensor.dtype, DType::kFloat32);
  EXPECT_EQ(tensor.elements(), 3U);
  std::array<float, 3> values{};
  ASSERT_EQ(tensor.bytes.view.size(), sizeof values);
  std::memcpy(values.data(), tensor.bytes.view.data(), sizeof values);
  EXPECT_EQ(values, (std::array<float, 3>{1, 2, 3}));
}

// Tag and wire type of a field of TensorProto, then one byte or a length and bytes.
TEST(Contents, TensorsInFieldsOfTheirTypeAreRead) {
  // int8[2] = {-1, 5} as int32_data, not packed: 1: 2, 2: INT8 (3), 5: -1, 5: 5.
  const std::string minus_one = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  const std::string small = std::string("\x08\x02\x10\x03\x28", 5) + minus_one + "\x28\x05";
  const TensorContents tensor = read_tensor(bytes_of(small)).value();
  ASSERT_EQ(tensor.bytes.view.size(), 2U);
  EXPECT_EQ(tensor.bytes.view[0], std::byte{0xff});
  EXPECT_EQ(tensor.bytes.view[1], std::byte{5});
  // int64[2] = {7, 300}, packed: 1: 2, 2: INT64 (7), 7: length 3.
  const std::string packed("\x08\x02\x10\x07\x3a\x03\x07\xac\x02", 9);
  const TensorContents longs = read_tensor(bytes_of(packed)).value();
  std::array<std::int64_t, 2> values{};
  ASSERT_EQ(longs.bytes.view.size(), sizeof values);
  std::memcpy(values.data(), longs.bytes.view.data(), sizeof values);
  EXPECT_EQ(values, (std::array<std::int64_t, 2>{7, 300}));
}

TEST(Contents, WhatDoesNotFitIsRefused) {
  const std::string too_short("\x08\x03\x10\x07\x3a\x03\x07\xac\x02", 9);  // int64[3] with two numbers
  EXPECT_EQ(read_tensor(bytes_of(too_short)).status().code(), StatusCode::kDataLoss);
  const std::string huge = std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x08\xff\xff\xff\xff\x7f", 16);
  EXPECT_EQ(read_tensor(bytes_of(huge)).status().code(), StatusCode::kDataLoss);
  const std::string text = model_text();
  // Any piece of a model ends in a Status or a result.
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Encoded piece = bytes_of(text).subspan(size);
    (void)read_node(piece).ok();
    (void)read_tensor(piece).ok();
  }
}

}  // namespace
}  // namespace leapp::onnx
