// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Pipelines that run as one model, beside the same with a model for each node.
#include "runtime/pipeline/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "leapp/bundle/reader.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/pipeline_testing.h"

namespace leapp::runtime {
namespace {

using bundle::Port;

Port small_port(const std::string& name, std::vector<std::int64_t> shape) {
  return {.name = name, .dtype = DType::kFloat32, .shape = std::move(shape)};
}

void add_control(TestBundle& bundle, const std::string& node) {
  bundle.add(node, "control", {float_port("x"), float_port("h_in")}, {float_port("y"), float_port("h_out")});
  bundle.initial.emplace_back(node + "/h_in", std::vector<float>{1, 2, 3, 4});
}

void add_simple(TestBundle& bundle, const std::string& node, const std::string& model) {
  bundle.add(node, model, {float_port("x")}, {float_port("y")});
}

void make_pair(TestBundle& bundle, const std::string& first, const std::string& second) {
  add_simple(bundle, "first", first);
  add_simple(bundle, "second", second);
  bundle.spec.pipeline.data_flow = {{"first/y", {"second/x"}}};
  bundle.spec.pipeline.inputs = {{"first", {"x"}}};
  bundle.spec.pipeline.outputs = {{"second", {"y"}}};
}

// The same model twice: If, Loop in If and Scan, with names that are all the same.
void make_control(TestBundle& bundle) {
  add_control(bundle, "one");
  add_control(bundle, "two");
  bundle.spec.pipeline.data_flow = {{"one/y", {"two/x"}}};
  bundle.spec.pipeline.feedback_flow = {{"one/h_out", {"one/h_in"}}, {"two/h_out", {"two/h_in"}}};
  bundle.spec.pipeline.inputs = {{"one", {"x"}}};
  bundle.spec.pipeline.outputs = {{"two", {"y"}}};
}

// One output goes to the caller, to two inputs of one node and into the next step.
void make_many_readers(TestBundle& bundle) {
  add_control(bundle, "source");
  bundle.add("mix", "mix", {float_port("a"), float_port("b"), {.name = "index", .dtype = DType::kInt64, .shape = {1}}},
             {float_port("total"), small_port("picked", {1, 1})});
  add_simple(bundle, "last", "affine");
  bundle.spec.pipeline.data_flow = {{"source/y", {"mix/a", "mix/b"}}};
  bundle.spec.pipeline.feedback_flow = {{"source/h_out", {"source/h_in"}}, {"source/y", {"last/x"}}};
  bundle.spec.pipeline.inputs = {{"source", {"x"}}, {"mix", {"index"}}};
  bundle.spec.pipeline.outputs = {{"source", {"y", "h_out"}}, {"mix", {"total", "picked"}}, {"last", {"y"}}};
  bundle.initial.emplace_back("last/x", std::vector<float>{5, 6, 7, 8});
}

void add_through(TestBundle& bundle, const std::string& node) {
  bundle.add(node, "through", {float_port("x")}, {float_port("x"), small_port("limits", {2}), float_port("y")});
}

// What comes in goes out unchanged, twice in a row, to the caller, to another node and into the next step.
void make_through(TestBundle& bundle) {
  add_through(bundle, "one");
  add_through(bundle, "two");
  add_simple(bundle, "last", "affine");
  add_simple(bundle, "later", "halve");
  bundle.spec.pipeline.data_flow = {{"one/x", {"two/x"}}, {"two/x", {"last/x"}}};
  bundle.spec.pipeline.feedback_flow = {{"two/y", {"later/x"}}};
  bundle.spec.pipeline.inputs = {{"one", {"x"}}};
  bundle.spec.pipeline.outputs = {
      {"one", {"x", "limits", "y"}}, {"two", {"x", "limits"}}, {"last", {"y"}}, {"later", {"y"}}};
  bundle.initial = {{"later/x", {1, 2, 3, 4}}};
}

// A constant of one model is read by another.
void make_static(TestBundle& bundle) {
  add_through(bundle, "one");
  bundle.add("mix", "limit", {float_port("x"), small_port("limits", {2})}, {float_port("y")});
  bundle.spec.pipeline.data_flow = {{"one/y", {"mix/x"}}, {"one/limits", {"mix/limits"}}};
  bundle.spec.pipeline.inputs = {{"one", {"x"}}};
  bundle.spec.pipeline.outputs = {{"one", {"x"}}, {"mix", {"y"}}};
}

void make_replaced(TestBundle& bundle) {
  make_pair(bundle, "listed", "replaceable");
  bundle.spec.models[1].inputs.insert(bundle.spec.models[1].inputs.begin(), float_port("scale"));
  bundle.spec.pipeline.data_flow[0].second = {"second/scale"};
  bundle.spec.pipeline.inputs.push_back({"second", {"x"}});
}

struct FuseCase {
  const char* name;
  void (*make)(TestBundle&);
};

void PrintTo(const FuseCase& one, std::ostream* stream) { *stream << one.name; }

constexpr FuseCase kCases[] = {
    {"recurrent", TestBundle::make_recurrent},
    {"control", make_control},
    {"many_readers", make_many_readers},
    {"functions", [](TestBundle& bundle) { make_pair(bundle, "functions_2", "functions_3"); }},
    {"sparse", [](TestBundle& bundle) { make_pair(bundle, "sparse", "sparse"); }},
    {"listed", [](TestBundle& bundle) { make_pair(bundle, "listed", "replaceable"); }},
    {"replaced", make_replaced},
    {"through", make_through},
    {"static", make_static},
    {"symbols", [](TestBundle& bundle) { make_pair(bundle, "symbols_2", "symbols_3"); }},
    {"unnamed", [](TestBundle& bundle) { make_pair(bundle, "warns", "affine"); }},
};

Pipeline load(const fs::path& yaml, bool fuse, engine::Optimisation optimisation) {
  LoadOptions options = test_options();
  options.fuse = fuse;
  options.engine.optimisation = optimisation;
  auto pipeline = Pipeline::load(yaml, options);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status().message();
  return std::move(pipeline).value();
}

void fill_inputs(Pipeline& pipeline, int step) {
  for (const std::string& name : pipeline.inputs()) {
    const TensorView view = pipeline.input(name).value();
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (view.dtype == DType::kInt64) {
        static_cast<std::int64_t*>(view.data)[i] = step % 4;
      } else {
        static_cast<float*>(view.data)[i] = std::sin(static_cast<float>(step * 7) + static_cast<float>(i)) * 3;
      }
    }
  }
}

// `largest`: how far an element may be off, relative to its size.
void expect_same_run(Pipeline& one, Pipeline& other, float largest) {
  ASSERT_EQ(one.inputs(), other.inputs());
  ASSERT_EQ(one.outputs(), other.outputs());
  ASSERT_EQ(one.feedback_inputs(), other.feedback_inputs());
  for (int step = 0; step < 100; ++step) {
    for (Pipeline* pipeline : {&one, &other}) {
      fill_inputs(*pipeline, step);
      if (step == 60) pipeline->reset();
      ASSERT_EQ(pipeline->step(), StepResult::kOk) << pipeline->error().message();
    }
    for (const std::string& name : one.outputs()) {
      const auto a = one.output<float>(name).value();
      const auto b = other.output<float>(name).value();
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_LE(std::abs(a[i] - b[i]), largest * std::abs(b[i])) << name << " at step " << step;
      }
    }
  }
}

