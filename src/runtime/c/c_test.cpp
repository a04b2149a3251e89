// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "leapp/leapp.h"
#include "runtime/c/use_in_c.h"
#include "runtime/robot/first_frame_testing.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

TEST(C, EveryFunction) {
  RobotBundle bundle("c_interface");
  EXPECT_EQ(use_leapp_in_c(bundle.write().c_str(), (bundle.folder() / "run.mcap").c_str()), 0);
}

TEST(C, SignedBundlesAreSwapped) {
  RobotBundle bundle("c_swap_one");
  RobotBundle other("c_swap_two");
  const TestFolder keys("c_swap_keys");
  EXPECT_EQ(swap_in_c(bundle.write().c_str(), other.write().c_str(), keys.path().c_str()), 0);
}

// What a program was built with may be older or newer than the library.
TEST(C, StructsOfOtherVersions) {
  RobotBundle bundle("c_versions");
  const std::string yaml = bundle.write().string();
  struct {
    leapp_load_options known;
    std::uint64_t newer;
  } options{};
  options.known.size = sizeof options;
  options.known.engine = LEAPP_ENGINE_NATIVE;
  leapp_pipeline* pipeline = nullptr;
  ASSERT_EQ(leapp_load(yaml.c_str(), &options.known, &pipeline), LEAPP_OK) << leapp_error();
  struct {
    leapp_port known;
    std::uint64_t newer;
  } port{};
  port.known.size = sizeof port;
  port.newer = 7;
  EXPECT_EQ(leapp_port_at(pipeline, LEAPP_INPUT, 0, &port.known), LEAPP_OK) << leapp_error();
  EXPECT_EQ(port.known.size, sizeof port);
  EXPECT_EQ(port.newer, 7U) << "nobody knows what stands there";
  leapp_port older{};
  older.size = offsetof(leapp_port, kind);
  older.kind = "mine";
  EXPECT_EQ(leapp_port_at(pipeline, LEAPP_INPUT, 0, &older), LEAPP_OK);
  EXPECT_STREQ(older.name, "policy/q");
  EXPECT_STREQ(older.kind, "mine");
  leapp_free(pipeline);
  options.newer = 1;
  EXPECT_EQ(leapp_load(yaml.c_str(), &options.known, &pipeline), LEAPP_UNIMPLEMENTED);
  EXPECT_NE(std::strstr(leapp_error(), "leapp_load_options"), nullptr);
}

TEST(C, BundlesOfStrangers) {
  RobotBundle bundle("c_strangers");
  const std::filesystem::path yaml = bundle.write();
  leapp_load_options options = LEAPP_INIT(leapp_load_options);
  options.engine = LEAPP_ENGINE_NATIVE;
  options.refuse_torchscript = 1;
  options.timeout_ns = 60'000'000'000;
  leapp_pipeline* pipeline = nullptr;
  ASSERT_EQ(leapp_load(yaml.c_str(), &options, &pipeline), LEAPP_OK) << leapp_error();
  EXPECT_EQ(leapp_step(pipeline), LEAPP_OK) << leapp_error();
  leapp_free(pipeline);
  options.memory_limit = 10;
  EXPECT_NE(leapp_load(yaml.c_str(), &options, &pipeline), LEAPP_OK);
  EXPECT_NE(std::strstr(leapp_error(), "memory_limit is 10 B"), nullptr) << leapp_error();
  options.memory_limit = 0;
  options.timeout_ns = UINT64_MAX;
  EXPECT_EQ(leapp_load(yaml.c_str(), &options, &pipeline), LEAPP_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(leapp_error(), "timeout_ns"), nullptr) << leapp_error();
  options.timeout_ns = 0;
  std::ifstream file(yaml);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t at = text.find("backend: onnx");
  ASSERT_NE(at, std::string::npos);
  std::ofstream(yaml) << text.replace(at, 13, "backend: jit");
  EXPECT_EQ(leapp_load(yaml.c_str(), &options, &pipeline), LEAPP_FAILED_PRECONDITION);
  EXPECT_NE(std::strstr(leapp_error(), "is a program"), nullptr) << leapp_error();
}

