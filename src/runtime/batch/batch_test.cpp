// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/batch/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/native/model_testing.h"
#include "engine/native/native_engine.h"
#include "leapp/runtime/pipeline.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/reader.h"
#include "runtime/batch/batch_model.h"
#include "runtime/pipeline/mock.h"
#include "runtime/pipeline/pipeline_testing.h"
#include "runtime/recording/episodes.h"

namespace leapp::runtime {
namespace {

using native::ModelMaker;

constexpr std::size_t kRows = 5;

/// A model with its ports, one row each.
struct Case {
  std::string name;
  ModelMaker maker;
  std::vector<bundle::Port> inputs;
  std::vector<bundle::Port> outputs;
  std::string refused;  ///< empty: it is widened; else a part of the reason

  Case(std::string what, const std::vector<std::pair<std::string, Shape>>& in,
       const std::vector<std::pair<std::string, Shape>>& out)
      : name(std::move(what)) {
    for (auto& [port, shape] : in) {
      maker.input(port, shape);
      inputs.push_back({.name = port, .dtype = DType::kFloat32, .shape = shape});
    }
    for (auto& [port, shape] : out) {
      maker.output(port, shape);
      outputs.push_back({.name = port, .dtype = DType::kFloat32, .shape = shape});
    }
  }
  Case&& node(const std::string& op, std::vector<std::string> from, std::vector<std::string> to,
              std::vector<onnx::AttributeProto> attributes = {}) && {
    maker.node(op, std::move(from), std::move(to), std::move(attributes));
    return std::move(*this);
  }
  Case&& ints(const std::string& constant, const std::vector<std::int64_t>& numbers) && {
    maker.ints(constant, numbers);
    return std::move(*this);
  }
  Case&& floats(const std::string& constant, Shape shape, float first = 0.5F) && {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = first + 0.25F * static_cast<float>(i % 7);
    maker.floats(constant, std::move(shape), numbers);
    return std::move(*this);
  }
  Case&& refuses(std::string why) && {
    refused = std::move(why);
    return std::move(*this);
  }
};

std::vector<Case> cases() {
  using Ints = std::vector<std::int64_t>;
  std::vector<Case> all;
  all.push_back(Case("gemm", {{"x", {1, 3}}}, {{"y", {1, 4}}})
                    .floats("w", {3, 4})
                    .floats("b", {4})
                    .node("Gemm", {"x", "w", "b"}, {"g"})
                    .node("Elu", {"g"}, {"y"}));
  all.push_back(Case("gemm of a column", {{"x", {1, 1}}}, {{"y", {1, 1}}})
                    .floats("w", {1, 1})
                    .node("Gemm", {"x", "w"}, {"y"}, {{"transA", std::int64_t{1}}}));
  all.push_back(
      Case("broadcast", {{"x", {1, 3}}}, {{"y", {2, 1, 3}}}).floats("c", {2, 1, 3}).node("Add", {"x", "c"}, {"y"}));
  all.push_back(Case("a constant with rows of its own", {{"x", {1, 3}}}, {{"y", {1, 3}}})
                    .floats("c", {2, 3})
                    .node("Add", {"x", "c"}, {"two"})
                    .ints("axes", {0})
                    .node("ReduceSum", {"two", "axes"}, {"y"}));
  all.push_back(Case("outer product", {{"x", {1, 3}}, {"z", {1, 3}}}, {{"y", {1, 1}}})
                    .node("Transpose", {"z"}, {"t"}, {{"perm", Ints{1, 0}}})
                    .node("MatMul", {"x", "t"}, {"y"}));
  all.push_back(Case("rows of attention", {{"x", {1, 4, 3}}}, {{"y", {1, 4, 3}}})
                    .node("Transpose", {"x"}, {"t"}, {{"perm", Ints{0, 2, 1}}})
                    .node("MatMul", {"x", "t"}, {"s"})
                    .node("Softmax", {"s"}, {"p"}, {{"axis", std::int64_t{-1}}})
                    .node("MatMul", {"p", "x"}, {"y"}));
  all.push_back(Case("softmax of one entry", {{"x", {1, 3}}}, {{"y", {1, 3}}})
                    .node("Softmax", {"x"}, {"y"}, {{"axis", std::int64_t{0}}}));
  all.push_back(Case("mean of everything", {{"x", {1, 3}}}, {{"y", {1, 1}}}).node("ReduceMean", {"x"}, {"y"}));
  all.push_back(
      Case("reshape", {{"x", {1, 6}}}, {{"y", {1, 2, 3}}}).ints("to", {1, 2, -1}).node("Reshape", {"x", "to"}, {"y"}));
  all.push_back(Case("reshape by its own shape", {{"x", {1, 6}}, {"z", {1, 2, 3}}}, {{"y", {1, 2, 3}}})
                    .node("Shape", {"z"}, {"to"})
                    .node("Reshape", {"x", "to"}, {"y"}));
  all.push_back(Case("rows as a part of an axis", {{"x", {1, 3, 4}}}, {{"y", {1, 3, 2}}})
                    .ints("flat", {3, 4})
                    .ints("back", {1, 3, 2})
                    .floats("w", {4, 2})
                    .floats("b", {2})
                    .node("Reshape", {"x", "flat"}, {"f"})
                    .node("Gemm", {"f", "w", "b"}, {"g"})
                    .node("Reshape", {"g", "back"}, {"y"}));
  all.push_back(Case("heads of attention", {{"x", {1, 3, 4}}}, {{"y", {1, 3, 4}}})
                    .ints("heads", {3, 2, 2})
                    .ints("back", {1, 3, 4})
                    .node("Transpose", {"x"}, {"steps"}, {{"perm", Ints{1, 0, 2}}})
                    .node("Reshape", {"steps", "heads"}, {"h"})
                    .node("Transpose", {"h"}, {"q"}, {{"perm", Ints{1, 0, 2}}})
                    .node("Transpose", {"h"}, {"k"}, {{"perm", Ints{1, 2, 0}}})
                    .node("MatMul", {"q", "k"}, {"s"})
                    .node("Softmax", {"s"}, {"p"})
                    .node("MatMul", {"p", "q"}, {"a"})
                    .node("Transpose", {"a"}, {"b"}, {{"perm", Ints{1, 0, 2}}})
                    .ints("joined", {3, 1, 4})
                    .node("Reshape", {"b", "joined"}, {"j"})
                    .node("Transpose", {"j"}, {"y"}, {{"perm", Ints{1, 0, 2}}}));
  all.push_back(Case("rows take turns along an axis", {{"x", {1, 3, 4}}}, {{"y", {1, 3, 2}}})
                    .ints("flat", {3, 4})
                    .ints("back", {3, 1, 2})
                    .floats("w", {4, 2})
                    .floats("b", {2})
                    .node("Transpose", {"x"}, {"t"}, {{"perm", Ints{1, 0, 2}}})
                    .node("Reshape", {"t", "flat"}, {"f"})
                    .node("Gemm", {"f", "w", "b"}, {"g"})
                    .node("Reshape", {"g", "back"}, {"r"})
                    .node("Transpose", {"r"}, {"y"}, {{"perm", Ints{1, 0, 2}}}));
  all.push_back(Case("a table added to a part of an axis", {{"x", {1, 3, 2}}}, {{"y", {1, 3, 2}}})
                    .ints("flat", {3, 2})
                    .ints("back", {1, 3, 2})
                    .floats("table", {3, 2})
                    .node("Reshape", {"x", "flat"}, {"f"})
                    .node("Add", {"f", "table"}, {"g"})
                    .node("Reshape", {"g", "back"}, {"y"}));
  all.push_back(Case("a row as a row of the table", {{"x", {1, 6}}}, {{"y", {1, 1}}})
                    .ints("flat", {6})
                    .node("Reshape", {"x", "flat"}, {"f"})
                    .node("TopK", {"f", "one"}, {"t", "i"})
                    .ints("one", {1})
                    .node("Unsqueeze", {"t", "one"}, {"y"}));
  all.push_back(Case("a constant joined", {{"x", {1, 3}}}, {{"y", {1, 5}}})
                    .floats("c", {1, 2})
                    .node("Concat", {"x", "c"}, {"y"}, {{"axis", std::int64_t{1}}}));
  all.push_back(Case("joined along the rows", {{"x", {1, 3}}}, {{"y", {1, 6}}})
                    .ints("to", {1, 6})
                    .node("Concat", {"x", "x"}, {"two"}, {{"axis", std::int64_t{0}}})
                    .node("Reshape", {"two", "to"}, {"y"}));
  all.push_back(Case("rows in the middle of what a reshape joins", {{"x", {1, 2, 3}}}, {{"y", {6, 1}}})
                    .ints("to", {6, 1})
                    .node("Transpose", {"x"}, {"t"}, {{"perm", Ints{1, 0, 2}}})
                    .node("Reshape", {"t", "to"}, {"y"}));
  all.push_back(Case("two places at once", {{"x", {1, 2, 3}}}, {{"y", {2, 2, 3}}})
                    .node("Transpose", {"x"}, {"t"}, {{"perm", Ints{1, 0, 2}}})
                    .node("Add", {"x", "t"}, {"y"}));
  all.push_back(Case("cut along the first axis of a history", {{"x", {1, 3}}, {"h", {4, 3}}}, {{"n", {4, 3}}})
                    .ints("from", {1})
                    .ints("to", {4})
                    .ints("axis", {0})
                    .node("Slice", {"h", "from", "to", "axis"}, {"s"})
                    .node("Concat", {"s", "x"}, {"n"}, {{"axis", std::int64_t{0}}}));
  all.push_back(Case("a recurrent layer of several steps", {{"x", {1, 4, 3}}, {"h", {1, 1, 2}}},
                     {{"y", {1, 4, 2}}, {"n", {1, 1, 2}}})
                    .ints("steps", {4, 1, 3})
                    .floats("w", {1, 6, 3}, -0.6F)
                    .floats("r", {1, 6, 2}, -0.4F)
                    .ints("to", {1, 4, 2})
                    .node("Reshape", {"x", "steps"}, {"x3"})
                    .node("GRU", {"x3", "w", "r", "", "", "h"}, {"all", "n"}, {{"hidden_size", std::int64_t{2}}})
                    .node("Reshape", {"all", "to"}, {"y"}));
  all.push_back(Case("two images of each row", {{"x", {1, 2, 2, 6, 6}}}, {{"y", {1, 6}}})
                    .ints("images", {2, 2, 6, 6})
                    .ints("to", {1, 6})
                    .floats("w", {3, 2, 3, 3})
                    .node("Reshape", {"x", "images"}, {"i"})
                    .node("Conv", {"i", "w"}, {"c"})
                    .node("GlobalAveragePool", {"c"}, {"p"})
                    .node("Reshape", {"p", "to"}, {"y"}));
  all.push_back(Case("state of a recurrent layer", {{"x", {1, 3}}, {"h", {1, 1, 2}}}, {{"y", {1, 2}}, {"n", {1, 1, 2}}})
                    .ints("first", {0})
                    .floats("w", {1, 6, 3}, -0.6F)
                    .floats("r", {1, 6, 2}, -0.4F)
                    .ints("to", {1, 2})
                    .node("Unsqueeze", {"x", "first"}, {"x3"})
                    .node("GRU", {"x3", "w", "r", "", "", "h"}, {"all", "n"}, {{"hidden_size", std::int64_t{2}}})
                    .node("Reshape", {"all", "to"}, {"y"}));
  all.push_back(Case("begins from zeros that are a constant", {{"x", {1, 1, 3}}}, {{"y", {1, 1, 2}}})
                    .floats("w", {1, 6, 3}, -0.6F)
                    .floats("r", {1, 6, 2}, -0.4F)
                    .floats("h", {1, 1, 2})
                    .node("GRU", {"x", "w", "r", "", "", "h"}, {"", "y"}, {{"hidden_size", std::int64_t{2}}}));
  all.push_back(Case("images", {{"x", {1, 2, 6, 6}}}, {{"y", {1, 3}}})
                    .floats("w", {3, 2, 3, 3})
                    .node("Conv", {"x", "w"}, {"c"})
                    .node("Relu", {"c"}, {"r"})
                    .node("GlobalAveragePool", {"r"}, {"p"})
                    .node("Flatten", {"p"}, {"y"}));
  all.push_back(Case("a constant result", {{"x", {1, 2}}}, {{"y", {1, 2}}, {"c", {1, 2}}})
                    .floats("k", {1, 2})
                    .node("Relu", {"x"}, {"y"})
                    .node("Relu", {"k"}, {"c"}));
  all.push_back(Case("slices and padding", {{"x", {1, 6}}}, {{"y", {1, 5}}})
                    .ints("from", {1})
                    .ints("to", {4})
                    .ints("axis", {1})
                    .ints("pads", {0, 1, 0, 1})
                    .node("Slice", {"x", "from", "to", "axis"}, {"s"})
                    .node("Pad", {"s", "pads"}, {"y"}));
  all.push_back(Case("random", {{"x", {1, 2}}}, {{"y", {1, 2}}})
                    .node("RandomNormalLike", {"x"}, {"r"})
                    .node("Add", {"x", "r"}, {"y"})
                    .refuses("random numbers of its own"));
  all.push_back(Case("no leading one", {{"x", {3}}}, {{"y", {3}}}).node("Relu", {"x"}, {"y"}));
  all.push_back(Case("no axis at all", {{"x", {}}}, {{"y", {}}}).node("Relu", {"x"}, {"y"}));
  all.push_back(Case("state of two layers", {{"x", {1, 3}}, {"h", {2, 1, 3}}}, {{"y", {1, 3}}, {"n", {2, 1, 3}}})
                    .ints("first", {0})
                    .node("Add", {"h", "x"}, {"n"})
                    .node("ReduceSum", {"n", "first"}, {"y"}, {{"keepdims", std::int64_t{0}}}));
  all.push_back(Case("rows in the middle of the result", {{"x", {1, 6}}}, {{"y", {2, 1, 3}}})
                    .ints("parts", {1, 2, 3})
                    .node("Reshape", {"x", "parts"}, {"p"})
                    .node("Transpose", {"p"}, {"y"}, {{"perm", Ints{1, 0, 2}}}));
  all.push_back(Case("a vector", {{"x", {6}}}, {{"y", {4}}, {"n", {}}})
                    .floats("w", {6, 4})
                    .floats("b", {4})
                    .ints("four", {4})
                    .ints("from", {2})
                    .ints("to", {6})
                    .ints("first", {0})
                    .node("MatMul", {"x", "w"}, {"m"})
                    .node("Softmax", {"m"}, {"s"}, {{"axis", std::int64_t{0}}})
                    .node("Slice", {"x", "from", "to"}, {"part"})
                    .node("Concat", {"part", "b"}, {"both"}, {{"axis", std::int64_t{0}}})
                    .node("CumSum", {"both", "first"}, {"sums"})
                    .node("TopK", {"sums", "four"}, {"largest", "places"})
                    .node("Mul", {"s", "largest"}, {"y"})
                    .node("ReduceL2", {"x"}, {"n"}, {{"keepdims", std::int64_t{0}}}));
  all.push_back(Case("a single number", {{"x", {1, 3}}, {"t", {}}}, {{"y", {1, 3}}, {"n", {}}})
                    .floats("dt", {})
                    .node("Add", {"t", "dt"}, {"n"})
                    .node("Sin", {"n"}, {"s"})
                    .node("Mul", {"x", "s"}, {"y"}));
  all.push_back(
      Case("each row chooses from what it has", {{"x", {1, 5, 3}}}, {{"y", {1, 1, 3}}, {"z", {3}}, {"w", {1, 5, 3}}})
          .floats("seven", {}, 7.0F)
          .ints("five", {5})
          .ints("zero", {0})
          .ints("list", {1, 2})
          .floats("row", {1, 3})
          .node("ReduceMax", {"x"}, {"m"}, {{"keepdims", std::int64_t{0}}})
          .node("Mul", {"m", "seven"}, {"large"})
          .node("Cast", {"large"}, {"i"}, {{"to", std::int64_t{7}}})
          .node("Mod", {"i", "five"}, {"j"})
          .node("Gather", {"x", "j"}, {"y"}, {{"axis", std::int64_t{1}}})
          .node("Concat", {"zero", "j"}, {"place"}, {{"axis", std::int64_t{0}}})
          .node("GatherND", {"x", "place"}, {"z"})
          .node("Reshape", {"place", "list"}, {"places"})
          .node("ScatterND", {"x", "places", "row"}, {"w"}));
  all.push_back(Case("nothing to multiply with", {{"x", {2, 2}}}, {{"y", {2, 2}}})
                    .node("MatMul", {"x"}, {"y"})
                    .refuses("MatMul \"at_y\""));
  all.push_back(Case("an axis that there is not", {{"x", {3}}}, {{"y", {3}}})
                    .node("Cast", {"x"}, {"i"}, {{"to", std::int64_t{7}}})
                    .node("Gather", {"x", "i"}, {"y"}, {{"axis", std::int64_t{7}}})
                    .refuses("Gather \"at_y\""));
  all.push_back(Case("unknown operator", {{"x", {1, 2}}}, {{"y", {1, 2}}})
                    .node("NoSuchOperator", {"x"}, {"y"})
                    .refuses("NoSuchOperator"));
  return all;
}

bundle::Model node_of(const Case& one) {
  bundle::Model node;
  node.name = "policy";
  node.inputs = one.inputs;
  node.outputs = one.outputs;
  return node;
}

TEST(Widen, RowsAreKeptApartOrTheReasonIsNamed) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const std::string bytes = one.maker.bytes();
    const auto widened = widen_model({std::as_bytes(std::span(bytes)), node_of(one), kRows});
    if (one.refused.empty()) {
      EXPECT_TRUE(widened.ok()) << widened.status().message();
    } else {
      ASSERT_FALSE(widened.ok());
      EXPECT_NE(widened.status().message().find(one.refused), std::string::npos) << widened.status().message();
    }
  }
}

