// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/emitter.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace leapp::emit {
namespace {

graph::Graph parsed(std::string_view text) {
  auto graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

std::string emitted(std::string_view text, const OnnxOptions& options = {}) {
  const auto model = emit_onnx(parsed(text), options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() ? model.value().model.text() : "";
}

Status error_of(std::string_view text, const OnnxOptions& options = {}) {
  const auto model = emit_onnx(parsed(text), options);
  EXPECT_FALSE(model.ok());
  return model.status();
}

std::size_t count(const std::string& bytes, std::string_view text) {
  std::size_t found = 0;
  for (std::size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) ++found;
  return found;
}

constexpr std::string_view kAdd = R"(graph g(%x: float32[2], %y: float32[2]) {
  %0: float32[2] = aten::add.Tensor(self=%x, other=%y, alpha=1)  @ "policy.py":12 in "forward"
  return (sum=%0)
})";

TEST(Emitter, TheSameGraphGivesTheSameBytes) { EXPECT_EQ(emitted(kAdd), emitted(kAdd)); }

TEST(Emitter, NodesSayWhichLineTheyCameFrom) { EXPECT_EQ(count(emitted(kAdd), "policy.py:12"), 1U); }

TEST(Emitter, AnUnknownOperatorIsNamedWithItsLine) {
  const Status status = error_of(R"(graph g(%x: float32[2]) {
  %0: float32[2] = aten::frobnicate.Tensor(self=%x)  @ "policy.py":3
  return (y=%0)
})");
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("aten::frobnicate.Tensor at policy.py:3"), std::string::npos) << status.message();
}

constexpr std::string_view kBranch = R"(graph g(%x: float32[2], %p: bool[]) {
  %net.weight = parameter float32[2] [1, 2]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=%net.weight)
  %y: float32[2], %z: float32[2] = leapp::if(condition=%p, operands=[%x, %0], then=graph (%x: float32[2], %0: float32[2]) {
    %net.weight = parameter float32[2] [1, 2]
    %1: float32[2] = aten::div.Tensor(self=%x, other=%net.weight)  @ "robot.py":3
    return (0=%1, 1=%1)
  }, else=graph (%x: float32[2], %0: float32[2]) {
    %c = constant float32[2] [7, 8]
    return (0=%0, 1=%c)
  })  @ "robot.py":9
  return (y=%y, z=%z)
})";

TEST(Emitter, ABranchHasItsSidesInside) {
  const std::string bytes = emitted(kBranch);
  EXPECT_EQ(count(bytes, "then_branch"), 2U);  // the attribute, and the name of the graph in it
  EXPECT_EQ(count(bytes, "If_0_else_branch"), 1U);
  EXPECT_EQ(count(bytes, "robot.py:3"), 1U);
  EXPECT_EQ(count(bytes, "robot.py:9"), 1U);
  // Two uses and one initializer: sides and graph share it.
  EXPECT_EQ(count(bytes, "net.weight"), 3U);
  EXPECT_EQ(bytes, emitted(kBranch));
}

TEST(Emitter, ValuesInsideABranchAreNoOutputsToAdd) {
  const graph::Graph graph = parsed(kBranch);
  const auto model = emit_onnx(graph, {});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model.value().value_names.size(), 3U);  // %0, %y, %z
}

TEST(Emitter, AnUnknownOperatorInsideABranchIsNamedWithItsLine) {
  std::string text(kBranch);
  text.replace(text.find("aten::div.Tensor"), 16, "aten::frobnicate");
  const Status status = error_of(text);
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("aten::frobnicate at robot.py:3"), std::string::npos) << status.message();
}

TEST(Emitter, OpsetsAndIrVersionsOutOfRangeAreRefused) {
  EXPECT_EQ(error_of(kAdd, {.opset_version = 12}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error_of(kAdd, {.opset_version = 24}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error_of(kAdd, {.opset_version = 21, .ir_version = 9}).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(emit_onnx(parsed(kAdd), {.opset_version = 21, .ir_version = 10}).ok());
}

TEST(Emitter, AnInputReturnedUnchangedAndAValueReturnedTwicePassThroughIdentities) {
  const std::string bytes = emitted(R"(graph g(%x: float32[2]) {
  %0: float32[2] = aten::sin(self=%x)
  return (a=%0, b=%0, c=%x)
})");
  EXPECT_EQ(count(bytes, "Identity_"), 2U);
}

TEST(PortNames, ANameUsedTwiceSaysWhichIsWhich) {
  const graph::Graph graph = parsed(R"(graph g(%h: float32[2], %h_in: float32[2], %x: float32[2]) {
  return (h=%x, y=%h)
})");
  const OnnxPortNames names = onnx_port_names(graph);
  EXPECT_EQ(names.inputs, (std::vector<std::string>{"h_in_", "h_in", "x"}));
  EXPECT_EQ(names.outputs, (std::vector<std::string>{"h_out", "y"}));
}

TEST(Emitter, AResultThatHappenedToBeEmptyIsNoConstant) {
  const Status status = error_of(R"(graph g(%x: float32[2]) {
  %0: int64[0] = aten::nonzero_numpy(self=%x)
  return (y=%0)
})");
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented) << status.message();
}

