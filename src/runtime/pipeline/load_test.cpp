// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Bundles that must not load, and what is said about each.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "leapp/bundle/reader.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/pipeline/pipeline_testing.h"

namespace leapp::runtime {
namespace {

struct Case {
  const char* name;
  std::function<void(TestBundle&)> damage;       ///< of the spec, before it is written
  std::function<void(const TestBundle&)> spoil;  ///< of the files, afterwards
  const char* expected;
};

void nothing(TestBundle& /*bundle*/) {}
void untouched(const TestBundle& /*bundle*/) {}

std::vector<Case> broken_specs() {
  return {
      {"null model", [](TestBundle& b) { b.spec.models[1].parameters = {}; }, untouched,
       "models.policy: the node has no model"},
      {"unknown backend", [](TestBundle& b) { b.spec.models[1].parameters.backend = "caffe"; }, untouched,
       "models.policy.parameters.backend: expected jit, onnx or pt2, found \"caffe\""},
      {"pt2", [](TestBundle& b) { b.spec.models[1].parameters.backend = "pt2"; }, untouched,
       "node policy: 'pt2' models run from Python only"},
      {"future",
       [](TestBundle& b) {
         b.spec.system_information = {{"leapp config version", "9.0"}};
       },
       untouched, "system information.leapp config version: expected one of 1.0, 1.1, 1.2, 1.3, 1.4 (a newer bundle"},
      {"cycle",
       [](TestBundle& b) { std::swap(b.spec.pipeline.data_flow.emplace_back(), b.spec.pipeline.feedback_flow[0]); },
       untouched, "pipeline.data_flow: a cycle: policy -> policy"},
      {"edge",
       [](TestBundle& b) {
         b.spec.models[2].inputs[0].shape = {1, 5};
       },
       untouched, "pipeline.data_flow[policy/y]: post/x is float32[1,5], policy/y is float32[1,4]"},
      {"edge's rank", [](TestBundle& b) { b.spec.models[2].inputs[0].shape = {4}; }, untouched,
       "pipeline.data_flow[policy/y]: post/x is float32[4], policy/y is float32[1,4]"},
      {"edge's dtype", [](TestBundle& b) { b.spec.models[2].inputs[0].dtype = DType::kFloat64; }, untouched,
       "pipeline.data_flow[policy/y]: post/x is float64[1,4], policy/y is float32[1,4]"},
      {"feedback edge",
       [](TestBundle& b) {
         b.spec.models[1].inputs[1].shape = {4, 1};
       },
       untouched, "pipeline.feedback_flow[policy/h_out]: policy/h_in is float32[4,1], policy/h_out is float32[1,4]"},
      {"two sources",
       [](TestBundle& b) {
         b.spec.pipeline.inputs.push_back({"policy", {"x"}});
       },
       untouched, "policy/x"},
      {"no source", [](TestBundle& b) { b.spec.pipeline.inputs.clear(); }, untouched, "pre/x"},
      {"port's dtype and model", [](TestBundle& b) { b.spec.models[0].inputs[0].dtype = DType::kFloat64; }, untouched,
       "node pre: cannot bind models.pre (pre.onnx): input \"x\": the bundle says float64[1,4], the model "
       "float32[1,4]"},
      {"port the model lacks",
       [](TestBundle& b) {
         b.spec.models[2].outputs[0].name = "z";
         b.spec.pipeline.outputs[0].second = {"z"};
       },
       untouched, "node post: cannot bind models.post (post.onnx): the model has no output \"z\"; it has y"},
      {"unrouted", [](TestBundle& b) { b.spec.pipeline.outputs.clear(); }, untouched, "the output post/y goes nowhere"},
      {"unknown port", [](TestBundle& b) { b.spec.pipeline.inputs[0].second = {"q"}; }, untouched,
       "pipeline.inputs[pre]: node \"pre\" has no input \"pre/q\""},
      {"port and model",
       [](TestBundle& b) {
         b.spec.models[0].inputs[0].shape = {2, 2};
       },
       untouched, "models.pre (pre.onnx): input \"x\": the bundle says float32[2,2], the model declares [1,4]"},
      {"other state", [](TestBundle& b) { b.initial[0].first = "policy/x"; }, untouched,
       "expected a value for the feedback input policy/h_in, found none"},
      {"unknown state", [](TestBundle& b) { b.initial.emplace_back("policy/g", std::vector<float>(4)); }, untouched,
       "\"policy/g\" is not an input of any node"},
      {"state's shape", [](TestBundle& b) { b.shape = {4}; }, untouched,
       "policy/h_in: expected float32[1,4], found float32[4]"},
      {"checksum", [](TestBundle& b) { b.spec.models[0].parameters.sha256sum->front() ^= 1; }, untouched,
       "models.pre.parameters.sha256sum: expected"},
      {"md5", [](TestBundle& b) { b.spec.models[0].parameters.md5sum->front() ^= 1; }, untouched,
       "models.pre.parameters.md5sum: expected"},
      {"outside by dots",
       [](TestBundle& b) {
         b.spec.models[0].parameters.model_path = "../pre.onnx";
         b.spec.models[0].parameters.sha256sum.reset();
       },
       [](const TestBundle& b) { fs::copy_file(b.folder() / "pre.onnx", b.folder() / "../pre.onnx"); },
       "models.pre.parameters.model_path: \"../pre.onnx\" leads out of the bundle's folder"},
      {"too much",
       [](TestBundle& b) {
         b.spec.models[0].inputs[0].shape = {1 << 30};
         for (int i = 0; i < 5; ++i) {
           bundle::Port port = b.spec.models[0].inputs[0];
           port.name += std::to_string(i);
           b.spec.models[0].inputs.push_back(port);
           b.spec.pipeline.inputs[0].second.push_back(port.name);
         }
       },
       untouched,
       "the bundle needs 25.8 GB of memory (ports 25.8 GB, state 16 B, models 523 B), the option memory_limit is 1.0 "
       "GB"},
  };
}

std::vector<Case> broken_files() {
  return {
      {"no yaml", nothing, [](const TestBundle& b) { fs::remove(b.yaml()); }, "cannot read"},
      {"no model", nothing, [](const TestBundle& b) { fs::remove(b.folder() / "policy.onnx"); },
       "models.policy.parameters.model_path: cannot find"},
      {"no state", nothing, [](const TestBundle& b) { fs::remove(b.folder() / "bundle_initial_values.safetensors"); },
       "pipeline.initial_values: cannot find"},
      {"changed model", nothing, [](const TestBundle& b) { b.write_file("pre.onnx", "something else"); },
       "models.pre.parameters.sha256sum: expected"},
      {"truncated model",
       [](TestBundle& b) { b.spec.models[0].parameters.sha256sum = b.spec.models[0].parameters.md5sum = std::nullopt; },
       [](const TestBundle& b) { fs::resize_file(b.folder() / "pre.onnx", 70); },
       "models.pre (pre.onnx): not an ONNX model"},
      {"truncated state", nothing,
       [](const TestBundle& b) { fs::resize_file(b.folder() / "bundle_initial_values.safetensors", 60); },
       "pipeline.initial_values: bundle_initial_values.safetensors: "},
      {"symlink out", nothing,
       [](const TestBundle& b) {
         fs::remove(b.folder() / "pre.onnx");
         fs::create_symlink(fs::path(LEAPP_TEST_BUNDLES) / "models" / "affine.onnx", b.folder() / "pre.onnx");
       },
       "models.pre.parameters.model_path: \"pre.onnx\" leads out of the bundle's folder"},
      {"symlink in the way", nothing,
       [](const TestBundle& b) {
         fs::rename(b.folder() / "bundle_initial_values.safetensors", b.folder() / "../state.safetensors");
         fs::create_symlink("../state.safetensors", b.folder() / "bundle_initial_values.safetensors");
       },
       "pipeline.initial_values: \"bundle_initial_values.safetensors\" leads out of the bundle's folder"},
      {"a folder for a model", nothing,
       [](const TestBundle& b) {
         fs::remove(b.folder() / "pre.onnx");
         fs::create_directory(b.folder() / "pre.onnx");
       },
       "models.pre.parameters.model_path: "},
      {"model of nothing",
       [](TestBundle& b) { b.spec.models[0].parameters.sha256sum = b.spec.models[0].parameters.md5sum = std::nullopt; },
       [](const TestBundle& b) { b.write_file("pre.onnx", ""); }, "models.pre (pre.onnx)"},
      {"model with another's bytes",
       [](TestBundle& b) { b.spec.models[0].parameters.sha256sum = b.spec.models[0].parameters.md5sum = std::nullopt; },
       [](const TestBundle& b) { b.write_file("pre.onnx", "\x08\x08"); },
       "models.pre (pre.onnx): not an ONNX model: expected one graph, found 0"},
      {"path outside",
       [](TestBundle& b) {
         b.spec.models[0].parameters.model_path = (fs::path(LEAPP_TEST_BUNDLES) / "models" / "affine.onnx").string();
         b.spec.models[0].parameters.sha256sum.reset();
       },
       untouched, "leads out of the bundle's folder"},
      {"another model outside",
       [](TestBundle& b) {
         b.spec.models[0].parameters.model_path = (fs::path(LEAPP_TEST_BUNDLES) / "models" / "halve.onnx").string();
       },
       untouched, "models.pre.parameters.sha256sum: expected"},
  };
}

// Steps a pipeline that nothing happened to beside one that was there while something went wrong.
class Witness {
 public:
  Witness() {
    TestBundle::make_recurrent(bundle_);
    bundle_.write();
    for (int i = 0; i < 2; ++i) pipelines_.push_back(Pipeline::load(bundle_.yaml(), test_options()).value());
  }

