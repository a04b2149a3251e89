// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Each request for memory of a call fails once: an exception, and never the end of the process. A program of its own,
// for it has an operator new of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bundle/files/safetensors.h"
#include "bundle/writer.h"
#include "bundle/yaml/json.h"
#include "leapp/bundle/spec.h"

namespace {

long requests_left = -1;  // until one fails; negative: none does

void* requested(std::size_t size) {
  if (requests_left > 0 && --requests_left == 0) {
    requests_left = -1;
    throw std::bad_alloc();
  }
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return requested(size); }
void* operator new[](std::size_t size) { return requested(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace leapp::bundle {
namespace {

/// How many requests failed, one after the other, before none was left to fail.
int failures_of(const std::function<void()>& call) {
  for (int count = 0;; ++count) {
    requests_left = count + 1;
    try {
      call();
      const bool all = requests_left > 0;
      requests_left = -1;
      if (all) return count;
    } catch (const std::bad_alloc&) {
      requests_left = -1;
    }
  }
}

const std::string kLong(100, 'x');

TEST(OutOfMemory, AValueOfAYamlIsCopied) {
  const YamlValue value = YamlMap{{kLong, kLong}, {"list", YamlList{kLong, YamlMap{{"a", kLong}}}}};
  EXPECT_GT(failures_of([&] { (void)YamlValue(value); }), 5);
}

TEST(OutOfMemory, JsonIsMade) {
  const YamlValue value = YamlMap{{kLong, kLong}, {"list", YamlList{kLong, 1.5, YamlMap{{"a", kLong}}}}};
  EXPECT_GT(failures_of([&] { (void)json_text(value, 2); }), 4);
}

TEST(OutOfMemory, SafetensorsAreMade) {
  const std::vector<std::byte> bytes(8);
  const std::vector<TensorEntry> entries{{kLong, DType::kFloat32, {1, 2}, bytes}, {"b", DType::kInt64, {1}, bytes}};
  EXPECT_GT(failures_of([&] { (void)safetensors_bytes(entries); }), 5);
}

TEST(OutOfMemory, AYamlIsWritten) {
  BundleSpec spec;
  Port port;
  port.name = kLong;
  port.shape = {1, 2, 3};
  spec.models.push_back({.name = kLong, .inputs = {port}, .outputs = {port}});
  spec.system_information = {{"os", kLong}};
  EXPECT_GT(failures_of([&] { (void)yaml_text(spec); }), 20);
}

}  // namespace
}  // namespace leapp::bundle
