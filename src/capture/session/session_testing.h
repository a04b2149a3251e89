// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of what only a program that runs can show: a session and a front end that answers as told.
#pragma once

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "capture/session/session.h"
#include "capture/trace/to_graph.h"
#include "graph/text.h"

namespace leapp::capture::testing {

class NamingFrontEnd : public FrontEnd {
 public:
  LocationId location() override { return line_ == 0 ? 0 : intern_location("program.py", line_, ""); }
  std::string holder_name(const at::Tensor&) override { return name_; }
  std::vector<Holder> holders(const std::vector<at::Tensor>& tensors) override {
    return std::vector<Holder>(tensors.size(), Holder{Holder::Kind::kAttribute, name_});
  }
  bool is_only_checked() override { return checked_; }

  int line_ = 0;
  bool checked_ = false;
  std::string name_ = "kept";
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() / fmt::format("leapp_session_test_{}_{}", ::getpid(), count++);
    std::filesystem::create_directories(folder_);
    start();
  }
  ~SessionTest() override {
    session_.reset();
    std::filesystem::remove_all(folder_);
  }
  void start(StartOptions options = {}) {
    session_.reset();
    CaptureResult recording{.name = "test", .folder = folder_.string(), .options = std::move(options), .log = nullptr};
    recording.log = Logger::open(folder_).value();
    session_ = std::make_unique<Session>(std::move(recording), front_end_);
  }
  at::Tensor input(const at::Tensor& x, const char* node = "n") {
    auto result = session_->annotations().input_tensors(node, {{"x", x}});
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? result.value()[0] : x;
  }
  Status output(const at::Tensor& y, const char* node = "n") {
    return session_->annotations().output_tensors(node, {{"y", y}}, {}, {.export_with = "jit"}).status();
  }
  /// One call of "n".
  template <typename Function>
  void call(const at::Tensor& x, Function function) {
    const Status status = output(function(input(x)));
    EXPECT_TRUE(status.ok()) << status.message();
  }
  NodeRecord& node(std::size_t at = 0) { return *session_->recording().nodes.at(at); }
  std::string ports() {
    std::string text;
    for (const PortRecord& port : node().inputs) {
      text += port.name + (port.source ? "=" + port.source->node + "/" + port.source->port : "") + " ";
    }
    text += "->";
    for (const PortRecord& port : node().outputs) text += " " + port.name;
    return text;
  }
  std::string graph() {
    const auto made = to_graph(node());
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? graph::print(made.value()) : "";
  }
  std::string log() {
    std::ifstream file(folder_ / Logger::kFileName);
    return (std::stringstream() << file.rdbuf()).str();
  }
  bool stop() { return session_->stop().ok(); }

  std::filesystem::path folder_;
  std::shared_ptr<NamingFrontEnd> front_end_ = std::make_shared<NamingFrontEnd>();
  std::unique_ptr<Session> session_;
};

}  // namespace leapp::capture::testing