  Pipeline& pipeline() { return pipelines_[0]; }

  void expect_untouched(const char* after) {
    for (Pipeline& pipeline : pipelines_) {
      const auto every_second = ++steps_ / 2;
      pipeline.input<float>("pre/x").value()[0] = static_cast<float>(every_second);
      ASSERT_EQ(pipeline.step(), StepResult::kOk) << after;
    }
    const auto touched = pipelines_[0].output<float>("post/y").value();
    const auto left_alone = pipelines_[1].output<float>("post/y").value();
    ASSERT_TRUE(std::equal(touched.begin(), touched.end(), left_alone.begin())) << after;
  }

 private:
  TestBundle bundle_{"witness"};
  std::vector<Pipeline> pipelines_;
  int steps_ = 1;
};

TEST(BadValues, LeaveInputsAndStateAlone) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  Witness witness;
  Pipeline& pipeline = witness.pipeline();
  std::vector<float> values(8, 9);
  struct Bad {
    const char* what;
    const char* name;
    DType dtype;
    std::vector<std::int64_t> shape;
    StatusCode code;
    const char* message;
  };
  const std::vector<Bad> cases = {
      {"shape",
       "pre/x",
       DType::kFloat32,
       {1, 5},
       StatusCode::kInvalidArgument,
       "pre/x: expected float32[1,4], found float32[1,5]"},
      {"rank",
       "pre/x",
       DType::kFloat32,
       {4},
       StatusCode::kInvalidArgument,
       "pre/x: expected float32[1,4], found float32[4]"},
      {"dtype",
       "pre/x",
       DType::kInt32,
       {1, 4},
       StatusCode::kWrongType,
       "pre/x: expected float32[1,4], found int32[1,4]"},
      {"state's shape",
       "policy/h_in",
       DType::kFloat32,
       {2, 2},
       StatusCode::kInvalidArgument,
       "policy/h_in: expected float32[1,4], found float32[2,2]"},
      {"state's dtype",
       "policy/h",
       DType::kFloat64,
       {1, 4},
       StatusCode::kWrongType,
       "policy/h_in: expected float32[1,4], found float64[1,4]"},
      {"unknown key",
       "pre/z",
       DType::kFloat32,
       {1, 4},
       StatusCode::kNotFound,
       "there is no input \"pre/z\"; there are pre/x, policy/h_in"},
      {"an inner input",
       "post/x",
       DType::kFloat32,
       {1, 4},
       StatusCode::kNotFound,
       "there is no input \"post/x\"; there are pre/x, policy/h_in"},
      {"an output",
       "post/y",
       DType::kFloat32,
       {1, 4},
       StatusCode::kNotFound,
       "there is no input \"post/y\"; there are pre/x, policy/h_in"},
  };
  for (const Bad& bad : cases) {
    const Status status = pipeline.set_input_value(bad.name, {values.data(), bad.dtype, bad.shape});
    EXPECT_EQ(status.code(), bad.code) << bad.what;
    EXPECT_EQ(status.message(), bad.message);
    witness.expect_untouched(bad.what);
  }
}

TEST(Load, SaysWhatIsWrong) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  Witness witness;
  std::vector<Case> cases = broken_specs();
  for (Case& one : broken_files()) cases.push_back(std::move(one));
  for (const Case& one : cases) {
    const TestFolder around("load_around");
    TestBundle bundle("load_around_" + std::to_string(::getpid()) + "/bundle");
    TestBundle::make_recurrent(bundle);
    one.damage(bundle);
    bundle.write();
    one.spoil(bundle);
    LoadOptions options = test_options();
    options.memory_limit = 1'000'000'000;  // not what this machine has
    const auto pipeline = Pipeline::load(bundle.yaml(), options);
    ASSERT_FALSE(pipeline.ok()) << one.name;
    EXPECT_NE(pipeline.status().message().find(one.expected), std::string::npos)
        << one.name << "\nexpected " << one.expected << "\nfound " << pipeline.status().message();
    EXPECT_NE(pipeline.status().message().find("bundle.yaml"), std::string::npos) << pipeline.status().message();
    witness.expect_untouched(one.name);
  }
}

