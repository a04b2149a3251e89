// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/native_engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/native/model_testing.h"
#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ModelMaker two_layers() {
  ModelMaker maker;
  maker.input("x", {1, 2}).output("y", {1, 2});
  maker.floats("w1", {3, 2}, {1, 2, 3, 4, 5, 6}).floats("b1", {3}, {1, -20, 1});
  maker.floats("w2", {3, 2}, {1, 0, 0, 1, 1, 1});
  maker.node("Gemm", {"x", "w1", "b1"}, {"h"}, {{"transB", std::int64_t{1}}});
  maker.node("Relu", {"h"}, {"r"}).node("MatMul", {"r", "w2"}, {"m"}).floats("b2", {2}, {0.5F, -0.5F});
  maker.node("Add", {"m", "b2"}, {"s"}).node("Tanh", {"s"}, {"y"});
  return maker;
}

TEST(NativeEngine, RunsLayersWithBiasAndFunctionAsOneCallEach) {
  const std::string bytes = two_layers().bytes();
  Running model(bytes);
  ASSERT_TRUE(model.ok()) << model.why();
  model.set<float>("x", {1, 1});
  ASSERT_TRUE(model.run());
  // h = relu([1+2+1, 3+4-20, 5+6+1]) = [4, 0, 12]; y = tanh([4 + 12 + 0.5, 12 - 0.5])
  EXPECT_NEAR(model.data<float>("y")[0], std::tanh(16.5F), 1e-6);
  EXPECT_NEAR(model.data<float>("y")[1], std::tanh(11.5F), 1e-6);
  const std::string plan = plan_of(bytes);
  EXPECT_EQ(occurrences(plan, "matmul packed"), 2U) << plan;
  EXPECT_EQ(occurrences(plan, "elementwise"), 0U) << plan;
}

// They are multiplied in slices: weights are read once. bench/batching.py measures it.
TEST(NativeEngine, LongRowsOfManyAreNotThoughtSlow) {
  ModelMaker maker;
  maker.input("x", {256, 1024}).output("y", {256, 512});
  maker.floats("w", {1024, 512}, std::vector<float>(std::size_t{1024} * 512, 0.5F));
  maker.node("MatMul", {"x", "w"}, {"y"});
  const std::string bytes = maker.bytes();
  const auto attempted = attempt({.name = "model", .path = {}, .bytes = std::as_bytes(std::span(bytes))});
  ASSERT_TRUE(attempted.ok());
  EXPECT_LT(attempted.value().speed.lost, 0.1 * attempted.value().speed.work);
}

TEST(NativeEngine, ElementwiseChainsAreOneLoop) {
  ModelMaker maker;
  maker.input("x", {2, 3}).output("y", {2, 3}).floats("row", {3}, {1, 2, 3}).floats("two", {}, {2});
  maker.node("Mul", {"x", "two"}, {"a"}).node("Add", {"a", "row"}, {"b"}).node("Sigmoid", {"b"}, {"c"});
  maker.node("Mul", {"b", "c"}, {"y"});
  const std::string plan = plan_of(maker.bytes());
  EXPECT_EQ(occurrences(plan, "elementwise"), 2U) << plan;  // b is read twice: it stays in memory
  ModelMaker straight;
  straight.input("x", {2, 3}).output("y", {2, 3}).floats("row", {3}, {1, 2, 3}).floats("two", {}, {2});
  straight.node("Mul", {"x", "two"}, {"a"}).node("Add", {"a", "row"}, {"b"}).node("Neg", {"b"}, {"c"});
  straight.node("Abs", {"c"}, {"y"});
  EXPECT_EQ(occurrences(plan_of(straight.bytes()), "elementwise"), 1U) << plan_of(straight.bytes());
  for (ModelMaker* one : {&maker, &straight}) {
    Running model(one->bytes());
    ASSERT_TRUE(model.ok()) << model.why();
    model.set<float>("x", {0, 1, 2, -1, -2, -3});
    ASSERT_TRUE(model.run());
    for (int i = 0; i < 6; ++i) {
      const float b = model.data<float>("x")[i] * 2 + static_cast<float>(i % 3 + 1);
      const float expected = one == &maker ? b / (1 + std::exp(-b)) : std::fabs(b);
      EXPECT_NEAR(model.data<float>("y")[i], expected, 1e-6) << i;
    }
  }
}

TEST(NativeEngine, WhatIsKnownIsWorkedOutWhenLoading) {
  ModelMaker maker;
  maker.input("x", {2, 6}).output("y", {3, 4}).ints("four", {4});
  maker.node("Shape", {"x"}, {"shape"}).node("ReduceProd", {"shape"}, {"count"});
  maker.node("Div", {"count", "four"}, {"rows"}).node("Concat", {"rows", "four"}, {"to"}, {{"axis", std::int64_t{0}}});
  maker.node("Reshape", {"x", "to"}, {"y"});
  const std::string plan = plan_of(maker.bytes());
  EXPECT_EQ(occurrences(plan, "  # "), 1U) << plan;  // the copy from input to output
  Running model(maker.bytes());
  ASSERT_TRUE(model.ok()) << model.why();
}

