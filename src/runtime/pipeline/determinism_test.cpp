// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The same model, inputs and machine give the same bits: on any thread, on memory of any alignment that a pipeline may
// have, loaded once or again, alone or while others run.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/native/model_testing.h"
#include "engine/native/native_engine.h"

namespace leapp::native {
namespace {

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<float> made(count);
  for (float& number : made) number = any(random);
  return made;
}

/// Convolution, products of one row and of many, a softmax, a norm, a recurrent cell, functions: sizes that fill no
/// vector.
std::string mixed_model() {
  ModelMaker maker;
  maker.input("x", {1, 3, 9, 11}).input("h", {1, 1, 19}).output("y", {7, 13}).output("next", {1, 1, 19});
  maker.floats("wc", {7, 3, 3, 3}, numbers(7 * 27, 1)).floats("bc", {7}, numbers(7, 2));
  maker.node("Conv", {"x", "wc", "bc"}, {"c"}).node("Gelu", {"c"}, {"g"}).ints("flat", {7, 63});
  maker.node("Reshape", {"g", "flat"}, {"rows"}).floats("w", {63, 13}, numbers(63 * 13, 3));
  maker.node("MatMul", {"rows", "w"}, {"m"})
      .floats("scale", {13}, numbers(13, 4))
      .floats("shift", {13}, numbers(13, 5));
  maker.node("LayerNormalization", {"m", "scale", "shift"}, {"n"}, {{"axis", std::int64_t{-1}}});
  maker.node("Transpose", {"n"}, {"t"}).node("MatMul", {"n", "t"}, {"scores"});
  maker.node("Softmax", {"scores"}, {"p"}).node("MatMul", {"p", "n"}, {"y"});
  maker.ints("one", {1, 1, 91}).node("Reshape", {"y", "one"}, {"seq"});
  maker.floats("gw", {1, 57, 91}, numbers(57 * 91, 6)).floats("gr", {1, 57, 19}, numbers(57 * 19, 7));
  maker.node("GRU", {"seq", "gw", "gr", "", "", "h"}, {"all", "next"}, {{"hidden_size", std::int64_t{19}}});
  return maker.bytes();
}

/// One run of a fresh load, with every buffer `shift` times 64 bytes into its memory.
std::vector<std::byte> result_of(const std::string& bytes, std::size_t shift) {
  auto attempted = attempt({.name = "model", .path = {}, .bytes = std::as_bytes(std::span(bytes))});
  if (!attempted.ok() || !attempted.value().model) return {};
  engine::EngineModel& model = *attempted.value().model;
  std::vector<AlignedMemory> memory;
  engine::Binding binding;
  unsigned seed = 100;
  for (const bool input : {true, false}) {
    for (const engine::TensorInfo& info : input ? model.inputs() : model.outputs()) {
      const std::size_t size = engine::buffer_size(*info.dtype, *info.shape).value();
      memory.emplace_back(size + shift * 64);
      std::byte* data = memory.back().data() + shift * 64;
      const std::vector<float> values = numbers(size / sizeof(float), seed++);
      if (input) std::memcpy(data, values.data(), size);
      (input ? binding.inputs : binding.outputs).push_back({info.name, *info.dtype, *info.shape, data});
    }
  }
  const auto number = model.prepare(binding);
  if (!number.ok() || !model.run(number.value())) return {};
  std::vector<std::byte> result;
  for (const engine::BoundBuffer& output : binding.outputs) {
    const auto* data = static_cast<const std::byte*>(output.data);
    result.insert(result.end(), data, data + engine::buffer_size(output.dtype, output.shape).value());
  }
  return result;
}

TEST(Determinism, SameBitsOnAnyThreadAndAlignment) {
  const std::string bytes = mixed_model();
  const std::vector<std::byte> expected = result_of(bytes, 0);
  ASSERT_EQ(expected.size(), (7 * 13 + 19) * sizeof(float));
  for (const std::size_t shift : {1U, 2U, 3U, 5U, 63U}) EXPECT_EQ(result_of(bytes, shift), expected) << shift;
  std::vector<std::vector<std::byte>> found(6);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int again = 0; again < 20; ++again) {
        auto one = result_of(bytes, i);
        if (again == 0 || one != expected) found[i] = std::move(one);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : found) EXPECT_EQ(one, expected);
}

}  // namespace
}  // namespace leapp::native