TEST(Load, OutsideAndChecksumsCanBeAllowed) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("allowed");
  TestBundle::make_recurrent(bundle);
  bundle.spec.models[0].parameters.model_path = (fs::path(LEAPP_TEST_BUNDLES) / "models" / "affine.onnx").string();
  bundle.spec.models[1].parameters.md5sum = "0";
  LoadOptions options = test_options();
  options.allow_outside = true;
  options.verify_checksums = false;
  const auto pipeline = Pipeline::load(bundle.write(), options);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status().message();
}

TEST(Load, AModelOutsideThatHasTheRightSha256) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("pinned");
  TestBundle::make_recurrent(bundle);
  fs::remove(bundle.folder() / "pre.onnx");
  bundle.spec.models[0].parameters.model_path = (fs::path(LEAPP_TEST_BUNDLES) / "models" / "affine.onnx").string();
  auto pipeline = Pipeline::load(bundle.write(), test_options());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  ASSERT_EQ(pipeline.value().step(), StepResult::kOk);
  EXPECT_EQ(pipeline.value().output<float>("post/y").value()[0], 1.5F);
}

TEST(Load, WithoutInitialValuesStateStartsFromZeros) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("zeros");
  TestBundle::make_recurrent(bundle);
  EXPECT_TRUE(Pipeline::load(bundle.write(), test_options()).value().notes().empty());
  bundle.initial = {};
  bundle.spec.pipeline.initial_values.reset();
  for (const bool fuse : {true, false}) {
    LoadOptions options = test_options();
    options.fuse = fuse;
    auto pipeline = Pipeline::load(bundle.write(), options);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
    ASSERT_EQ(pipeline.value().notes().size(), 1U);
    EXPECT_NE(pipeline.value().notes()[0].find("policy/h_in starts from zeros"), std::string::npos)
        << pipeline.value().notes()[0];
    for (const float expected : {1.0F, 1.5F}) {
      ASSERT_EQ(pipeline.value().step(), StepResult::kOk);
      EXPECT_EQ(pipeline.value().output<float>("post/y").value()[3], expected);
    }
    pipeline.value().reset();
    EXPECT_EQ(pipeline.value().feedback_input("policy/h_in").value().as<float>().value()[3], 0.0F);
  }
}

