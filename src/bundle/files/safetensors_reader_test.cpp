// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "bundle/files/safetensors.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

std::vector<std::byte> file_of(const std::string& header, std::size_t data, std::uint64_t length) {
  std::vector<std::byte> file(8 + header.size() + data);
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}
std::vector<std::byte> file_of(const std::string& header, std::size_t data) {
  return file_of(header, data, header.size());
}

TEST(SafetensorsReader, ReadsWhatTheWriterWrote) {
  std::vector<std::vector<std::byte>> contents;
  std::vector<TensorEntry> entries;
  for (int i = 0; i < 18; ++i) {
    const auto dtype = static_cast<DType>(i);
    contents.emplace_back(6 * dtype_size(dtype), static_cast<std::byte>(i + 1));
  }
  for (int i = 0; i < 18; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!safetensors_dtype(dtype)) continue;
    entries.push_back({"node/" + std::string(dtype_name(dtype)), dtype, {2, 3}, contents[static_cast<std::size_t>(i)]});
  }
  entries.push_back({"empty", DType::kFloat32, {0, 7}, {}});
  entries.push_back({"scalar", DType::kInt8, {}, std::span(contents[0]).first(1)});
  const auto file = safetensors_bytes(entries);
  ASSERT_TRUE(file.ok());
  const auto tensors = parse_safetensors(file.value());
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors.value().size(), entries.size());
  for (const TensorEntry& entry : entries) {
    const auto found = std::find_if(tensors.value().begin(), tensors.value().end(),
                                    [&](const StoredTensor& tensor) { return tensor.name == entry.name; });
    ASSERT_NE(found, tensors.value().end()) << entry.name;
    EXPECT_EQ(found->dtype, entry.dtype);
    EXPECT_EQ(found->shape, entry.shape);
    EXPECT_TRUE(std::equal(found->bytes.begin(), found->bytes.end(), entry.bytes.begin(), entry.bytes.end()));
  }
}

TEST(SafetensorsReader, MetadataIsAllowed) {
  const auto tensors = parse_safetensors(
      file_of(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}   )", 2));
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors.value().size(), 1U);
  EXPECT_EQ(tensors.value()[0].name, "a");
}

std::string tensor(const std::string& name, const std::string& rest) { return "{\"" + name + "\":{" + rest + "}}"; }

TEST(SafetensorsReader, RefusesWhatIsBroken) {
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  ASSERT_TRUE(parse_safetensors(file_of(tensor("a", good), 8)).ok());
  const std::vector<std::tuple<std::string, std::size_t, const char*>> cases{
      {"", 0, "expected a header that is a JSON object"},
      {"[]", 0, "expected a header that is a JSON object"},
      {" {}", 0, "expected a header that is a JSON object"},
      {"{", 0, "not JSON at byte"},
      {"{}x", 0, "not JSON at byte"},
      {"{\"\xff\":{}}", 0, "in UTF-8"},
      {"{}", 4, "4 bytes at the end belong to no tensor"},
      {tensor("a", good), 12, "4 bytes at the end"},
      {tensor("a", good), 4, "do not lie in the 4 bytes"},
      {"{\"a\":{" + good + "},\"a\":{" + good + "}}", 8, "\"a\" occurs twice"},
      {tensor("a", R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"), 8, "\"dtype\" occurs twice"},
      {tensor("a", R"("shape":[2],"data_offsets":[0,8])"), 8, "expected dtype, shape and data_offsets"},
      {tensor("a", R"("dtype":"F32","shape":[2])"), 8, "expected dtype, shape and data_offsets"},
      {tensor("a", R"("dtype":"F33","shape":[2],"data_offsets":[0,8])"), 8, "unknown dtype \"F33\""},
      {tensor("a", R"("dtype":["F32"],"shape":[2],"data_offsets":[0,8])"), 8, "dtype is a list"},
      {tensor("a", R"("dtype":"F32","shape":"2","data_offsets":[0,8])"), 8, "shape is a string"},
      {tensor("a", R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), 8, "a negative number"},
      {tensor("a", R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), 8, "a fraction"},
      {tensor("a", R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), 8, "a list where none is expected"},
      {tensor("a", R"("dtype":"F32","shape":[{}],"data_offsets":[0,8])"), 8, "an object where none is expected"},
      {tensor("a", R"("dtype":"F32","shape":[null],"data_offsets":[0,8])"), 8, "a null where none is expected"},
      {tensor("a", R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), 8, "expected two data_offsets"},
      {tensor("a", R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8, "do not lie in the 8 bytes"},
      {tensor("a", R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8, "8 bytes do not make a float32[3]"},
      {tensor("a", R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1)"), 8, "unknown field \"more\""},
      {tensor("a", R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])"), 8, "an extent overflows"},
      {tensor("a", R"("dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,8])"), 8, "do not make a"},
      {tensor("a", R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0,
       "0 bytes do not make a"},
      {"{\"a\":5}", 0, "a number where none is expected"},
      {"{\"__metadata__\":{\"a\":5}}", 0, "a number where none is expected"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "\"b\": expected its data at 2"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
       5, "\"b\": expected its data at 2, where the one before ends, found 3"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3, "expected its data at 0"},
  };
  for (const auto& [header, data, expected] : cases) {
    const auto tensors = parse_safetensors(file_of(header, data));
    ASSERT_FALSE(tensors.ok()) << header;
    EXPECT_EQ(tensors.status().code(), StatusCode::kDataLoss);
    EXPECT_NE(tensors.status().message().find(expected), std::string::npos)
        << header << ": " << tensors.status().message();
  }
}

TEST(SafetensorsReader, RefusesLengthsThatAreNotTrue) {
  const std::vector<std::pair<std::vector<std::byte>, const char*>> cases{
      {{}, "shorter than 8 bytes"},
      {std::vector<std::byte>(7), "shorter than 8 bytes"},
      {file_of("{}", 0, 3), "the header says it has 3 bytes"},
      {file_of("{}", 0, 16'777'217), "expected a header of at most 16777216 bytes"},
      {file_of("{}", 0, ~std::uint64_t{0}), "expected a header of at most"},
  };
  for (const auto& [file, expected] : cases) {
    const auto tensors = parse_safetensors(file);
    ASSERT_FALSE(tensors.ok());
    EXPECT_NE(tensors.status().message().find(expected), std::string::npos) << tensors.status().message();
  }
  // Deep nesting must not cost stack.
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[');
  EXPECT_FALSE(parse_safetensors(file_of(deep, 0)).ok());
}

}  // namespace
}  // namespace leapp::bundle