TEST(Widen, WidenedModelsDoForEachRowWhatTheOriginalDoes) {
  for (const Case& one : cases()) {
    if (!one.refused.empty()) continue;
    SCOPED_TRACE(one.name);
    const std::string bytes = one.maker.bytes();
    const auto engine = native::open_native();
    const engine::ModelSource source{.name = one.name, .path = {}, .bytes = std::as_bytes(std::span(bytes))};
    const auto batched = load_batched({*engine, source, node_of(one), true, kRows});
    ASSERT_TRUE(batched.ok()) << batched.status().message();
    EXPECT_TRUE(batched.value().widened.ok()) << batched.value().widened.message();
  }
}

/// ONNX Runtime takes no model in which two nodes have one name, and nodes without any get one of their result's.
TEST(Widen, NodesHaveNamesOfTheirOwn) {
  for (const Case& one : cases()) {
    if (!one.refused.empty()) continue;
    SCOPED_TRACE(one.name);
    const std::string bytes = one.maker.bytes();
    const auto widened = widen_model({std::as_bytes(std::span(bytes)), node_of(one), kRows});
    ASSERT_TRUE(widened.ok()) << widened.status().message();
    const auto model = onnx::read_model(std::as_bytes(std::span(widened.value())));
    ASSERT_TRUE(model.ok()) << model.status().message();
    std::set<std::string, std::less<>> names;
    for (const onnx::Encoded encoded : model.value().graph.nodes) {
      const auto node = onnx::read_node(encoded);
      ASSERT_TRUE(node.ok()) << node.status().message();
      if (node.value().name.empty()) continue;
      EXPECT_TRUE(names.emplace(node.value().name).second) << node.value().name;
    }
  }
}