TEST(NativeEngine, MemoryIsUsedAgain) {
  ModelMaker maker;
  maker.input("x", {64, 64}).output("y", {64, 64});
  std::string last = "x";
  for (int i = 0; i < 20; ++i) {
    const std::string next = i == 19 ? "y" : "t" + std::to_string(i);
    maker.node("Transpose", {last}, {next});
    last = next;
  }
  const std::string plan = plan_of(maker.bytes());
  EXPECT_TRUE(contains(plan, "arena 32768 bytes")) << plan;  // two of them, not nineteen
}

TEST(NativeEngine, AnIndexOutOfRangeFailsTheRunAndReadsNothing) {
  ModelMaker maker;
  maker.input("i", {2}, DType::kInt64).output("y", {2}).floats("table", {3}, {10, 20, 30});
  maker.node("Gather", {"table", "i"}, {"y"});
  Running model(maker.bytes());
  ASSERT_TRUE(model.ok()) << model.why();
  model.set<std::int64_t>("i", {2, -3});
  ASSERT_TRUE(model.run());
  EXPECT_EQ(model.get<float>("y", 2), (std::vector<float>{30, 10}));
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-4}, std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()}) {
    model.set<std::int64_t>("i", {0, bad});
    EXPECT_FALSE(model.run()) << bad;
    EXPECT_TRUE(contains(model.model().error().message(), "an index is out of range in Gather \"at_y\""))
        << model.model().error().message();
  }
  model.set<std::int64_t>("i", {0, 1});
  EXPECT_TRUE(model.run());
}

TEST(NativeEngine, ScattersCheckTheirIndicesToo) {
  ModelMaker maker;
  maker.input("i", {1, 1}, DType::kInt64).output("y", {3}).floats("x", {3}, {1, 2, 3}).floats("u", {1}, {9});
  maker.node("ScatterND", {"x", "i", "u"}, {"y"}, {{"reduction", std::string("add")}});
  Running model(maker.bytes());
  ASSERT_TRUE(model.ok()) << model.why();
  model.set<std::int64_t>("i", {-1});
  ASSERT_TRUE(model.run());
  EXPECT_EQ(model.get<float>("y", 3), (std::vector<float>{1, 2, 12}));
  model.set<std::int64_t>("i", {3});
  EXPECT_FALSE(model.run());
}

TEST(NativeEngine, AnIntegerDivisionByZeroFailsTheRun) {
  ModelMaker maker;
  maker.input("a", {2}, DType::kInt32).input("b", {2}, DType::kInt32).output("y", {2}, DType::kInt32);
  maker.node("Div", {"a", "b"}, {"y"});
  // The first run is on zeros: a model whose divisor comes from outside is prepared on what is there.
  Running model(maker.bytes());
  EXPECT_TRUE(contains(model.why(), "divided by 0")) << model.why();
}

TEST(NativeEngine, EveryNodeThatIsNotCoveredIsListed) {
  ModelMaker maker;
  maker.input("x", {2}).output("y", {2});
  maker.node("Frobnicate", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("StringNormalizer", {"b"}, {"c"});
  maker.node("Add", {"c", "x"}, {"y"}).node("NonZero", {"x"}, {"z"});
  auto engine = open_native();
  const std::string bytes = maker.bytes();
  const auto loaded = engine->load({.name = "model", .path = {}, .bytes = std::as_bytes(std::span(bytes))});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), StatusCode::kUnimplemented);
  for (const char* name : {"Frobnicate \"at_a\" (makes \"a\")", "StringNormalizer \"at_c\"", "NonZero \"at_z\""}) {
    EXPECT_TRUE(contains(loaded.status().message(), name)) << loaded.status().message();
  }
  EXPECT_FALSE(contains(loaded.status().message(), "Relu")) << loaded.status().message();
}

TEST(NativeEngine, LoopsCarryTheirState) {
  ModelMaker body;
  body.input("i", {}, DType::kInt64).input("go", {}, DType::kBool).input("a", {2}).input("b", {2});
  body.output("on", {}, DType::kBool).output("b", {2}).output("sum", {2});
  body.node("Identity", {"go"}, {"on"}).node("Add", {"a", "b"}, {"sum"});
  ModelMaker maker;
  maker.input("n", {}, DType::kInt64).input("x", {2}).output("p", {2}).output("q", {2}).floats("one", {2}, {1, 1});
  maker.node("Loop", {"n", "", "x", "one"}, {"p", "q"},
             {{"body", std::make_shared<const onnx::GraphProto>(body.graph())}});
  Running model(maker.bytes());
  ASSERT_TRUE(model.ok()) << model.why();
  model.set<std::int64_t>("n", {5});
  model.set<float>("x", {0, 2});
  ASSERT_TRUE(model.run());
  EXPECT_EQ(model.get<float>("p", 2), (std::vector<float>{5, 11}));  // (a, b) becomes (b, a + b), five times
  EXPECT_EQ(model.get<float>("q", 2), (std::vector<float>{8, 18}));
}