class Fuse : public ::testing::TestWithParam<FuseCase> {
 protected:
  void SetUp() override {
    if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  }
};

TEST_P(Fuse, GivesWhatSeparateModelsGive) {
  TestBundle bundle(std::string("fuse_") + GetParam().name);
  GetParam().make(bundle);
  const fs::path yaml = bundle.write();
  for (const auto& [optimisation, largest] :
       {std::pair{engine::Optimisation::kOff, 0.0F}, std::pair{engine::Optimisation::kAll, 1e-6F}}) {
    Pipeline fused = load(yaml, true, optimisation);
    Pipeline separate = load(yaml, false, optimisation);
    EXPECT_TRUE(fused.fusion().ok()) << fused.fusion().message();
    EXPECT_FALSE(separate.fusion().ok());
    expect_same_run(fused, separate, largest);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Fuse, ::testing::ValuesIn(kCases), [](const auto& info) { return info.param.name; });

TEST(FuseThrough, WhatIsPassedOnArrives) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("fuse_passed");
  make_through(bundle);
  for (const bool fuse : {true, false}) {
    Pipeline pipeline = load(bundle.write(), fuse, engine::Optimisation::kAll);
    std::vector<float> before{1, 2, 3, 4};
    for (int step = 0; step < 5; ++step) {
      const auto x = pipeline.input<float>("one/x").value();
      fill_inputs(pipeline, step);
      ASSERT_EQ(pipeline.step(), StepResult::kOk) << pipeline.error().message();
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(pipeline.output<float>("one/x").value()[i], x[i]);
        EXPECT_EQ(pipeline.output<float>("two/x").value()[i], x[i]);
        EXPECT_EQ(pipeline.output<float>("last/y").value()[i], 2 * x[i] + 1);
        EXPECT_EQ(pipeline.output<float>("later/y").value()[i], before[i] / 2);
      }
      EXPECT_EQ(pipeline.output<float>("two/limits").value()[1], 1);
      before.assign(x.begin(), x.end());
    }
  }
}

