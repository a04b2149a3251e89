// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/generate.h"

#include <gtest/gtest.h>

#include <random>

#include "codegen/kernel_table.h"
#include "engine/native/model_testing.h"

namespace leapp::codegen {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A model of one node called "n" whose ports are all the caller's.
struct Maker {
  native::ModelMaker model;
  Request request;
  std::string bytes;

  Maker& input(const std::string& port, const Shape& shape, DType dtype = DType::kFloat32) {
    model.input("n/" + port, shape, dtype);
    request.wiring.inputs.push_back({0, request.ports.inputs.size()});
    request.ports.inputs.push_back({.name = "n/" + port, .dtype = dtype, .shape = shape});
    return *this;
  }
  Maker& output(const std::string& port, const Shape& shape, DType dtype = DType::kFloat32) {
    model.output("n/" + port, shape, dtype);
    request.wiring.outputs.push_back({0, request.ports.outputs.size()});
    request.ports.outputs.push_back({.name = "n/" + port, .dtype = dtype, .shape = shape});
    return *this;
  }
  Result<Sources> run(const std::string& name = "test") {
    bytes = model.bytes();
    request.name = name;
    request.model = std::as_bytes(std::span(bytes));
    return generate(request);
  }
};

Maker relu() {
  Maker maker;
  maker.input("x", {1, 4}).output("y", {1, 4});
  maker.model.node("Relu", {"n/x"}, {"n/y"});
  return maker;
}

TEST(Generate, WritesTheStepsAndTheStructs) {
  const auto made = relu().run();
  ASSERT_TRUE(made.ok()) << made.status().message();
  const Sources& sources = made.value();
  EXPECT_TRUE(sources.uncovered.empty());
  EXPECT_EQ(sources.name, "test");
  EXPECT_EQ(sources.steps, 1U);
  EXPECT_TRUE(sources.header.starts_with(kFirstWords));
  EXPECT_TRUE(contains(sources.header, "// n/x float32[1,4]\n  float x[4];")) << sources.header;
  EXPECT_TRUE(contains(sources.source, "// Step 1: Relu \"at_n/y\"")) << sources.source;
  EXPECT_TRUE(contains(sources.source, "inline T relu(T x)"));
  EXPECT_FALSE(contains(sources.source, "sigmoid"));  // only what is used
}

TEST(Generate, TheNamespaceIsTheBundlesNameSpelled) {
  EXPECT_EQ(relu().run("exp").value().name, "exp_");
  EXPECT_EQ(relu().run("my robot, 2nd */").value().name, "my_robot_2nd");
  EXPECT_EQ(relu().run("namespace").value().name, "namespace_");
  EXPECT_FALSE(contains(relu().run("x */ int y;\n#error").value().source, "\n#error"));
}

TEST(Generate, TakesWeightsAsTheyAreInTheModel) {
  Maker maker;
  maker.input("x", {1, 2}).output("y", {1, 3});
  maker.model.floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}).node("MatMul", {"n/x", "w"}, {"n/y"});
  const auto made = maker.run();
  ASSERT_TRUE(made.ok());
  // One row for each number that is made.
  EXPECT_TRUE(contains(made.value().source, "const float w[6] = {\n    1.0F, 4.0F, 2.0F, 5.0F, 3.0F, 6.0F};"))
      << made.value().source;
  EXPECT_EQ(made.value().weight_bytes, 24U);
  EXPECT_EQ(made.value().state_bytes, 0U);  // no memory that only vector kernels need
}

TEST(Generate, ListsWhatTheEngineDoesNotCover) {
  Maker maker;
  maker.input("x", {1, 4}).output("y", {1, 4});
  maker.model.node("Whatever", {"n/x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Other", {"n/x"}, {"c"});
  maker.model.node("Add", {"b", "c"}, {"n/y"});
  const auto made = maker.run();
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made.value().uncovered.size(), 2U);
  EXPECT_EQ(made.value().uncovered[0].op, "Whatever");
  EXPECT_EQ(made.value().uncovered[0].node, "at_a");
  EXPECT_EQ(made.value().uncovered[1].port, "c");
  EXPECT_TRUE(made.value().source.empty());
}

TEST(Generate, ASizeThatIsLeftOpenIsRefused) {
  Maker maker;
  maker.input("x", {1, -1}).output("y", {1, -1});
  maker.model.node("Relu", {"n/x"}, {"n/y"});
  const auto made = maker.run();
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made.value().uncovered.size(), 1U);
  EXPECT_EQ(made.value().uncovered[0].why, "its type or shape is not fixed");
}

TEST(Generate, WhatCannotBeCountedIsRefused) {
  Maker maker;
  maker.input("x", {65536, 65536}).output("y", {65536, 65536});
  maker.model.node("Relu", {"n/x"}, {"n/y"});
  const auto made = maker.run();
  ASSERT_TRUE(made.ok());
  ASSERT_FALSE(made.value().uncovered.empty());
  EXPECT_EQ(made.value().uncovered[0].op, "Relu");
  EXPECT_EQ(made.value().uncovered[0].port, "n/y");
}

