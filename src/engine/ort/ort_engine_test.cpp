// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/ort_engine.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace leapp::engine {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(LEAPP_TEST_BUNDLES) / "models";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct alignas(64) Block {
  std::array<std::byte, 256> bytes{};
};

class OrtEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(LEAPP_TEST_ONNXRUNTIME).empty()) GTEST_SKIP() << "no ONNX Runtime to test with";
    options_.onnxruntime_library = LEAPP_TEST_ONNXRUNTIME;
  }

  Result<std::unique_ptr<EngineModel>> load(const std::string& name) {
    auto engine = open_onnxruntime(options_);
    if (!engine.ok()) return engine.status();
    return engine.value()->load({.name = name, .path = kModels / (name + ".onnx")});
  }

  BoundBuffer buffer(const std::string& name, DType dtype, std::vector<std::int64_t> shape) {
    return {name, dtype, std::move(shape), blocks_[name].bytes.data()};
  }
  BoundBuffer floats(const std::string& name, std::vector<std::int64_t> shape) {
    return buffer(name, DType::kFloat32, std::move(shape));
  }
  template <typename T>
  T* data(const std::string& name) {
    return reinterpret_cast<T*>(blocks_[name].bytes.data());
  }

  Options options_;
  std::map<std::string, Block> blocks_;
};

TEST_F(OrtEngineTest, RunsOnOurBuffers) {
  const auto model = load("affine");
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto binding = model.value()->prepare({{floats("x", {1, 4})}, {floats("y", {1, 4})}});
  ASSERT_TRUE(binding.ok()) << binding.status().message();
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 4; ++i) data<float>("x")[i] = static_cast<float>(step * 10 + i);
    ASSERT_TRUE(model.value()->run(binding.value()));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(data<float>("y")[i], data<float>("x")[i] * 2 + 1);
  }
}

TEST_F(OrtEngineTest, SeveralBindingsOfOneModel) {
  const auto model = load("affine");
  ASSERT_TRUE(model.ok()) << model.status().message();
  BoundBuffer there = floats("x", {1, 4});
  BoundBuffer back = floats("y", {1, 4});
  std::swap(there.data, back.data);
  ASSERT_EQ(model.value()->prepare({{floats("x", {1, 4})}, {floats("y", {1, 4})}}).value(), 0U);
  ASSERT_EQ(model.value()->prepare({{there}, {back}}).value(), 1U);
  data<float>("x")[0] = 1;
  ASSERT_TRUE(model.value()->run(0));
  EXPECT_EQ(data<float>("y")[0], 3);
  ASSERT_TRUE(model.value()->run(1));
  EXPECT_EQ(data<float>("x")[0], 7);
}

TEST_F(OrtEngineTest, LoadsFromBytes) {
  auto engine = open_onnxruntime(options_);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const std::string bytes = read(kModels / "affine.onnx");
  const auto model = engine.value()->load({.name = "m", .path = {}, .bytes = std::as_bytes(std::span(bytes))});
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model.value()->inputs().size(), 1U);
  EXPECT_EQ(model.value()->inputs()[0].name, "x");
  EXPECT_EQ(model.value()->inputs()[0].dtype, DType::kFloat32);
  EXPECT_EQ(model.value()->outputs()[0].shape, (std::vector<std::int64_t>{1, 4}));
}

TEST_F(OrtEngineTest, EveryTypeOfPort) {
  const auto model = load("every_type");
  ASSERT_TRUE(model.ok()) << model.status().message();
  Binding binding;
  for (int i = 0; i < 10; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string name(dtype_name(dtype));
    binding.inputs.push_back(buffer(name + "_in", dtype, {2, 3}));
    binding.outputs.push_back(buffer(name + "_out", dtype, {2, 3}));
    for (std::size_t at = 0; at < 6 * dtype_size(dtype); ++at) data<std::uint8_t>(name + "_in")[at] = at % 2;
  }
  ASSERT_TRUE(model.value()->prepare(binding).ok());
  for (int i = 0; i < 10; ++i) {
    const std::string name(dtype_name(static_cast<DType>(i)));
    EXPECT_EQ(blocks_[name + "_in"].bytes, blocks_[name + "_out"].bytes) << name;
    EXPECT_EQ(model.value()->inputs()[static_cast<std::size_t>(i)].dtype, static_cast<DType>(i));
  }
}