/// Gives every row what belongs to the next.
class Shifted final : public engine::EngineModel {
 public:
  explicit Shifted(std::unique_ptr<engine::EngineModel> inner) : inner_(std::move(inner)) {
    set_report(inner_->report());
  }
  [[nodiscard]] const std::vector<engine::TensorInfo>& inputs() const override { return inner_->inputs(); }
  [[nodiscard]] const std::vector<engine::TensorInfo>& outputs() const override { return inner_->outputs(); }
  Result<std::size_t> prepare(const engine::Binding& binding) override {
    out_ = binding.outputs.front();
    return inner_->prepare(binding);
  }
  [[nodiscard]] bool run(std::size_t binding) noexcept override {
    if (!inner_->run(binding)) return false;
    auto* begin = static_cast<float*>(out_.data);
    const auto rows = out_.shape[0];
    if (rows > 1) std::rotate(begin, begin + out_.shape[1], begin + rows * out_.shape[1]);
    return true;
  }
  [[nodiscard]] Status error() const override { return inner_->error(); }

 private:
  std::unique_ptr<engine::EngineModel> inner_;
  engine::BoundBuffer out_;
};

class ShiftingEngine final : public engine::Engine {
 public:
  [[nodiscard]] const std::string& description() const override { return engine_->description(); }
  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& source) override {
    LEAPP_ASSIGN_OR_RETURN(auto model, engine_->load(source));
    return std::unique_ptr<engine::EngineModel>(std::make_unique<Shifted>(std::move(model)));
  }

 private:
  std::unique_ptr<engine::Engine> engine_ = native::open_native();
};