TEST(Load, OneNodeAlone) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("one_node");
  TestBundle::make_recurrent(bundle);
  const LoadOptions options = test_options();
  const auto open = [&](const std::string& backend) { return PipelineAccess::open_engine(backend, options.engine); };
  auto node = PipelineAccess::load_node(bundle.write(), "policy", options, open);
  ASSERT_TRUE(node.ok()) << node.status().message();
  EXPECT_EQ(node.value().inputs(), (std::vector<std::string>{"policy/x", "policy/h_in"}));
  EXPECT_EQ(node.value().outputs(), (std::vector<std::string>{"policy/y", "policy/h_out"}));
  EXPECT_TRUE(node.value().feedback_inputs().empty());
  EXPECT_EQ(PipelineAccess::load_node(bundle.yaml(), "plant", options, open).status().code(), StatusCode::kNotFound);
}

// A field of text that makes a model so long that it is mapped.
void lengthen(const fs::path& model) {
  constexpr std::uint32_t kBytes = 80U << 20U;
  std::string tail = "\x32";  // doc_string
  for (std::uint32_t rest = kBytes; rest > 0; rest >>= 7U)
    tail += static_cast<char>((rest & 0x7FU) | (rest > 127 ? 0x80U : 0));
  std::ofstream(model, std::ios::binary | std::ios::app) << tail << std::string(kBytes, ' ');
}

