// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/external_data.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

namespace leapp::onnx {
namespace {

Result<std::set<std::string>> files_of(const std::string& bytes) {
  return external_data_files(std::as_bytes(std::span(bytes)));
}

std::string message(protozero::pbf_tag_type field, const std::string& content) {
  std::string text;
  protozero::pbf_writer(text).add_message(field, content);
  return text;
}

std::string tensor(const std::string& location) {
  return message(13, message(1, "offset") + message(2, "0")) +
         message(13, message(1, "location") + message(2, location));
}

// The way from a model to a tensor, innermost field last.
std::string model(const std::vector<protozero::pbf_tag_type>& way, const std::string& location) {
  std::string text = tensor(location);
  for (auto field = way.rbegin(); field != way.rend(); ++field) text = message(*field, text);
  return text;
}

TEST(ExternalData, IsFoundWhereverATensorCanBe) {
  const std::vector<std::vector<protozero::pbf_tag_type>> ways{
      {7, 5},            // graph, initializer
      {7, 15, 1},        // sparse initializer: values
      {7, 15, 2},        // and indices
      {7, 1, 5, 5},      // node, attribute, tensor
      {7, 1, 5, 10},     // tensors
      {7, 1, 5, 6, 5},   // subgraph
      {7, 1, 5, 11, 5},  // subgraphs
      {7, 1, 5, 22, 1},  // sparse tensor
      {7, 1, 5, 23, 2},  // sparse tensors
      {25, 7, 5, 5},     // function
      {25, 11, 5},       // default of a function's attribute
      {20, 1, 5},        // training
      {20, 2, 1, 5, 5},
  };
  std::string all;
  std::set<std::string> names;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::string name = "file" + std::to_string(i);
    const auto files = files_of(model(ways[i], name));
    ASSERT_TRUE(files.ok()) << i;
    EXPECT_EQ(files.value(), std::set<std::string>{name}) << i;
    all += model(ways[i], name);
    names.insert(name);
  }
  EXPECT_EQ(files_of(all).value(), names);
}

TEST(ExternalData, ThereIsUsuallyNone) {
  EXPECT_TRUE(files_of("").value().empty());
  EXPECT_TRUE(files_of(message(7, message(5, message(9, "raw data")))).value().empty());
  EXPECT_TRUE(files_of(message(2, "producer")).value().empty());
}

TEST(ExternalData, WhatIsNoMessageIsAnError) {
  const std::string good = model({7, 5}, "weights");
  for (std::size_t length = 1; length < good.size(); ++length) {
    EXPECT_EQ(files_of(good.substr(0, length)).status().code(), StatusCode::kDataLoss) << length;
  }
  EXPECT_FALSE(files_of("not a model").ok());
  std::string deep = tensor("x");
  for (int i = 0; i < 60; ++i) deep = message(1, message(5, message(6, deep)));
  EXPECT_FALSE(files_of(message(7, deep)).ok());
}

TEST(ExternalData, DamagedModelsEndInAnErrorOrInNames) {
  const std::string good = model({7, 1, 5, 6, 5}, "weights") + model({7, 5}, "more");
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = good;
      damaged[at] = static_cast<char>(value);
      const auto files = files_of(damaged);
      if (!files.ok()) continue;
      EXPECT_LE(files.value().size(), 2U);
    }
  }
}

TEST(ExternalData, NamesNoMemoryOfTheProcess) {
  for (const std::string location : {"*/_ORT_MEM_ADDR_/*", "*/_ORT_NATIVE_ENDIAN_MEM_ADDR_/*"}) {
    const auto found = files_of(model({7, 5}, location));
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.status().message().find("which names memory"), std::string::npos) << found.status().message();
  }
}

}  // namespace
}  // namespace leapp::onnx