TEST(Batch, AModelThatMixesRowsAllTheSameIsFoundOut) {
  const Case one = std::move(Case("relu", {{"x", {1, 2}}}, {{"y", {1, 2}}}).node("Relu", {"x"}, {"y"}));
  const std::string bytes = one.maker.bytes();
  ShiftingEngine engine;
  const engine::ModelSource source{.name = "relu", .path = {}, .bytes = std::as_bytes(std::span(bytes))};
  const auto batched = load_batched({engine, source, node_of(one), true, 3});
  ASSERT_TRUE(batched.ok()) << batched.status().message();
  EXPECT_NE(batched.value().widened.message().find("is not what the model gives for that row alone"), std::string::npos)
      << batched.value().widened.message();
}

/// A pipeline of `rows`, and as many of one row: every one of them gets the same.
void expect_equal_steps(const fs::path& yaml, LoadOptions options, std::size_t rows) {
  std::vector<Pipeline> single;
  for (std::size_t row = 0; row < rows; ++row) single.push_back(Pipeline::load(yaml, options).value());
  options.batch = rows;
  auto loaded = Pipeline::load(yaml, options);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Pipeline& batch = loaded.value();
  for (std::size_t step = 0; step < 6; ++step) {
    for (const std::string& name : batch.inputs()) {
      const TensorView wide = batch.input(name).value();
      ASSERT_EQ(wide.shape[0], static_cast<std::int64_t>(rows));
      MockSource(step, name).fill(wide);
      for (std::size_t row = 0; row < rows; ++row) {
        const TensorView one = single[row].input(name).value();
        const std::size_t size = one.size() * dtype_size(one.dtype);
        std::memcpy(one.data, static_cast<const std::byte*>(wide.data) + row * size, size);
      }
    }
    ASSERT_EQ(batch.step(), StepResult::kOk);
    if (step == 3) {
      ASSERT_TRUE(batch.reset_row(1).ok());
    }
    for (std::size_t row = 0; row < rows; ++row) {
      ASSERT_EQ(single[row].step(), StepResult::kOk);
      if (step == 3 && row == 1) single[row].reset();
      for (const std::string& name : batch.outputs()) {
        const auto wide = std::as_const(batch).output<float>(name).value();
        const auto one = std::as_const(single[row]).output<float>(name).value();
        for (std::size_t i = 0; i < one.size(); ++i) {
          ASSERT_NEAR(wide[row * one.size() + i], one[i], 1e-5) << name << " row " << row << " step " << step;
        }
      }
    }
  }
}

