// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A bundle with histories for tests, on LEAPP's own engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/native/model_testing.h"
#include "leapp/bundle/history.h"
#include "runtime/pipeline/pipeline_testing.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {

/// Two nodes. pre: f [1,2] = 2 x. policy, with three rows [1,3,2] in each state:
///   h  the last three f;  m  the last three sums of h's rows;  t = t / 2 + f, in all rows
///   y  [1,3,2] = h + t, after this step;  picked [1] = a table of three at `row`, which may be outside of it
/// They begin as ones, twos, fours.
class HistoryBundle {
 public:
  explicit HistoryBundle(const std::string& name) : bundle_(name) {
    native::ModelMaker pre;
    pre.input("x", {1, 2}).output("f", {1, 2}).floats("two", {}, {2}).node("Mul", {"x", "two"}, {"f"});
    bundle_.write_file("pre.onnx", pre.bytes());
    bundle_.write_file("policy.onnx", policy());
    const auto rows = [](const char* name) { return bundle::Port{.name = name, .shape = {1, 3, 2}}; };
    bundle::Model first{.name = "pre", .inputs = {{.name = "x", .shape = {1, 2}}}, .outputs = {}, .parameters = {}};
    first.outputs = {{.name = "f", .shape = {1, 2}}};
    first.parameters = {.backend = "onnx", .model_path = "pre.onnx"};
    bundle::Model second{.name = "policy", .inputs = {}, .outputs = {}, .parameters = {}};
    second.inputs = {{.name = "f", .shape = {1, 2}}, {.name = "row", .dtype = DType::kInt64, .shape = {1}}};
    for (const char* name : {"h_in", "m_in", "t_in"}) second.inputs.push_back(rows(name));
    second.outputs = {rows("y"), {.name = "picked", .shape = {1}}};
    for (const char* name : {"h_out", "m_out", "t_out"}) second.outputs.push_back(rows(name));
    second.parameters = {.backend = "onnx", .model_path = "policy.onnx"};
    set_history(second.inputs[2], {{.axis = 1, .stop = 3, .frames = 3, .of = {"pre/x"}}});
    set_history(second.inputs[3], {{.axis = 1, .stop = 3, .frames = 3, .of = {"pre/x", "policy/h_in"}}});
    bundle_.spec.models = {first, second};
    bundle_.spec.pipeline.data_flow = {{"pre/f", {"policy/f"}}};
    bundle_.spec.pipeline.feedback_flow = {
        {"policy/h_out", {"policy/h_in"}}, {"policy/m_out", {"policy/m_in"}}, {"policy/t_out", {"policy/t_in"}}};
    bundle_.spec.pipeline.inputs = {{"pre", {"x"}}, {"policy", {"row"}}};
    bundle_.spec.pipeline.outputs = {{"policy", {"y", "picked"}}};
    bundle_.initial = {{"policy/h_in", std::vector<float>(6, 1)},
                       {"policy/m_in", std::vector<float>(6, 2)},
                       {"policy/t_in", std::vector<float>(6, 4)}};
    bundle_.shape = {1, 3, 2};
  }

  bundle::BundleSpec& spec() { return bundle_.spec; }
  fs::path write() { return bundle_.write(); }

  Pipeline load(bool fuse = false) {
    LoadOptions options;
    options.engine.prefer = engine::Prefer::kNative;
    options.fuse = fuse;
    auto pipeline = Pipeline::load(write(), options);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status().message();
    return std::move(pipeline).value();
  }

 private:
  static std::string policy() {
    native::ModelMaker maker;
    maker.input("f", {1, 2}).input("row", {1}, DType::kInt64);
    for (const char* name : {"h_in", "m_in", "t_in"}) maker.input(name, {1, 3, 2});
    maker.output("y", {1, 3, 2}).output("picked", {1});
    for (const char* name : {"h_out", "m_out", "t_out"}) maker.output(name, {1, 3, 2});
    maker.ints("start", {1}).ints("stop", {3}).ints("axis", {1}).ints("frame", {1, 1, 2});
    maker.floats("half", {}, {0.5F}).floats("table", {3}, {7, 8, 9});
    const std::vector<onnx::AttributeProto> along{{"axis", std::int64_t{1}}};
    maker.node("Reshape", {"f", "frame"}, {"new"});
    maker.node("Slice", {"h_in", "start", "stop", "axis"}, {"h_old"});
    maker.node("Concat", {"h_old", "new"}, {"h_out"}, along);
    maker.node("ReduceSum", {"h_out", "axis"}, {"sum"}, {{"keepdims", std::int64_t{1}}});
    maker.node("Slice", {"m_in", "start", "stop", "axis"}, {"m_old"});
    maker.node("Concat", {"m_old", "sum"}, {"m_out"}, along);
    maker.node("Mul", {"t_in", "half"}, {"t_half"}).node("Add", {"t_half", "new"}, {"t_out"});
    maker.node("Add", {"h_out", "t_out"}, {"y"});
    maker.node("Gather", {"table", "row"}, {"picked"}, {{"axis", std::int64_t{0}}});
    return maker.bytes();
  }

  TestBundle bundle_;
};

}  // namespace leapp::runtime