TEST(Emitter, EqualConstantsAreStoredOnce) {
  const std::string bytes = emitted(R"(graph g(%x: float32[2]) {
  %w = constant float32[2] [1.25, 2.5]
  %v = constant float32[2] [1.25, 2.5]
  %0: float32[2] = aten::add.Tensor(self=%x, other=%w, alpha=1)
  %1: float32[2] = aten::add.Tensor(self=%0, other=%v, alpha=1)
  return (y=%1)
})");
  const std::vector<float> values = {1.25F, 2.5F};
  EXPECT_EQ(count(bytes, {reinterpret_cast<const char*>(values.data()), 8}), 1U);
}

TEST(Emitter, WeightsThatDoNotFitGoIntoTheFileBeside) {
  std::string text = "graph g(%x: float32[400]) {\n  %w = constant float32[400] [";
  for (int i = 0; i < 400; ++i) text += (i == 0 ? "" : ", ") + std::to_string(i);
  text += "]\n  %0: float32[400] = aten::add.Tensor(self=%x, other=%w, alpha=1)\n  return (y=%0)\n}";
  const graph::Graph graph = parsed(text);
  const auto inside = emit_onnx(graph);
  const auto outside = emit_onnx(graph, {.external_data_name = "m.onnx.data", .max_inline_bytes = 1000});
  ASSERT_TRUE(inside.ok() && outside.ok());
  EXPECT_EQ(inside.value().external_data.size(), 0U);
  EXPECT_EQ(outside.value().external_data.size(), 1600U);
  EXPECT_LT(outside.value().model.size() + 1000, inside.value().model.size());
  EXPECT_EQ(error_of(text, {.max_inline_bytes = 1000}).code(), StatusCode::kInvalidArgument);
}

TEST(Emitter, ComputesInAWiderDtypeWhereThereIsNoKernel) {
  const std::string bytes = emitted(R"(graph g(%x: bfloat16[2]) {
  %0: bfloat16[2] = aten::sin(self=%x)
  return (y=%0)
})");
  EXPECT_EQ(count(bytes, "Cast_"), 2U) << "to float32 and back, as torch computes it";
}

TEST(Emitter, RefusesADtypeThatNoKernelHas) {
  const Status status = error_of(R"(graph g(%x: float64[1,2,3], %w: float64[2,1,2]) {
  %0: float64[1,1,4] = aten::conv_transpose1d(input=%x, weight=%w, bias=None, stride=[1], padding=[0], output_padding=[0], groups=1, dilation=[1])  @ "policy.py":7
  return (y=%0)
})");
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("policy.py:7"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("float64"), std::string::npos) << status.message();
}

TEST(Emitter, AGraphThatPromisesAnotherTypeIsAFaultOfOurs) {
  EXPECT_EQ(error_of(R"(graph g(%x: float32[2]) {
  %0: float32[3] = aten::sin(self=%x)
  return (y=%0)
})")
                .code(),
            StatusCode::kInternal);
}

TEST(Emitter, AnArgumentThatIsMissingIsAFaultOfOurs) {
  EXPECT_EQ(error_of(R"(graph g(%x: float32[2]) {
  %0: float32[2] = aten::elu(self=%x)
  return (y=%0)
})")
                .code(),
            StatusCode::kInternal);
}

TEST(Emitter, InternalNamesKeepAwayFromPorts) {
  // "t0" and "c0" are what generated names look like.
  const std::string bytes = emitted(R"(graph g(%t0: float32[2], %c0: float32[2]) {
  %0: float32[2] = aten::add.Tensor(self=%t0, other=2.5, alpha=1)
  %1: float32[2] = aten::mul.Tensor(self=%0, other=%c0)
  return (t1=%1)
})");
  EXPECT_NE(bytes.find("t0"), std::string::npos);
  EXPECT_NE(bytes.find("_0"), std::string::npos) << "a name that was taken gets a number";
}

TEST(Emitter, NamesInALoopAreNotThoseAround) {
  const std::string bytes = emitted(R"(graph g(%x: float32[2], %n: float32[2]) {
  %0: float32[2] = aten::special_legendre_polynomial_p(x=%x, n=%n)  @ "policy.py":7
  %1: float32[2] = aten::special_hermite_polynomial_h(x=%0, n=%n)  @ "policy.py":8
  return (y=%1)
})");
  EXPECT_EQ(count(bytes, "Loop_0_body"), 1U);
  EXPECT_EQ(count(bytes, "Loop_1_body"), 1U);
  EXPECT_EQ(count(bytes, "Add_0"), 1U) << "a name once in all graphs";
}

TEST(Emitter, MetadataIsWritten) {
  const std::string bytes = emitted(kAdd, {.metadata = {{"frequency", "50.0 Hz"}}});
  EXPECT_EQ(count(bytes, "50.0 Hz"), 1U);
}

TEST(Supported, ByNameAndOverload) {
  EXPECT_TRUE(is_supported("aten::add", "Tensor"));
  EXPECT_TRUE(is_supported("aten::sin", ""));
  EXPECT_FALSE(is_supported("aten::add", "Frobnicated"));
  EXPECT_FALSE(is_supported("aten::frobnicate", ""));
}

}  // namespace
}  // namespace leapp::emit