TEST(Generate, TooManyWeightsAreRefused) {
  Maker maker;
  const std::int64_t count = static_cast<std::int64_t>(kMostWeights / sizeof(float)) + 1;
  maker.input("x", {count}).output("y", {count});
  maker.model.floats("w", {count}, std::vector<float>(static_cast<std::size_t>(count), 1.0F));
  maker.model.node("Add", {"n/x", "w"}, {"n/y"});
  const auto made = maker.run();
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(contains(made.status().message(), "the weights take 67108868 bytes; as source there may be 67108864"))
      << made.status().message();
}

TEST(Generate, OutputsAreMadeBesideIfAStepMayFail) {
  Maker maker;
  maker.input("i", {1}, DType::kInt64).output("y", {1});
  maker.model.floats("table", {3}, {1, 2, 3}).node("Gather", {"table", "n/i"}, {"n/y"});
  const auto made = maker.run();
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(contains(made.value().source, "if (!gather(table, inputs.i, state.next_y, 1, 3, 1, 1)) return 1;"))
      << made.value().source;
  Maker known;
  known.input("x", {3}).output("y", {2});
  known.model.ints("places", {-1, 0}).node("Gather", {"n/x", "places"}, {"n/y"});
  EXPECT_TRUE(contains(known.run().value().source, "outputs.y, 1, 3, 2, 1)"));
  Maker bad;  // known, and out of range: it fails in each step
  bad.input("x", {3}).output("y", {1});
  bad.model.ints("places", {3}).node("Gather", {"n/x", "places"}, {"n/y"});
  EXPECT_TRUE(contains(bad.run().value().source, "state.next_y"));
}

TEST(Generate, AnythingThatIsNoModelIsAnError) {
  Request request;
  const std::string bytes = "no model";
  request.model = std::as_bytes(std::span(bytes));
  EXPECT_FALSE(generate(request).ok());
}

TEST(Generate, PortsAreWhatTheModelReallyHas) {
  Maker wrong = relu();
  wrong.request.ports.outputs[0].shape = {1, 3};
  EXPECT_EQ(wrong.run().status().message(), "output \"n/y\": the bundle says float32[1,3], the model float32[1,4]");
  // The model says so itself, and does something else.
  Maker liar;
  liar.input("x", {1, 4}).output("y", {2});
  liar.model.node("Relu", {"n/x"}, {"n/y"});
  EXPECT_EQ(liar.run().status().message(), "output \"n/y\": the bundle says float32[2], the model float32[1,4]");
  Maker fewer = relu();
  fewer.request.ports.inputs.push_back({.name = "n/w", .dtype = DType::kFloat32, .shape = {1}});
  EXPECT_EQ(fewer.run().status().message(), "the bundle has 2 inputs, the model 1");
  Maker other = relu();
  other.request.ports.outputs[0].name = "n/q";
  EXPECT_EQ(other.run().status().message(), "the bundle has no output \"n/y\"");
}

// Any bytes end in a Status, a list of what is not covered, or two texts: never in a crash.
TEST(Generate, BytesThatWereDamagedAreSurvived) {
  Maker maker;
  maker.input("x", {2, 4}).input("i", {3}, DType::kInt64).output("y", {2, 3}).output("z", {3, 4});
  maker.model.floats("w", {4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).floats("b", {3}, {1, 2, 3});
  maker.model.node("MatMul", {"n/x", "w"}, {"m"}).node("Add", {"m", "b"}, {"s"}).node("Softmax", {"s"}, {"n/y"});
  maker.model.floats("table", {5, 4}, std::vector<float>(20, 0.5F)).node("Gather", {"table", "n/i"}, {"n/z"});
  ASSERT_TRUE(maker.run().ok());
  const std::string whole = maker.bytes;
  std::mt19937 random(1);
  std::size_t written = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + round % 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    maker.request.model = std::as_bytes(std::span(damaged));
    const auto made = generate(maker.request);
    if (made.ok() && made.value().uncovered.empty()) ++written;
  }
  EXPECT_GT(written, 100U);  // names and weights may be anything
  EXPECT_LT(written, 3000U);
}

TEST(KernelTable, EverythingThatATextNeedsIsThere) {
  for (const auto family : {numbers_family(), function_family(), elementwise_family(), scalar_family(), matrix_family(),
                            convolution_family(), recurrent_family(), row_family(), reduction_family(), copy_family(),
                            gather_family(), ordering_family(), sampling_family(), control_family()}) {
    for (const Snippet& snippet : family.snippets) {
      for (std::string_view rest = snippet.needs; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        // "widened float16" and the like are two words, and needed from code only.
        EXPECT_EQ(find_snippet(rest.substr(0, end)).name, rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    for (const KernelEntry& entry : family.kernels) EXPECT_EQ(find_kernel(entry.kernel), &entry);
  }
  EXPECT_EQ(find_kernel("no such"), nullptr);
  EXPECT_TRUE(helper_names().contains("gru_cell"));
  EXPECT_TRUE(helper_names().contains("Window"));
  EXPECT_FALSE(helper_names().contains("x"));
}

}  // namespace
}  // namespace leapp::codegen
