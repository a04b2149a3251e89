// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/name_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

const std::vector<std::string> kRobot{"ankle", "hip", "knee"};

TEST(Ports, ByMeaning) {
  RobotBundle bundle("ports");
  Pipeline pipeline = bundle.load();
  const Port q = pipeline.input_of_kind("state/joint/position").value();
  EXPECT_EQ(q.name, "policy/q");
  EXPECT_EQ(q.node, "policy");
  EXPECT_EQ(q.role, PortRole::kInput);
  EXPECT_EQ(q.dtype, DType::kFloat32);
  EXPECT_EQ(q.shape, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(q.element_names[1], (std::vector<std::string>{"hip", "knee", "ankle"}));
  EXPECT_EQ(q.frequency, 50.0);
  EXPECT_EQ(q.data, pipeline.input("policy/q").value().data);
  EXPECT_EQ(q.element_text(2), "[0,2] (ankle)");
  EXPECT_EQ(pipeline.output_of_kind("target/joint/position").value().name, "policy/action");
  EXPECT_EQ(pipeline.output_port("policy/chunk").value().temporal_axis, (bundle::TemporalAxis{1, 10}));
  EXPECT_EQ(pipeline.input_port("policy/v").value().name, "policy/v");
  ASSERT_EQ(pipeline.feedback_ports().size(), 1U);
  EXPECT_EQ(pipeline.feedback_ports()[0].name, "policy/h_in");
  EXPECT_EQ(pipeline.feedback_ports()[0].data, nullptr);
  EXPECT_EQ(pipeline.frequency(), 50.0);
}

TEST(Ports, WhatIsNotThereIsRefusedWithBothSides) {
  RobotBundle bundle("no_ports");
  bundle.spec().models[0].inputs[1].kind = "state/joint/position";
  Pipeline pipeline = bundle.load();
  expect_refused(pipeline.input_of_kind("state/body/pose").status(), StatusCode::kNotFound,
                 {"state/body/pose", "policy/q (state/joint/position)"});
  expect_refused(pipeline.input_of_kind("state/joint/position").status(), StatusCode::kInvalidArgument,
                 {"found 2", "policy/q", "policy/v"});
  expect_refused(pipeline.output_of_kind("kp").status(), StatusCode::kNotFound, {"kp", "policy/chunk"});
  expect_refused(pipeline.input_port("policy/x").status(), StatusCode::kNotFound, {"policy/x", "policy/q"});
  expect_refused(pipeline.output_port("policy/x").status(), StatusCode::kNotFound, {"policy/x", "policy/action"});
}

bundle::BundleSpec one_port(bundle::Port port) {
  bundle::BundleSpec spec;
  spec.models = {{.name = "n", .inputs = {std::move(port)}, .outputs = {}, .parameters = {}}};
  return spec;
}

TEST(Ports, NamesOfTheLastAxisOrTheFirst) {
  const std::vector<std::string> two{"a", "b"};
  bundle::Port port{.name = "x", .shape = {1, 2}};
  port.element_names = {two};
  EXPECT_EQ(port_of(one_port(port), "n/x", PortRole::kInput).value().element_names[1], two);
  port.shape = {2, 5};
  EXPECT_EQ(port_of(one_port(port), "n/x", PortRole::kInput).value().element_names[0], two);
  port.shape = {4, 5};
  const Port nameless = port_of(one_port(port), "n/x", PortRole::kInput).value();
  EXPECT_EQ(nameless.element_names, (std::vector<bundle::AxisNames>(2)));
  EXPECT_EQ(nameless.element_text(7), "[1,2]");
  EXPECT_FALSE(nameless.frequency.has_value());
}

TEST(Ports, NamesAndMomentsOfNewerBundles) {
  using bundle::YamlList;
  using bundle::YamlMap;
  const YamlMap time{{"kind", "time"}, {"period_ms", 20}};
  const YamlMap joints{{"kind", "element"}, {"names", YamlList{"a", "b"}}};
  bundle::Port port{.name = "x", .shape = {1, 3, 2}};
  port.extra = {{"axes", YamlList{{}, time, joints}}};
  const Port found = port_of(one_port(port), "n/x", PortRole::kInput).value();
  EXPECT_EQ(found.temporal_axis, (bundle::TemporalAxis{1, 20}));
  EXPECT_EQ(found.element_names[2], (std::vector<std::string>{"a", "b"}));
}

TEST(NameMap, PutsTheRobotsOrderIntoThePorts) {
  RobotBundle bundle("map");
  Pipeline pipeline = bundle.load();
  auto q = NameMap::make(pipeline.input_of_kind("state/joint/position").value(), 1, kRobot).value();
  auto action = NameMap::make(pipeline.output_of_kind("target/joint/position").value(), -1, kRobot).value();
  ASSERT_TRUE(q.write(std::array{30.F, 10.F, 20.F}));
  EXPECT_EQ(values_of(pipeline.input<float>("policy/q").value()), (std::vector<float>{10, 20, 30}));
  ASSERT_EQ(pipeline.step(), StepResult::kOk);
  std::array<double, 3> targets{};
  ASSERT_TRUE(action.read(targets));
  EXPECT_EQ(targets, (std::array{33.0, 11.0, 22.0}));  // q + h, which begins as 1, 2, 3
  std::array<float, 3> floats{};
  ASSERT_TRUE(action.read(floats));
  EXPECT_EQ(floats, (std::array{33.F, 11.F, 22.F}));
}

TEST(NameMap, OneConversionServesBothWays) {
  RobotBundle bundle("conversion");
  Pipeline pipeline = bundle.load();
  const Conversion conversion{.scale = {2, 1, 0.5}, .offset = {0.25, 0, -1}, .sign = {-1, 1, 1}};
  auto q = NameMap::make(pipeline.input_port("policy/q").value(), 1, kRobot, conversion).value();
  const std::array<double, 3> robot{3, 4, 5};
  ASSERT_TRUE(q.write(robot));
  EXPECT_EQ(values_of(pipeline.input<float>("policy/q").value()), (std::vector<float>{4, 1.5, -5.75}));
  std::array<double, 3> back{};
  ASSERT_TRUE(q.read(back));
  EXPECT_EQ(back, robot);
}

TEST(NameMap, WhatDoesNotFitIsRefusedWithTheNamesOfBothSides) {
  RobotBundle bundle("misfit");
  Pipeline pipeline = bundle.load();
  const Port q = pipeline.input_port("policy/q").value();
  const auto refuse = [&](const std::vector<std::string>& names, const std::vector<std::string>& words) {
    std::vector<std::string> all{"policy/q, axis 1", "The port has 3: hip, knee, ankle", "The robot has"};
    all.insert(all.end(), words.begin(), words.end());
    expect_refused(NameMap::make(q, 1, names).status(), StatusCode::kInvalidArgument, all);
  };
  refuse({"hip", "knee"}, {"the robot lacks: ankle", "2: hip, knee"});
  refuse({"hip", "knee", "ankle", "toe"}, {"does not know: toe"});
  refuse({"hip", "knee", "knee"}, {"twice among the robot's: knee", "lacks: ankle"});
  refuse({"Hip", "knee", "ankle"}, {"lacks: hip", "does not know: Hip"});
  refuse({}, {"The robot has 0"});
  Port doubled = q;
  doubled.element_names[1] = {"hip", "knee", "hip"};
  expect_refused(NameMap::make(doubled, 1, kRobot).status(), StatusCode::kInvalidArgument,
                 {"twice among the port's: hip"});
  expect_refused(NameMap::make(q, 0, kRobot).status(), StatusCode::kInvalidArgument, {"axis 0", "names", "ankle"});
  expect_refused(NameMap::make(q, 2, kRobot).status(), StatusCode::kInvalidArgument, {"-2 to 1", "found 2"});
  expect_refused(NameMap::make(q, 1, kRobot, {.scale = {1, 2}}).status(), StatusCode::kInvalidArgument,
                 {"scale", "expected 3", "found 2"});
  expect_refused(NameMap::make(q, 1, kRobot, {.scale = {1, 0, 2}}).status(), StatusCode::kInvalidArgument,
                 {"scale of hip", "not 0"});
  expect_refused(NameMap::make(q, 1, kRobot, {.offset = {0, 0, INFINITY}}).status(), StatusCode::kInvalidArgument,
                 {"offset of knee"});
  expect_refused(NameMap::make(q, 1, kRobot, {.sign = {1, 1, 2}}).status(), StatusCode::kInvalidArgument,
                 {"sign of knee", "1 or -1"});
}

TEST(NameMap, AnotherSizeWritesNothing) {
  RobotBundle bundle("size");
  Pipeline pipeline = bundle.load();
  auto q = NameMap::make(pipeline.input_port("policy/q").value(), 1, kRobot).value();
  EXPECT_FALSE(q.write(std::array{1.F, 2.F}));
  EXPECT_EQ(values_of(pipeline.input<float>("policy/q").value()), (std::vector<float>{0, 0, 0}));
  std::array<float, 4> four{9, 9, 9, 9};
  EXPECT_FALSE(q.read(four));
  EXPECT_EQ(four[0], 9);
  auto action = NameMap::make(pipeline.output_port("policy/action").value(), 1, kRobot).value();
  EXPECT_FALSE(action.write(std::array{1.F, 2.F, 3.F})) << "an output is not for writing";
  auto state = NameMap::make(pipeline.feedback_ports()[0], 1, kRobot).value();
  EXPECT_FALSE(state.write(std::array{1.F, 2.F, 3.F})) << "its memory moves";
  EXPECT_TRUE(state.write_to(pipeline.feedback_input("policy/h").value().data, std::array{1.0, 2.0, 3.0}));
  EXPECT_EQ(values_of(pipeline.feedback_input("policy/h").value().as<float>().value()), (std::vector<float>{2, 3, 1}));
}

/// A port on memory of the test's.
Port port_on(void* data, DType dtype, std::vector<std::int64_t> shape, std::size_t axis,
             const std::vector<std::string>& names) {
  Port port{.name = "n/x", .node = "n", .dtype = dtype, .shape = std::move(shape)};
  port.element_names.resize(port.shape.size());
  port.element_names[axis] = names;
  port.data = data;
  return port;
}

TEST(NameMap, AlongAnyAxis) {
  const std::vector<std::string> names{"a", "b", "c"};
  const std::vector<std::string> robot{"c", "a", "b"};
  std::array<float, 12> data{};
  std::array<float, 12> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  // [2, joints, 2]: row 0 of the robot is c, 1 is a, 2 is b.
  auto middle = NameMap::make(port_on(data.data(), DType::kFloat32, {2, 3, 2}, 1, names), 1, robot).value();
  ASSERT_TRUE(middle.write(values));
  EXPECT_EQ(data, (std::array<float, 12>{2, 3, 4, 5, 0, 1, 8, 9, 10, 11, 6, 7}));
  std::array<float, 12> back{};
  ASSERT_TRUE(middle.read(back));
  EXPECT_EQ(back, values);
  // [1, history, joints].
  auto last = NameMap::make(port_on(data.data(), DType::kFloat32, {1, 4, 3}, 2, names), 2, robot).value();
  ASSERT_TRUE(last.write(values));
  EXPECT_EQ(data, (std::array<float, 12>{1, 2, 0, 4, 5, 3, 7, 8, 6, 10, 11, 9}));
  auto first = NameMap::make(port_on(data.data(), DType::kFloat32, {3, 4}, 0, names), 0, robot).value();
  ASSERT_TRUE(first.write(values));
  EXPECT_EQ(data, (std::array<float, 12>{4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3}));
}

template <typename Element>
std::array<Element, 3> written(DType dtype, const std::array<double, 3>& values) {
  std::array<Element, 3> data{};
  const std::vector<std::string> names{"a", "b", "c"};
  auto map = NameMap::make(port_on(data.data(), dtype, {3}, 0, names), 0, names).value();
  EXPECT_TRUE(map.write(values));
  std::array<double, 3> back{};
  EXPECT_TRUE(map.read(back));
  EXPECT_EQ(back[0], 1);
  return data;
}

TEST(NameMap, EveryDtype) {
  const std::array<double, 3> values{1, 2.5, -1000};
  EXPECT_EQ(written<double>(DType::kFloat64, values), values);
  EXPECT_EQ(written<float>(DType::kFloat32, values), (std::array{1.F, 2.5F, -1000.F}));
  EXPECT_EQ(written<std::uint16_t>(DType::kFloat16, values), (std::array<std::uint16_t, 3>{0x3c00, 0x4100, 0xe3d0}));
  EXPECT_EQ(written<std::uint16_t>(DType::kBFloat16, values), (std::array<std::uint16_t, 3>{0x3f80, 0x4020, 0xc47a}));
  EXPECT_EQ(written<std::int8_t>(DType::kInt8, values), (std::array<std::int8_t, 3>{1, 2, -128}));
  EXPECT_EQ(written<std::uint8_t>(DType::kUInt8, values), (std::array<std::uint8_t, 3>{1, 2, 0}));
  EXPECT_EQ(written<std::int16_t>(DType::kInt16, values), (std::array<std::int16_t, 3>{1, 2, -1000}));
  EXPECT_EQ(written<std::int32_t>(DType::kInt32, {1, 3.5, -5e9}),
            (std::array<std::int32_t, 3>{1, 4, std::numeric_limits<std::int32_t>::min()}));
  EXPECT_EQ(written<std::int64_t>(DType::kInt64, {1, 1e19, NAN}),
            (std::array<std::int64_t, 3>{1, std::numeric_limits<std::int64_t>::max(), 0}));
  EXPECT_EQ(written<bool>(DType::kBool, {1, 0, -2}), (std::array{true, false, true}));
}

}  // namespace
}  // namespace leapp::runtime