TEST(Load, AModelThatIsCutWhileItIsLoadedIsAnError) {
  TestBundle bundle("cut_model");
  bundle.add("pre", "affine", {float_port("x")}, {float_port("y")});
  bundle.spec.pipeline.inputs = {{"pre", {"x"}}};
  bundle.spec.pipeline.outputs = {{"pre", {"y"}}};
  const fs::path model = bundle.folder() / "pre.onnx";
  lengthen(model);
  LoadOptions options;
  options.verify_checksums = false;
  options.engine.prefer = engine::Prefer::kNative;
  const auto open = [&](const std::string& backend) {
    fs::resize_file(model, 10);
    return PipelineAccess::open_engine(backend, options.engine);
  };
  const auto loaded = PipelineAccess::load(bundle.write(), options, open);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), StatusCode::kIo);
  EXPECT_NE(loaded.status().message().find("pre.onnx: it was changed while it was read"), std::string::npos)
      << loaded.status().message();
}

// Loads a bundle whose YAML is written anew while each of the first `times` loads is under way.
Result<Pipeline> load_while_replaced(int times, int& loads) {
  TestBundle bundle("replaced_" + std::to_string(times));
  TestBundle::make_recurrent(bundle);
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  const auto open = [&](const std::string& backend) {
    if (loads++ < times) {
      const fs::path beside = bundle.folder() / "beside";
      fs::copy_file(bundle.yaml(), beside);
      fs::rename(beside, bundle.yaml());
    }
    return PipelineAccess::open_engine(backend, options.engine);
  };
  return PipelineAccess::load(bundle.write(), options, open);
}

TEST(Load, ABundleThatIsReplacedMeanwhileIsReadAgain) {
  int loads = 0;
  const auto loaded = load_while_replaced(3, loads);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loads, 4);
}

TEST(Load, ABundleThatIsReplacedAllTheTimeIsAnError) {
  int loads = 0;
  const auto loaded = load_while_replaced(1000, loads);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), StatusCode::kIo);
  EXPECT_NE(loaded.status().message().find("it was replaced each of the 10 times that it was read"), std::string::npos)
      << loaded.status().message();
}

TEST(Load, WhatNodesReadCanBeLookedAt) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("node_inputs");
  TestBundle::make_recurrent(bundle);
  LoadOptions options = test_options();
  options.fuse = false;
  Pipeline pipeline = Pipeline::load(bundle.write(), options).value();
  const auto first = [&](const char* name) {
    return PipelineAccess::node_input(pipeline, name).value().as<float>().value()[0];
  };
  pipeline.input<float>("pre/x").value()[0] = 3;
  EXPECT_EQ(first("policy/h_in"), 1);
  for (const float state : {7.5F, 10.75F}) {
    ASSERT_EQ(pipeline.step(), StepResult::kOk);
    EXPECT_EQ(first("pre/x"), 3);
    EXPECT_EQ(first("policy/x"), 7);
    EXPECT_EQ(first("policy/h_in"), state) << "what the next step reads";
    EXPECT_EQ(first("post/x"), 2 * state);
  }
  EXPECT_FALSE(PipelineAccess::node_input(pipeline, "post/z"));
  options.fuse = true;
  const Pipeline fused = Pipeline::load(bundle.yaml(), options).value();
  EXPECT_FALSE(PipelineAccess::node_input(fused, "policy/x")) << "there is no such tensor any more";
}