TEST(C, ResetsToTheFirstFrame) {
  HistoryBundle bundle("c_first_frame");
  const std::string yaml = bundle.write().string();
  leapp_load_options options = LEAPP_INIT(leapp_load_options);
  options.engine = LEAPP_ENGINE_NATIVE;
  leapp_pipeline* pipeline = nullptr;
  ASSERT_EQ(leapp_load(yaml.c_str(), &options, &pipeline), LEAPP_OK) << leapp_error();
  leapp_port x = LEAPP_INIT(leapp_port);
  ASSERT_EQ(leapp_port_named(pipeline, LEAPP_INPUT, "pre/x", &x), LEAPP_OK) << leapp_error();
  static_cast<float*>(x.data)[0] = 3;
  ASSERT_EQ(leapp_reset(pipeline, LEAPP_RESET_FIRST_FRAME), LEAPP_OK) << leapp_error();
  ASSERT_EQ(leapp_step(pipeline), LEAPP_OK) << leapp_error();
  void* rows = nullptr;
  ASSERT_EQ(leapp_feedback(pipeline, "policy/h", &rows, nullptr), LEAPP_OK);
  EXPECT_EQ(static_cast<float*>(rows)[0], 6);
  EXPECT_EQ(static_cast<float*>(rows)[4], 6);
  leapp_free(pipeline);
}

TEST(C, PortsOfBundlesThatTakeTurnsAreThereOnce) {
  RobotBundle one("c_turns_one");
  RobotBundle two("c_turns_two");
  two.spec().models[0].inputs[2].kind = "another/kind";
  const std::string yamls[] = {one.write().string(), two.write().string()};
  leapp_load_options load = LEAPP_INIT(leapp_load_options);
  load.engine = LEAPP_ENGINE_NATIVE;
  leapp_pipeline* pipeline = nullptr;
  ASSERT_EQ(leapp_load(yamls[0].c_str(), &load, &pipeline), LEAPP_OK) << leapp_error();
  leapp_reloader_options options = LEAPP_INIT(leapp_reloader_options);
  options.load = &load;
  leapp_reloader* reloader = nullptr;
  ASSERT_EQ(leapp_reloader_make(pipeline, &options, &reloader), LEAPP_OK) << leapp_error();
  const char* names[2] = {};
  for (int i = 0; i < 20; ++i) {
    leapp_port port = LEAPP_INIT(leapp_port);
    ASSERT_EQ(leapp_port_at(pipeline, LEAPP_FEEDBACK, 0, &port), LEAPP_OK) << leapp_error();
    const char*& name = names[i % 2];
    if (name == nullptr) name = port.name;
    EXPECT_EQ(port.name, name) << "the same text, not another one for each swap";
    EXPECT_STREQ(port.kind == nullptr ? "" : port.kind, i % 2 == 0 ? "" : "another/kind");
    ASSERT_EQ(leapp_reloader_request(reloader, yamls[(i + 1) % 2].c_str(), nullptr), LEAPP_OK);
    leapp_reload_report report = LEAPP_INIT(leapp_reload_report);
    ASSERT_EQ(leapp_reloader_wait(reloader, 60'000'000'000, &report), LEAPP_OK);
    ASSERT_EQ(leapp_reloader_swap(reloader, pipeline), LEAPP_SWAPPED);
  }
  leapp_reloader_free(reloader);
  leapp_free(pipeline);
}

TEST(C, AnExceptionOfACallbackDoesNotLeave) {
  leapp_loop_options options = LEAPP_INIT(leapp_loop_options);
  options.frequency = 1000;
  leapp_loop* loop = nullptr;
  ASSERT_EQ(leapp_loop_make(nullptr, &options, &loop), LEAPP_OK);
  EXPECT_EQ(leapp_loop_run(
                loop, [](void*, leapp_tick*) -> std::int32_t { throw std::runtime_error("mine"); }, nullptr),
            LEAPP_INTERNAL);
  EXPECT_STREQ(leapp_error(), "mine");
  leapp_loop_free(loop);
}

}  // namespace
}  // namespace leapp::runtime
