// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/safetensors_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "bundle/files/safetensors.h"
#include "bundle/folder/folder_test_base.h"

namespace leapp::bundle {
namespace {

using SafetensorsFileTest = FolderTest;

TEST_F(SafetensorsFileTest, ReadsWhatIsAskedFor) {
  const std::array<float, 2> floats{1.5F, -2};
  const std::array<std::int64_t, 1> number{7};
  const std::vector<TensorEntry> entries{{"a", DType::kFloat32, {2}, std::as_bytes(std::span(floats))},
                                         {"b", DType::kInt64, {}, std::as_bytes(std::span(number))}};
  const std::vector<std::byte> bytes = safetensors_bytes(entries).value();
  put(root_ / "f", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto file = SafetensorsFile::open(root_ / "f");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file.value().tensors().size(), 2U);
  for (const TensorRange& tensor : file.value().tensors()) {
    const auto read = file.value().read(tensor).value();
    const auto& expected = tensor.name == "a" ? entries[0].bytes : entries[1].bytes;
    ASSERT_EQ(read.size(), expected.size());
    EXPECT_EQ(std::memcmp(read.data(), expected.data(), read.size()), 0);
  }
}

TEST_F(SafetensorsFileTest, RefusesWithoutReadingTheRest) {
  EXPECT_EQ(SafetensorsFile::open(root_ / "none").status().code(), StatusCode::kIo);
  EXPECT_EQ(SafetensorsFile::open(root_).status().code(), StatusCode::kIo);
  put(root_ / "short", "1234567");
  EXPECT_EQ(SafetensorsFile::open(root_ / "short").status().code(), StatusCode::kDataLoss);
  // The file is as large as no machine's memory, and takes no room: only its header is looked at.
  const std::string header = R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::uint64_t length = header.size();
  put(root_ / "holes", std::string(reinterpret_cast<const char*>(&length), sizeof length) + header);
  std::filesystem::resize_file(root_ / "holes", std::uintmax_t{1} << 42U);
  const Status refused = SafetensorsFile::open(root_ / "holes").status();
  EXPECT_NE(refused.message().find("bytes at the end belong to no tensor"), std::string::npos) << refused.message();
}

TEST_F(SafetensorsFileTest, AFileThatBecomesShorterIsAnError) {
  const std::string header = R"({"t":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})";
  const std::uint64_t length = header.size();
  put(root_ / "f", std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + "12345678");
  const auto file = SafetensorsFile::open(root_ / "f");
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::filesystem::resize_file(root_ / "f", 8 + header.size() + 3);
  EXPECT_EQ(file.value().read(file.value().tensors().front()).status().code(), StatusCode::kIo);
}

TEST_F(SafetensorsFileTest, ManyTensorsAreTooMany) {
  std::string header = "{";
  for (std::size_t i = 0; i <= kMostTensors; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  const auto found = parse_safetensors_header(header + "}", 0);
  EXPECT_NE(found.status().message().find("expected at most 65536 tensors"), std::string::npos)
      << found.status().message();
}

}  // namespace
}  // namespace leapp::bundle