TEST(Load, ExternalDataStaysInTheFolder) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  const std::vector<float> weights{1, 2, 3, 4};
  const std::string bytes(reinterpret_cast<const char*>(weights.data()), 16);
  TestBundle bundle("external");
  bundle.add("m", "external", {float_port("x")}, {float_port("y")});
  bundle.spec.pipeline.inputs = {{"m", {"x"}}};
  bundle.spec.pipeline.outputs = {{"m", {"y"}}};
  const auto missing = Pipeline::load(bundle.write(), test_options());
  EXPECT_NE(missing.status().message().find("models.m (m.onnx): external data: cannot find"), std::string::npos)
      << missing.status().message();
  bundle.write_file("weights.data", bytes);
  auto pipeline = Pipeline::load(bundle.write(), test_options());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  ASSERT_EQ(pipeline.value().step(), StepResult::kOk);
  EXPECT_EQ(pipeline.value().output<float>("m/y").value()[3], 4);

  const std::string sum = digest_bytes(std::as_bytes(std::span(bytes))).value().sha256;
  bundle.spec.models[0].parameters.extra = bundle::external_data_entry("weights.data", sum);
  EXPECT_TRUE(Pipeline::load(bundle.write(), test_options()).ok());
  bundle.write_file("weights.data", std::string(16, '\0'));
  const auto other = Pipeline::load(bundle.yaml(), test_options());
  EXPECT_NE(other.status().message().find("models.m.parameters.external_data.weights.data: expected"),
            std::string::npos)
      << other.status().message();
  LoadOptions unchecked = test_options();
  unchecked.verify_checksums = false;
  EXPECT_TRUE(Pipeline::load(bundle.yaml(), unchecked).ok());
  bundle.write_file("weights.data", bytes);

  TestFolder outside("external_outside");
  fs::rename(bundle.folder() / "weights.data", outside.path() / "weights.data");
  fs::create_symlink(outside.path() / "weights.data", bundle.folder() / "weights.data");
  const auto link = Pipeline::load(bundle.yaml(), test_options());
  EXPECT_NE(link.status().message().find("leads out of the bundle's folder"), std::string::npos);
  bundle.spec.models.clear();
  bundle.add("m", "external_outside", {float_port("x")}, {float_port("y")});
  const auto above = Pipeline::load(bundle.write(), test_options());
  EXPECT_NE(above.status().message().find("models.m (m.onnx): external data: "), std::string::npos);
  EXPECT_NE(above.status().message().find("leads out of the bundle's folder"), std::string::npos);
}

TEST(Load, WithoutAnEngineSaysWhatToDo) {
  TestBundle bundle("no_engine");
  TestBundle::make_recurrent(bundle);
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kOnnxRuntime;
  options.engine.onnxruntime_library = "/nowhere";
  const auto onnx = Pipeline::load(bundle.write(), options);
  EXPECT_EQ(onnx.status().code(), StatusCode::kNotFound);
  EXPECT_NE(onnx.status().message().find("node pre: option onnxruntime_library"), std::string::npos);
  bundle.spec.models[0].parameters.backend = "jit";
  options.engine.torch_engine_library = "/nowhere/engine.so";
  const auto jit = Pipeline::load(bundle.write(), options);
  EXPECT_EQ(jit.status().code(), StatusCode::kNotFound);
  for (const char* part :
       {"node pre: 'jit' models need torch", "LEAPP_ENGINE_TORCH", "torch_engine_library", "/nowhere/engine.so"}) {
    EXPECT_NE(jit.status().message().find(part), std::string::npos) << jit.status().message();
  }
}

TEST(Load, AnEngineThatIsNotOfThisBuildIsRefused) {
  TestBundle bundle("other_engine");
  TestBundle::make_recurrent(bundle);
  bundle.spec.models[0].parameters.backend = "jit";
  LoadOptions options;
  options.engine.torch_engine_library = LEAPP_TEST_OTHER_ENGINE;
  const auto jit = Pipeline::load(bundle.write(), options);
  EXPECT_EQ(jit.status().code(), StatusCode::kNotFound);
  for (const char* part :
       {"none that was found fits", LEAPP_TEST_OTHER_ENGINE ": built from other sources of LEAPP", "another C++ ABI"}) {
    EXPECT_NE(jit.status().message().find(part), std::string::npos) << jit.status().message();
  }
}

}  // namespace
}  // namespace leapp::runtime