TEST(NativeEngine, BranchesTakeOneSide) {
  ModelMaker yes;
  yes.output("r", {2}).node("Mul", {"x", "x"}, {"r"});
  ModelMaker no;
  no.output("s", {2}).node("Neg", {"x"}, {"s"});
  ModelMaker maker;
  maker.input("c", {}, DType::kBool).input("x", {2}).output("y", {2});
  maker.node("If", {"c"}, {"y"},
             {{"then_branch", std::make_shared<const onnx::GraphProto>(yes.graph())},
              {"else_branch", std::make_shared<const onnx::GraphProto>(no.graph())}});
  Running model(maker.bytes());
  ASSERT_TRUE(model.ok()) << model.why();
  model.set<float>("x", {3, -4});
  model.set<std::uint8_t>("c", {1});
  ASSERT_TRUE(model.run());
  EXPECT_EQ(model.get<float>("y", 2), (std::vector<float>{9, 16}));
  model.set<std::uint8_t>("c", {0});
  ASSERT_TRUE(model.run());
  EXPECT_EQ(model.get<float>("y", 2), (std::vector<float>{-3, 4}));
}

TEST(NativeEngine, HugeShapesAreRefusedBeforeAnythingIsAllocated) {
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{1LL << 40, 1LL << 40, 1LL << 40},
                                                std::vector<std::int64_t>{1LL << 33}, std::vector<std::int64_t>{-5}}) {
    ModelMaker maker;
    maker.input("x", {1}).output("y", {1}).ints("shape", dims).node("ConstantOfShape", {"shape"}, {"big"});
    maker.node("Add", {"x", "big"}, {"y"});
    const Running model(maker.bytes());
    EXPECT_TRUE(contains(model.why(), "ConstantOfShape")) << model.why();
  }
}

TEST(NativeEngine, AnOutputThatIsAnInputOrAConstantIsCopied) {
  ModelMaker maker;
  maker.input("x", {2}).output("x", {2}).output("k", {2}).floats("k", {2}, {7, 8});
  Running model(maker.bytes());
  ASSERT_TRUE(model.ok()) << model.why();
  EXPECT_EQ(model.get<float>("k", 2), (std::vector<float>{7, 8}));
}

// What a stranger's file may hold: any byte of a sound model changed, or the model cut short.
TEST(NativeEngine, AnyBytesEndInAnErrorOrAModelThatRuns) {
  ModelMaker maker = two_layers();
  maker.input("i", {1}, DType::kInt64).output("g", {1, 2}).output("t", {2, 1}).output("s", {1, 1});
  maker.node("Gather", {"w2", "i"}, {"g"}).node("Transpose", {"x"}, {"t"}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  maker.ints("from", {1}).ints("to", {2}).ints("axis", {1}).node("Slice", {"x", "from", "to", "axis"}, {"s"});
  const std::string sound = maker.bytes();
  ASSERT_TRUE(Running(sound).ok()) << Running(sound).why();
  std::mt19937 random(7);
  int running = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = sound;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < changes; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 10 == 0) bytes.resize(random() % bytes.size());
    Running model(bytes);
    if (!model.ok()) continue;
    (void)model.run();
    ++running;
  }
  EXPECT_GT(running, 0);
}

TEST(Numbers, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float wide = widen(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(widen(to_half(wide))));
    } else {
      EXPECT_EQ(to_half(wide).bits, half.bits);
    }
  }
}

TEST(Numbers, RoundToTheNearestAndTiesToEven) {
  EXPECT_EQ(to_half(1.0F + 1.0F / 2048).bits, to_half(1.0F).bits);
  EXPECT_EQ(to_half(1.0F + 3.0F / 2048).bits, to_half(1.0F + 4.0F / 2048).bits);
  EXPECT_EQ(to_half(65519.0F).bits, 0x7BFFU);
  EXPECT_EQ(to_half(65520.0F).bits, 0x7C00U);
  EXPECT_EQ(to_bfloat(1.0F + 1.0F / 256).bits, to_bfloat(1.0F).bits);
  EXPECT_EQ((convert<std::int32_t>(1e20F)), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((convert<std::int64_t>(std::nan(""))), std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace leapp::native