TEST_F(OrtEngineTest, AFailingRunSaysWhyAndTheNextOneWorks) {
  const auto model = load("pick");
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE(model.value()->prepare({{buffer("index", DType::kInt64, {2})}, {floats("y", {2})}}).ok());
  data<std::int64_t>("index")[1] = 7;
  EXPECT_FALSE(model.value()->run(0));
  const std::string message = model.value()->error().message();
  for (const char* part : {"cannot run pick", "7", "ONNX Runtime 1."}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
  data<std::int64_t>("index")[1] = 4;
  ASSERT_TRUE(model.value()->run(0));
  EXPECT_EQ(data<float>("y")[1], 40);
}

TEST_F(OrtEngineTest, BuffersAreCheckedAgainstTheModel) {
  const auto model = load("affine");
  ASSERT_TRUE(model.ok()) << model.status().message();
  const BoundBuffer x = floats("x", {1, 4});
  const BoundBuffer y = floats("y", {1, 4});
  const std::vector<std::pair<Binding, const char*>> cases{
      {{{floats("z", {1, 4})}, {y}}, "the model has no input \"z\"; it has x"},
      {{{x}, {floats("z", {1, 4})}}, "the model has no output \"z\"; it has y"},
      {{{floats("x", {1, 5})}, {y}}, "input \"x\": the bundle says float32[1,5], the model float32[1,4]"},
      {{{floats("x", {4})}, {y}}, "the bundle says float32[4], the model float32[1,4]"},
      {{{buffer("x", DType::kInt32, {1, 4})}, {y}}, "the bundle says int32[1,4], the model float32[1,4]"},
      {{{x}, {buffer("y", DType::kFloat64, {1, 4})}}, "output \"y\": the bundle says float64[1,4]"},
      {{{}, {y}}, "the bundle has no input \"x\", which the model needs"},
  };
  for (const auto& [binding, expected] : cases) {
    const auto result = model.value()->prepare(binding);
    ASSERT_FALSE(result.ok()) << expected;
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(result.status().message().find(expected), std::string::npos) << result.status().message();
  }
}

TEST_F(OrtEngineTest, AnyExtentOfTheModelFitsTheBundles) {
  const auto model = load("dynamic");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model.value()->inputs()[0].shape, (std::vector<std::int64_t>{-1, 4}));
  EXPECT_TRUE(model.value()->prepare({{floats("x", {3, 4})}, {floats("doubled", {3, 4})}}).ok());
  // A result of another shape than promised is an error, not a write past the buffer.
  const auto wrong = model.value()->prepare({{floats("x", {3, 4})}, {buffer("positions", DType::kInt64, {2, 5})}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find("cannot run dynamic"), std::string::npos) << wrong.status().message();
}

// Where denormals count as zero, half of the smallest normal number is zero.
bool counts_denormals() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest / 2 != 0;
}

TEST_F(OrtEngineTest, DenormalsAreFlushedAndTheModeIsRestored) {
  const auto model = load("halve");
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE(model.value()->prepare({{floats("x", {1, 4})}, {floats("y", {1, 4})}}).ok());
  data<float>("x")[0] = std::numeric_limits<float>::min();
  data<float>("x")[1] = std::numeric_limits<float>::denorm_min() * 8;
  ASSERT_TRUE(counts_denormals());
  ASSERT_TRUE(model.value()->run(0));
  EXPECT_TRUE(counts_denormals());
  std::uint64_t bits = 1;
  std::memcpy(&bits, data<float>("y"), sizeof bits);
  EXPECT_EQ(bits, 0U);
}

TEST_F(OrtEngineTest, ModelsThatCannotBeLoaded) {
  const std::string good = read(kModels / "affine.onnx");
  auto engine = open_onnxruntime(options_);
  ASSERT_TRUE(engine.ok());
  for (const std::string& bytes :
       {good.substr(0, good.size() / 2), std::string("not a model"), std::string(100, '\0')}) {
    const auto model = engine.value()->load({.name = "broken", .path = {}, .bytes = std::as_bytes(std::span(bytes))});
    ASSERT_FALSE(model.ok());
    EXPECT_NE(model.status().message().find("cannot load broken: "), std::string::npos) << model.status().message();
  }
  const auto missing = engine.value()->load({.name = "gone", .path = kModels / "gone.onnx"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kIo);
  const auto sequence = load("no_tensor");
  ASSERT_FALSE(sequence.ok());
  EXPECT_NE(sequence.status().message().find("only tensors can be ports"), std::string::npos);
}

TEST_F(OrtEngineTest, LogLinesGoIntoMessagesAndNotToTheConsole) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  const auto model = load("warns");
  const std::string console = ::testing::internal::GetCapturedStderr() + ::testing::internal::GetCapturedStdout();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(console, "");
  const auto result = model.value()->prepare({{floats("x", {9})}, {floats("y", {1, 4})}});
  EXPECT_NE(result.status().message().find("nobody_uses_this"), std::string::npos) << result.status().message();
}

