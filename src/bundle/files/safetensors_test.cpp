// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

namespace leapp::bundle {
namespace {

std::vector<std::byte> pattern(std::size_t size, int first) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(first + static_cast<int>(i));
  return bytes;
}

struct Parsed {
  nlohmann::json header;
  std::string header_text;
  std::size_t data = 0;  // where it starts
};

Parsed parse(const std::vector<std::byte>& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  std::string text(reinterpret_cast<const char*>(file.data()) + 8, length);
  return {nlohmann::json::parse(text), text, 8 + length};
}

TEST(Safetensors, HoldsEveryPortDType) {
  std::vector<std::vector<std::byte>> contents;
  std::vector<TensorEntry> entries;
  for (int i = 0; i < 10; ++i) {
    const auto dtype = static_cast<DType>(i);
    ASSERT_TRUE(is_port_dtype(dtype));
    contents.push_back(pattern(6 * dtype_size(dtype), i * 16));
  }
  for (int i = 0; i < 10; ++i) {
    const auto dtype = static_cast<DType>(i);
    entries.push_back({"node/" + std::string(dtype_name(dtype)), dtype, {2, 3}, contents[static_cast<std::size_t>(i)]});
  }
  const std::vector<std::byte> file = safetensors_bytes(entries).value();
  const Parsed parsed = parse(file);
  EXPECT_EQ(parsed.data % 8, 0U);
  ASSERT_EQ(parsed.header.size(), 10U);
  std::size_t total = 0;
  for (const TensorEntry& entry : entries) {
    const nlohmann::json& row = parsed.header.at(entry.name);
    EXPECT_EQ(parse_safetensors_dtype(row.at("dtype").get<std::string>()), entry.dtype);
    EXPECT_EQ(row.at("shape").get<std::vector<std::int64_t>>(), entry.shape);
    const auto begin = row.at("data_offsets")[0].get<std::size_t>();
    const auto end = row.at("data_offsets")[1].get<std::size_t>();
    ASSERT_EQ(end - begin, entry.bytes.size());
    EXPECT_EQ(begin % dtype_size(entry.dtype), 0U) << entry.name;
    EXPECT_EQ(std::memcmp(file.data() + parsed.data + begin, entry.bytes.data(), entry.bytes.size()), 0);
    total += entry.bytes.size();
  }
  EXPECT_EQ(file.size(), parsed.data + total);  // no holes
}

TEST(Safetensors, OrderOfEntriesDoesNotMatter) {
  const auto a = pattern(4, 1);
  const auto b = pattern(8, 9);
  const std::vector<TensorEntry> one{{"b", DType::kInt64, {1}, b}, {"a", DType::kFloat32, {}, a}};
  const std::vector<TensorEntry> two{one[1], one[0]};
  const auto file = safetensors_bytes(one).value();
  EXPECT_EQ(file, safetensors_bytes(two).value());
  const Parsed parsed = parse(file);
  EXPECT_EQ(
      parsed.header_text.substr(0, parsed.header_text.find_last_not_of(' ') + 1),
      R"({"a":{"data_offsets":[8,12],"dtype":"F32","shape":[]},"b":{"data_offsets":[0,8],"dtype":"I64","shape":[1]}})");
}

TEST(Safetensors, EmptyFileEmptyTensorsAndOddNames) {
  EXPECT_EQ(parse(safetensors_bytes({}).value()).header, nlohmann::json::object());
  const std::string name = "n/\"q\"\n\\ größe";
  const std::vector<TensorEntry> entries{{name, DType::kFloat64, {0, 3}, {}}};
  const Parsed parsed = parse(safetensors_bytes(entries).value());
  EXPECT_EQ(parsed.header.at(name).at("data_offsets"), nlohmann::json({0, 0}));
}

TEST(Safetensors, RefusesWhatCannotBeRight) {
  const auto bytes = pattern(16, 0);
  const auto code = [](std::vector<TensorEntry> entries) { return safetensors_bytes(entries).status().code(); };
  EXPECT_EQ(code({{"a", DType::kFloat32, {4}, bytes}, {"a", DType::kFloat32, {4}, bytes}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{"a", DType::kFloat32, {3}, bytes}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{"a", DType::kFloat32, {-2, -2}, bytes}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{"a", DType::kFloat32, {std::int64_t{1} << 62, 4}, {}}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{"__metadata__", DType::kFloat32, {4}, bytes}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{"a\xFF", DType::kFloat32, {4}, bytes}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{"a", DType::kComplex128, {1}, bytes}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(safetensors_bytes(std::vector<TensorEntry>{{"n/x", DType::kFloat32, {3}, bytes}}).status().message(),
            "\"n/x\": 16 bytes do not make a float32[3]");
}

}  // namespace
}  // namespace leapp::bundle