TEST(Batch, APipelineWithStateGivesEveryRowItsOwn) {
  TestBundle bundle("batch");
  TestBundle::make_recurrent(bundle);
  const fs::path yaml = bundle.write();
  LoadOptions native;
  native.engine.prefer = engine::Prefer::kNative;
  for (const bool fuse : {true, false}) {
    native.fuse = fuse;
    expect_equal_steps(yaml, native, 3);
    if (!have_onnxruntime()) continue;
    LoadOptions onnxruntime = test_options();
    onnxruntime.fuse = fuse;
    expect_equal_steps(yaml, onnxruntime, 3);
  }
}

TEST(Batch, PortsHaveTheRowsInFrontAndGuardsAreRefused) {
  TestBundle bundle("batch_ports");
  TestBundle::make_recurrent(bundle);
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  options.batch = 4;
  auto pipeline = Pipeline::load(bundle.write(), options).value();
  EXPECT_TRUE(pipeline.widened().ok()) << pipeline.widened().message();
  EXPECT_EQ(pipeline.batch(), 4U);
  EXPECT_EQ(pipeline.input_port("pre/x").value().shape, (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(pipeline.feedback_ports().front().shape, (std::vector<std::int64_t>{4, 4}));
  const Status guarded = pipeline.set_guards({PortGuard{.port = "post/y"}});
  EXPECT_EQ(guarded.code(), StatusCode::kUnimplemented) << guarded.message();
  EXPECT_EQ(pipeline.reset_row(4).code(), StatusCode::kInvalidArgument);
  options.batch = 0;
  EXPECT_EQ(Pipeline::load(bundle.yaml(), options).status().code(), StatusCode::kInvalidArgument);
}

TEST(Episodes, StateIsCarriedWithinAnEpisodeAndResetBetween) {
  TestBundle bundle("episodes");
  TestBundle::make_recurrent(bundle);
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  auto one = Pipeline::load(bundle.write(), options).value();
  options.batch = 3;
  auto many = Pipeline::load(bundle.yaml(), options).value();
  const std::vector<std::size_t> lengths{7, 3, 5};
  std::vector<std::vector<float>> given;
  std::vector<std::vector<float>> expected;
  std::vector<std::vector<float>> found;
  std::vector<Episode> episodes;
  for (const std::size_t length : lengths) {
    std::vector<float> values(length * 4);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1F * static_cast<float>((i * 7 + length) % 11);
    given.push_back(values);
    expected.emplace_back(length * 4);
    found.emplace_back(length * 4);
  }
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto bytes = [](std::vector<float>& values) { return reinterpret_cast<std::byte*>(values.data()); };
    Episode episode{.steps = lengths[i], .inputs = {{bytes(given[i]), false}}, .outputs = {bytes(expected[i])}};
    if (i == 0) episode.resets = {4};
    ASSERT_FALSE(step_episodes(one, {&episode, 1}, ResetMode::kExported).has_value());
    episode.outputs = {bytes(found[i])};
    episodes.push_back(episode);
  }
  ASSERT_FALSE(step_episodes(many, episodes, ResetMode::kExported).has_value());
  for (std::size_t i = 0; i < lengths.size(); ++i) EXPECT_EQ(found[i], expected[i]) << i;
  // The state of the first episode begins anew at its fifth step, so that it does again what it did with that input.
  EXPECT_NE(expected[0], found[1]);
}

TEST(Episodes, ASeriesOfDifferencesNamesTheWorst) {
  const std::vector<float> found{0, 1, 2, 3, std::numeric_limits<float>::quiet_NaN(), 5};
  const std::vector<float> expected{0, 1, 2.5F, 3, 4, 5};
  const auto bytes = [](const std::vector<float>& values) { return reinterpret_cast<const std::byte*>(values.data()); };
  const SeriesDifference difference = compare_series({bytes(found), bytes(expected), DType::kFloat32, 3, 2}, 0, 0.1);
  EXPECT_EQ(difference.worst[0], 0);
  EXPECT_EQ(difference.worst[1], 0.5);
  EXPECT_EQ(difference.element[1], 0);
  EXPECT_EQ(difference.outside[1], 1);
  EXPECT_TRUE(std::isinf(difference.worst[2]));
  EXPECT_EQ(difference.not_finite, 1);
  EXPECT_EQ(difference.compared, 5);
  EXPECT_DOUBLE_EQ(difference.sum, 0.5);
}

TEST(Episodes, IntegersThatADoubleCannotTellApartDiffer) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const std::vector<std::int64_t> found{large, std::numeric_limits<std::int64_t>::max()};
  const std::vector<std::int64_t> expected{large - 1, std::numeric_limits<std::int64_t>::min()};
  const auto bytes = [](const std::vector<std::int64_t>& of) { return reinterpret_cast<const std::byte*>(of.data()); };
  const SeriesDifference difference = compare_series({bytes(found), bytes(expected), DType::kInt64, 2, 1}, 0, 0);
  EXPECT_EQ(difference.worst, (std::vector<double>{1, 0x1p64}));
  EXPECT_EQ(difference.outside, (std::vector<std::int64_t>{1, 1}));
}

}  // namespace
}  // namespace leapp::runtime
