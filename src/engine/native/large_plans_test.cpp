// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Models with more operators than networks have, and small ones that ask for much.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/native/free_list.h"
#include "engine/native/model_testing.h"

namespace leapp::native {
namespace {

std::string numbered(const char* name, int i) { return name + std::to_string(i); }

TEST(FreeList, PiecesNeverOverlapAndAreUsedAgain) {
  std::mt19937 random(1);
  FreeList gaps;
  std::map<std::uint64_t, std::uint64_t> taken;
  std::uint64_t end = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (taken.size() < 50 || (taken.size() < 150 && random() % 2 == 0)) {
      const std::uint64_t bytes = 1 + random() % 100;
      const std::uint64_t at = gaps.take(bytes);
      const auto next = taken.lower_bound(at);
      ASSERT_TRUE(next == taken.end() || at + bytes <= next->first);
      ASSERT_TRUE(next == taken.begin() || at >= std::prev(next)->first + std::prev(next)->second);
      taken.emplace(at, bytes);
      end = std::max(end, at + bytes);
    } else {
      const auto one = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      gaps.give_back(one->first, one->second);
      taken.erase(one);
    }
  }
  EXPECT_LT(end, 30'000U) << "150 pieces of at most 100 bytes";
  for (const auto& [at, bytes] : taken) gaps.give_back(at, bytes);
  EXPECT_EQ(gaps.take(end), 0U) << "all of it is one piece again";
}

/// z_i = v_i - v_(i - apart) where v_i = i x, and y their sum: `apart` values are alive at a time, or all of them.
std::string differences(int count, int apart) {
  ModelMaker maker;
  maker.input("x", {32}).output("y", {32});
  std::vector<std::string> parts;
  for (int i = 0; i < count; ++i) {
    maker.floats(numbered("c", i), {1}, {static_cast<float>(i)});
    maker.node("Mul", {"x", numbered("c", i)}, {numbered("v", i)});
    maker.node("CumSum", {numbered("v", i), "axis"}, {numbered("s", i)});  // is not fused with what follows
    if (i < apart) continue;
    maker.node("Sub", {numbered("s", i), numbered("s", i - apart)}, {numbered("z", i)});
    if (i == apart) {
      maker.node("Identity", {numbered("z", i)}, {numbered("t", i)});
    } else {
      maker.node("Add", {numbered("t", i - 1), numbered("z", i)}, {numbered("t", i)});
    }
  }
  maker.constant<std::int64_t>("axis", {}, {0}, DType::kInt64);
  maker.node("Abs", {numbered("t", count - 1)}, {"y"});
  return maker.bytes();
}

std::size_t arena_of(const std::string& plan) { return std::stoul(plan.substr(plan.find(' '))); }

TEST(LargePlans, MemoryIsSharedAmongManyValues) {
  constexpr int kCount = 6000;
  for (const int apart : {20, 3000}) {
    const std::string bytes = differences(kCount, apart);
    Running model(bytes);
    ASSERT_TRUE(model.ok()) << model.why();
    model.set<float>("x", std::vector<float>(32, 1.0F));
    ASSERT_TRUE(model.run());
    for (int i = 0; i < 32; ++i) {  // each difference is `apart` times the sum of x so far
      const double expected = static_cast<double>(apart) * (i + 1) * (kCount - apart);
      EXPECT_NEAR(model.data<float>("y")[i] / expected, 1, 1e-4) << apart;
    }
    EXPECT_LT(arena_of(plan_of(bytes)), static_cast<std::size_t>(apart + 30) * 128) << apart;
  }
}

TEST(LargePlans, ViewsOfViewsAreFoundAtOnce) {
  ModelMaker maker;
  maker.input("x", {4}).output("y", {4}).ints("two", {2, 2}).ints("four", {4});
  constexpr int kCount = 20'000;  // a walk through all before for each of them would take seconds
  for (int i = 0; i < kCount; ++i) {
    maker.node("Reshape", {i == 0 ? "x" : numbered("v", i - 1), i % 2 == 0 ? "two" : "four"}, {numbered("v", i)});
  }
  maker.node("Neg", {numbered("v", kCount - 1)}, {"y"});
  Running model(maker.bytes());
  ASSERT_TRUE(model.ok()) << model.why();
  model.set<float>("x", {1, 2, 3, 4});
  ASSERT_TRUE(model.run());
  EXPECT_EQ(model.get<float>("y", 4), (std::vector<float>{-1, -2, -3, -4}));
}

TEST(LargePlans, ProductsTakeWhatFollowsThemHoweverManyThereAre) {
  ModelMaker maker;
  maker.input("x", {1, 2}).output("y", {1, 2}).floats("w", {2, 2}, {0, 1, 1, 0}).floats("b", {2}, {1, 2});
  constexpr int kCount = 3000;
  for (int i = 0; i < kCount; ++i) {
    maker.node("MatMul", {i == 0 ? "x" : numbered("r", i - 1), "w"}, {numbered("m", i)});
    maker.node("Add", {numbered("m", i), "b"}, {numbered("a", i)});
    maker.node("Relu", {numbered("a", i)}, {i == kCount - 1 ? "y" : numbered("r", i)});
    maker.node("Exp", {numbered("a", i)}, {numbered("unused", i)});
  }
  const std::string bytes = maker.bytes();
  Running model(bytes);
  ASSERT_TRUE(model.ok()) << model.why();
  model.set<float>("x", {0, 0});
  ASSERT_TRUE(model.run());
  EXPECT_EQ(model.get<float>("y", 2), (std::vector<float>{4500, 4500}));
  const std::string plan = plan_of(bytes);
  EXPECT_EQ(occurrences(plan, "matmul packed"), static_cast<std::size_t>(kCount));
  EXPECT_EQ(occurrences(plan, "elementwise"), 0U) << "functions and biases are parts of the products";
}

TEST(LargePlans, LoadingDoesSomeWorkOnConstantsAndNoMore) {
  constexpr int kSums = 100;
  ModelMaker maker;
  maker.input("x", {1}).output("y", {1}).ints("size", {1 << 22});
  maker.node("ConstantOfShape", {"size"}, {"zeros"});
  maker.floats("one", {1}, {1}).node("Add", {"zeros", "one"}, {"ones"});
  std::vector<std::string> sums{"x"};
  for (int i = 0; i < kSums; ++i) {
    maker.node("ReduceSum", {"ones"}, {numbered("s", i)}, {{"keepdims", std::int64_t{0}}});
    sums.push_back(numbered("s", i));
  }
  maker.node("Sum", sums, {"y"});
  const std::string bytes = maker.bytes();
  const std::string plan = plan_of(bytes);
  EXPECT_GT(occurrences(plan, "reduce read"), 30U) << plan;
  EXPECT_LT(occurrences(plan, "reduce read"), 70U) << "a small model may have some worked out: " << plan;
  Running model(bytes);
  ASSERT_TRUE(model.ok()) << model.why();
  model.set<float>("x", {0});
  ASSERT_TRUE(model.run());
  EXPECT_EQ(model.get<float>("y", 1)[0], static_cast<float>(kSums) * 0x1p22F);
}

TEST(LargePlans, ResultsCountForTheMemoryLimit) {
  ModelMaker maker;
  maker.input("x", {1}).output("y", {1}).ints("size", {1 << 20});
  std::vector<std::string> parts;
  for (int i = 0; i < 20; ++i) {
    maker.node("Expand", {"x", "size"}, {numbered("e", i)});
    maker.node("CumSum", {numbered("e", i), "axis"}, {numbered("s", i)});
    parts.push_back(numbered("s", i));
  }
  maker.constant<std::int64_t>("axis", {}, {0}, DType::kInt64);
  maker.node("Concat", parts, {"all"}, {{"axis", std::int64_t{0}}});
  maker.node("ReduceMax", {"all"}, {"y"});
  const std::string bytes = maker.bytes();
  engine::ModelSource source{.name = "model", .path = {}, .bytes = std::as_bytes(std::span(bytes))};
  source.memory_limit = std::uint64_t{1} << 30U;
  EXPECT_TRUE(attempt(source).ok());
  source.memory_limit = std::uint64_t{50} << 20U;
  const auto refused = attempt(source);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("of memory to run, the option memory_limit is 52.4 MB"), std::string::npos)
      << refused.status().message();
}

/// Why this engine does not run the model; "" if it does.
std::string refusal(const ModelMaker& maker, std::uint64_t memory_limit = 1'000'000'000) {
  const std::string bytes = maker.bytes();
  const auto attempted = attempt({.name = "m", .bytes = std::as_bytes(std::span(bytes)), .memory_limit = memory_limit});
  if (!attempted.ok()) return attempted.status().message();
  return attempted.value().uncovered.empty() ? "" : attempted.value().uncovered.front().why;
}

TEST(SmallModels, OneWeightThatManyProductsPack) {
  constexpr int kProducts = 50;
  const auto maker_of = [](int products) {
    ModelMaker maker;
    maker.input("x", {1, 4}).ints("size", {4, 1 << 17});
    maker.node("ConstantOfShape", {"size"}, {"w"});
    for (int i = 0; i < products; ++i) {
      maker.node("MatMul", {"x", "w"}, {numbered("p", i)}).output(numbered("p", i), {1, 1 << 17});
    }
    return maker;
  };
  EXPECT_EQ(refusal(maker_of(1)), "");
  EXPECT_EQ(refusal(maker_of(kProducts), 50'000'000), "constants that take too much memory");
}

TEST(SmallModels, StepsOfManyLayers) {
  ModelMaker maker;
  maker.input("x", {4096, 1, 1}).floats("w", {1, 3, 1}, {1, 1, 1}).floats("r", {1, 3, 1}, {1, 1, 1});
  for (int i = 0; i < 17; ++i) {
    maker.node("GRU", {"x", "w", "r"}, {"", numbered("h", i)}, {{"hidden_size", std::int64_t{1}}});
    maker.output(numbered("h", i), {1, 1, 1});
  }
  EXPECT_EQ(refusal(maker), "more than 65536 steps of recurrent layers");
}

TEST(SmallModels, RowsWithoutElementsAreNotWalked) {
  ModelMaker maker;
  maker.input("x", {2}).ints("size", {std::int64_t{1} << 33U, 1, 0}).ints("zero", {0});
  maker.node("ConstantOfShape", {"size"}, {"none"})
      .node("Gather", {"none", "zero"}, {"rows"}, {{"axis", std::int64_t{1}}});
  maker.node("ReduceSum", {"rows"}, {"sum"}, {{"keepdims", std::int64_t{0}}}).node("Add", {"x", "sum"}, {"y"});
  maker.output("y", {2});
  EXPECT_EQ(refusal(maker), "");  // and it does not take minutes
}

TEST(SmallModels, NumbersThatAreNotThere) {
  const auto empty_constant = [](const char* op, std::vector<std::string> inputs) {
    ModelMaker maker;
    maker.input("x", {2, 2}).ints("none", {}).constant<std::uint8_t>("off", {0}, {}, DType::kBool);
    maker.node(op, std::move(inputs), {"y"}).output("y", {2, 2});
    return refusal(maker);
  };
  EXPECT_EQ(empty_constant("Range", {"none", "none", "none"}), "start is not one number");
  EXPECT_EQ(empty_constant("Trilu", {"x", "none"}), "k is not one number");
  EXPECT_EQ(empty_constant("Dropout", {"x", "", "off"}), "training_mode is not one number");
}

TEST(SmallModels, ScalesThatAreNoNumbers) {
  ModelMaker maker;
  maker.input("x", {2}).floats("scale", {1}, {std::numeric_limits<float>::quiet_NaN()});
  maker.node("Resize", {"x", "", "scale"}, {"y"}).output("y", {2});
  EXPECT_EQ(refusal(maker), "scales out of range");
}

TEST(SmallModels, OutputsThatNobodyAsksForAreCounted) {
  ModelMaker maker;
  maker.input("x", {1}).ints("size", {1 << 20}).node("Identity", {"x"}, {"y"}).output("y", {1});
  maker.node("Expand", {"x", "size"}, {"e"}).output("e", {1 << 20});
  const std::string bytes = maker.bytes();
  auto attempted = attempt({.name = "m", .bytes = std::as_bytes(std::span(bytes)), .memory_limit = 1'000'000});
  ASSERT_TRUE(attempted.ok()) << attempted.status().message();
  ASSERT_NE(attempted.value().model, nullptr);
  float x = 0;
  float y = 0;
  const engine::Binding binding{{{"x", DType::kFloat32, {1}, &x}}, {{"y", DType::kFloat32, {1}, &y}}};
  const auto prepared = attempted.value().model->prepare(binding);
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.status().message().find("with outputs that the bundle does not name"), std::string::npos)
      << prepared.status().message();
}

}  // namespace
}  // namespace leapp::native