struct Apart {
  const char* name;
  void (*make)(TestBundle&);
  const char* reason;
};

const Apart kApart[] = {
    {"one",
     [](TestBundle& bundle) {
       add_simple(bundle, "first", "affine");
       bundle.spec.pipeline.inputs = {{"first", {"x"}}};
       bundle.spec.pipeline.outputs = {{"first", {"y"}}};
     },
     "there is only one node"},
    {"opsets", [](TestBundle& bundle) { make_pair(bundle, "affine", "older"); },
     "node second: expected version 18 of the operators of domain \"\", found 17"},
    {"external",
     [](TestBundle& bundle) {
       make_pair(bundle, "affine", "external");
       bundle.write_file("weights.data", std::string(16, '\0'));
     },
     "node second: the model keeps weights in another file"},
};

TEST(FuseOrNot, WhatCannotBeOneRunsAsSeveral) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  for (const Apart& one : kApart) {
    TestBundle bundle(std::string("apart_") + one.name);
    one.make(bundle);
    const fs::path yaml = bundle.write();
    Pipeline pipeline = load(yaml, true, engine::Optimisation::kAll);
    EXPECT_EQ(pipeline.fusion().message(), one.reason);
    Pipeline separate = load(yaml, false, engine::Optimisation::kAll);
    expect_same_run(pipeline, separate, 0);
  }
}

// One node cannot run on ones, the other (integer division) not on zeros.
TEST(FuseOrNot, WarmingUpFallsBackToOneModelForEachNode) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("fuse_warm");
  const auto port = [](const char* name, std::int64_t size) {
    return Port{.name = name, .dtype = DType::kInt64, .shape = {size}};
  };
  bundle.add("first", "divide", {port("a", 3), port("b", 3)}, {port("quotient", 3)});
  bundle.add("second", "pick_first", {port("index", 2)}, {small_port("y", {2})});
  bundle.spec.pipeline.inputs = {{"first", {"a", "b"}}, {"second", {"index"}}};
  bundle.spec.pipeline.outputs = {{"first", {"quotient"}}, {"second", {"y"}}};
  LoadOptions options = test_options();
  for (const bool prepare : {true, false}) {
    options.prepare = prepare;
    auto pipeline = Pipeline::load(bundle.write(), options);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
    const Status prepared = pipeline.value().prepare();
    ASSERT_TRUE(prepared.ok()) << prepared.message();
    const std::string& reason = pipeline.value().fusion().message();
    EXPECT_NE(reason.find("node second: cannot run the fused model"), std::string::npos) << reason;
    for (const char* name : {"first/a", "first/b"}) {
      const auto values = pipeline.value().input<std::int64_t>(name).value();
      std::fill(values.begin(), values.end(), 6);
    }
    ASSERT_EQ(pipeline.value().step(), StepResult::kOk) << pipeline.value().error().message();
    EXPECT_EQ(pipeline.value().output<std::int64_t>("first/quotient").value()[2], 1);
  }
}

std::vector<std::byte> bytes_of(const std::string& model) {
  return bundle::read_file(fs::path(LEAPP_TEST_BUNDLES) / "models" / (model + ".onnx"), 1U << 24U).value();
}

struct Inputs {
  explicit Inputs(TestBundle& bundle) : spec(bundle.spec), wiring(bundle::check_wiring(bundle.spec).value()) {
    for (const bundle::Model& model : spec.models) {
      files.push_back(bundle::read_file(bundle.folder() / *model.parameters.model_path, 1U << 24U).value());
    }
  }