TEST_F(OrtEngineTest, OptionsReachTheSession) {
  options_.intra_op_threads = 0;
  EXPECT_EQ(load("affine").status().code(), StatusCode::kInvalidArgument);
  options_.intra_op_threads = 2;
  options_.inter_op_threads = 2;
  options_.optimisation = Optimisation::kOff;
  options_.provider = Provider::kCpu;
  const fs::path folder = fs::path(::testing::TempDir()) / "profile";
  fs::remove_all(folder);
  fs::create_directory(folder);
  options_.profile_prefix = (folder / "run").string();
  {
    const auto model = load("affine");
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_TRUE(model.value()->prepare({{floats("x", {1, 4})}, {floats("y", {1, 4})}}).ok());
  }
  ASSERT_NE(fs::directory_iterator(folder), fs::directory_iterator());
  const std::string profile = read(fs::directory_iterator(folder)->path());
  // With optimisation off both nodes of the model are there to be timed.
  EXPECT_NE(profile.find("Mul"), std::string::npos);
  EXPECT_NE(profile.find("Add"), std::string::npos);
  fs::remove_all(folder);
}

class RewriteTest : public OrtEngineTest {
 protected:
  // The first output, at each level, of a model that a rewrite of ONNX Runtime's breaks.
  template <typename T>
  void expect_the_same(const std::string& name, const Binding& binding, const std::vector<T>& expected) {
    for (const Optimisation level :
         {Optimisation::kOff, Optimisation::kBasic, Optimisation::kExtended, Optimisation::kAll}) {
      options_.optimisation = level;
      const auto model = load(name);
      ASSERT_TRUE(model.ok()) << model.status().message();
      ASSERT_TRUE(model.value()->prepare(binding).ok());
      const T* found = data<T>(binding.outputs[0].name);
      EXPECT_EQ(std::vector<T>(found, found + expected.size()), expected) << name << " at level " << int(level);
    }
  }

  Binding square() {
    for (int i = 0; i < 16; ++i) data<float>("x")[i] = static_cast<float>(i);
    return {{floats("x", {4, 4})}, {floats("y", {4, 4})}};
  }
};

TEST_F(RewriteTest, ATransposedMatrixTimesAVectorIsNotTheMatrixTimesIt) {
  Binding binding = square();
  binding.outputs = {floats("y", {4})};
  expect_the_same<float>("transpose_matmul", binding, {19, 21.75, 24.5, 27.25});
}

TEST_F(RewriteTest, ANormalisationBehindATransposeStaysBehindIt) {
  for (int i = 0; i < 16; ++i) data<float>("x")[i] = i % 5 == 0 ? 1.F : 0.F;
  const Binding binding{{floats("x", {4, 4})}, {floats("y", {4, 4})}};
  options_.optimisation = Optimisation::kOff;
  {
    const auto model = load("matmul_batch_norm");
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_TRUE(model.value()->prepare(binding).ok());
  }
  const float* right = data<float>("y");
  const std::vector<float> expected(right, right + 16);
  for (const Optimisation level : {Optimisation::kBasic, Optimisation::kExtended, Optimisation::kAll}) {
    options_.optimisation = level;
    const auto model = load("matmul_batch_norm");
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_TRUE(model.value()->prepare(binding).ok());
    for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(data<float>("y")[i], expected[i], 1e-5F);
  }
}

TEST_F(RewriteTest, AMaximumSeesTheZerosOfAPad) {
  for (int i = 0; i < 16; ++i) data<float>("x")[i] = static_cast<float>(-1 - i);
  const Binding binding{{floats("x", {1, 1, 4, 4})}, {floats("y", {1, 1, 3, 3})}};
  expect_the_same<float>("pad_max_pool", binding, {0, 0, 0, 0, -6, 0, 0, 0, 0});
}

TEST_F(RewriteTest, AnIntegerQuotientIsMultipliedAfterwards) {
  for (int i = 0; i < 4; ++i) data<std::int64_t>("x")[i] = i + 1;
  const Binding binding{{buffer("x", DType::kInt64, {4})}, {buffer("y", DType::kInt64, {4})}};
  expect_the_same<std::int64_t>("divide_multiply", binding, {6, 0, 0, 0});
}

TEST_F(RewriteTest, ATransposeThatIsAnOutputIsNotDropped) {
  Binding binding = square();
  for (int i = 0; i < 16; ++i) data<float>("z")[i] = i % 5 == 0 ? 1.F : 0.F;
  binding.inputs.push_back(floats("z", {4, 4}));
  binding.outputs.push_back(floats("t", {4, 4}));
  expect_the_same<float>("transpose_gemm", binding, {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
}

TEST_F(OrtEngineTest, CudaIsAnErrorWhereThereIsNone) {
  options_.provider = Provider::kCuda;
  const auto model = load("affine");
  if (model.ok()) GTEST_SKIP() << "this ONNX Runtime has CUDA";
  EXPECT_NE(model.status().message().find("CUDA"), std::string::npos) << model.status().message();
}

}  // namespace
}  // namespace leapp::engine
