// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/verify.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace leapp::graph {
namespace {

std::string fault(const std::string& body, const std::string& outputs = "") {
  const auto graph = parse("graph (%x: float32[24], %y: float32[4,6]) {\n" + body + "\nreturn (" + outputs + ")\n}");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? verify(graph.value()).message() : "";
}

std::string strided(const std::string& self, const std::string& geometry) {
  return fault("%0: float32[2,2] = aten::as_strided(self=" + self + ", " + geometry + ") @ \"a.py\":7");
}

TEST(Verify, AcceptsWhatIsLegal) {
  EXPECT_EQ(fault("%0: float32[24] = aten::add.Tensor(self=%x, other=%x, alpha=1)", "a=%0, b=%x, c=%x"), "");
  EXPECT_EQ(fault("%0: bool[24] = aten::__and__.Tensor(self=%x, other=%x)"), "");
  EXPECT_EQ(fault("%0: float32[24] = aten::_attention_backward(grad_out=%x, out=%x)"), "");
  EXPECT_EQ(fault("%0: float32[24] = mine::update_(self=%x)"), "") << "only aten's names tell";
}

TEST(Verify, FindsWrites) {
  EXPECT_NE(fault("%0: float32[24] = aten::add_.Tensor(self=%x, other=%x, alpha=1)").find("in place"),
            std::string::npos);
  EXPECT_NE(fault("%0: float32[24] = aten::__iand__.Tensor(self=%x, other=%x)").find("in place"), std::string::npos);
  EXPECT_NE(fault("%0: float32[24] = aten::add.out(self=%x, other=%x, alpha=1, out=%x)").find("'out'"),
            std::string::npos);
}

TEST(Verify, FindsGeometryOutOfBounds) {
  EXPECT_EQ(strided("%x", "size=[2, 2], stride=[11, 12], storage_offset=0"), "");
  EXPECT_EQ(strided("%x", "size=[2, 0], stride=[100, 100], storage_offset=99"), "") << "names no element";
  EXPECT_EQ(strided("%x", "size=[2, 2], stride=[12, 12], storage_offset=0"),
            "aten::as_strided (%0) at a.py:7: size [2,2], stride [12,12] and offset 0 leave a storage of 24 elements");
  EXPECT_NE(strided("%x", "size=[2, 2], stride=[1, 2], storage_offset=-1"), "");
  EXPECT_NE(strided("%x", "size=[2, 2], stride=[-1, 2], storage_offset=4"), "");
  EXPECT_NE(strided("%x", "size=[9223372036854775807, 2], stride=[9223372036854775807, 1], storage_offset=0"), "");
  EXPECT_NE(strided("%x", "size=[2, 2], stride=[1], storage_offset=0"), "");
  EXPECT_NE(strided("%y", "size=[2, 2], stride=[1, 2], storage_offset=0").find("one-dimensional"), std::string::npos);
}

TEST(Verify, FindsOutputsOfOneName) {
  EXPECT_EQ(fault("", "a=%x, a=%y"), "expected unique output names, found \"a\" twice");
}

TEST(Verify, FindsUseBeforeDefinition) {
  Graph graph;
  Value* x = graph.add_input("x", {DType::kFloat32, {2}});
  NodeSpec spec;
  spec.op = "aten::f";
  spec.arguments = {{"self", x}};
  spec.results = {{DType::kFloat32, {2}}};
  Node* first = graph.append(spec);
  Node* second = graph.append(spec);
  graph.set_argument(first, 0, second->result());
  EXPECT_EQ(verify(graph).message(), "aten::f (%0): reads %1, which is not defined before it");
}

TEST(Verify, FindsValuesOfAnotherGraph) {
  Graph other;
  Graph graph;
  graph.add_input("x", {DType::kFloat32, {2}});
  graph.add_output("o", other.add_input("x", {DType::kFloat32, {2}}));
  EXPECT_FALSE(verify(graph).ok());
}

TEST(Verify, FindsConstantsWithoutBytes) {
  Graph graph;
  graph.add_constant({{DType::kFloat32, {0}}, nullptr}, "empty");
  EXPECT_TRUE(verify(graph).ok());
  graph.add_constant({{DType::kFloat32, {2}}, nullptr}, "w");
  EXPECT_EQ(verify(graph).message(), "constant %w: expected 8 bytes, found none");
}

}  // namespace
}  // namespace leapp::graph