  [[nodiscard]] FuseRequest request() const {
    FuseRequest request{.spec = spec, .wiring = wiring, .models = {}};
    for (const auto& file : files) request.models.emplace_back(file);
    return request;
  }

  bundle::BundleSpec spec;
  bundle::Wiring wiring;
  std::vector<std::vector<std::byte>> files;
};

TEST(FuseModels, PortsCanBeCalledOtherwise) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle original("fuse_named");
  make_through(original);
  const Inputs inputs(original);
  FuseRequest request = inputs.request();
  request.name = [](const bundle::Model& node, const Port& port, bool input) {
    return node.name + "_" + port.name + (input ? "_given" : "_made");
  };
  const auto model = fuse_models(request);
  ASSERT_TRUE(model.ok()) << model.status().message();
  FusedPipeline fused = fuse_wiring(inputs.spec, inputs.wiring, request.name);

  TestBundle single("fuse_single");
  single.write_file("all.onnx", model.value());
  fused.model.name = "all";
  fused.model.parameters = {.backend = "onnx", .model_path = "all.onnx", .md5sum = {}, .sha256sum = {}};
  single.spec.pipeline.inputs = {{"all", {"one_x_given"}}};
  single.spec.pipeline.outputs = {{"all", {}}};
  for (const bundle::PortIndex at : fused.wiring.outputs) {
    single.spec.pipeline.outputs[0].second.push_back(fused.model.outputs[at.port].name);
  }
  single.spec.pipeline.feedback_flow = {{"all/two_y_made", {"all/later_x_given"}}};
  single.initial = {{"all/later_x_given", {1, 2, 3, 4}}};
  single.spec.models = {fused.model};
  Pipeline one = load(single.write(), true, engine::Optimisation::kAll);
  Pipeline other = load(original.write(), false, engine::Optimisation::kAll);
  for (int step = 0; step < 10; ++step) {
    fill_inputs(one, step);
    fill_inputs(other, step);
    ASSERT_EQ(one.step(), StepResult::kOk) << one.error().message();
    ASSERT_EQ(other.step(), StepResult::kOk);
    for (const std::string& name : other.outputs()) {
      std::string renamed = "all/" + name + "_made";
      renamed[renamed.find('/', 4)] = '_';
      const auto a = one.output<float>(renamed).value();
      const auto b = other.output<float>(name).value();
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin())) << name;
    }
  }
}

TEST(FuseModels, PortsAreComparedWithTheModels) {
  TestBundle bundle("fuse_ports");
  make_pair(bundle, "affine", "affine");
  Inputs inputs(bundle);
  const auto expect = [&](const std::string& reason) {
    const auto fused = fuse_models(inputs.request());
    ASSERT_FALSE(fused.ok()) << reason;
    EXPECT_EQ(fused.status().message(), reason);
  };
  inputs.spec.models[0].inputs[0].shape = {2, 2};
  expect("node first: \"x\": expected float32[2,2], found another type in the model");
  inputs.spec.models[0].inputs[0] = {.name = "x", .dtype = DType::kFloat64, .shape = {1, 4}};
  expect("node first: \"x\": expected float64[1,4], found another type in the model");
  inputs.spec.models[0].inputs[0] = float_port("z");
  expect("node first: the model has no \"z\"");
  inputs.spec.models[0].inputs[0] = float_port("x");
  inputs.files[1] = bytes_of("filter");
  expect("node second: the bundle has no input \"h_in\", which the model needs");
  inputs.spec.models[1].name = "a/b";
  expect("node a/b: its name has a slash");
}

// Whatever is done to the bytes of a model: an error, or a model.
TEST(FuseModels, AnyBytesAreAnErrorOrAModel) {
  TestBundle bundle("fuse_bytes");
  make_pair(bundle, "functions_2", "functions_3");
  Inputs inputs(bundle);
  for (const char* model : {"functions_2", "control", "sparse"}) {
    const std::vector<std::byte> whole = bytes_of(model);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      inputs.files[0].assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
      (void)fuse_models(inputs.request());
      inputs.files[0] = whole;
      for (const int flip : {0x01, 0x80, 0xff}) {
        inputs.files[0][i] = whole[i] ^ static_cast<std::byte>(flip);
        (void)fuse_models(inputs.request());
      }
    }
  }
}

}  // namespace
}  // namespace leapp::runtime
