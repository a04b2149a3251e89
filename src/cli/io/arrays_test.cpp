// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/io/arrays.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "cli/io/csv.h"
#include "cli/io/npy.h"
#include "cli/io/zip.h"

namespace leapp::cli {
namespace {

namespace fs = std::filesystem;

Array floats(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  Array array{name, DType::kFloat32, std::move(shape), {}};
  const auto bytes = std::as_bytes(std::span(values));
  array.bytes.assign(bytes.begin(), bytes.end());
  return array;
}

std::vector<float> numbers(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

const ArrayType kObs{"policy/obs", DType::kFloat32, {1, 2}};

Result<const ArrayType*> find(const std::string& name) {
  if (name == kObs.name) return &kObs;
  if (name == "ignored") return nullptr;
  return not_found("no " + name);
}

Result<std::vector<Series>> csv(const std::string& text) { return parse_csv(text, find); }

class Files : public ::testing::Test {
 protected:
  Files() : folder_(fs::path(::testing::TempDir()) / ("leapp_arrays_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(Files, EveryFormatGivesBackWhatWasWritten) {
  const std::vector<Array> arrays{floats("policy/obs", {3, 1, 2}, {1, 0.1F, -3e-30F, 4, 5, 6})};
  for (const char* name : {"a.npz", "a.safetensors", "a.csv"}) {
    for (const bool deflated : {false, true}) {
      const fs::path file = folder_ / name;
      ASSERT_TRUE(write_arrays(file, arrays, deflated).ok());
      const auto found = read_series(file, {.find = find});
      ASSERT_TRUE(found.ok()) << found.status().message();
      ASSERT_EQ(found.value().size(), 1U);
      EXPECT_EQ(found.value()[0].steps, 3U);
      EXPECT_EQ(numbers(found.value()[0].bytes), numbers(arrays[0].bytes)) << name;
    }
  }
}

TEST_F(Files, AValueMayHoldForAllStepsAndLeadingOnesMayBeMissing) {
  const fs::path file = folder_ / "a.npz";
  ASSERT_TRUE(write_arrays(file, std::vector{floats("policy/obs", {1, 2}, {1, 2})}, false).ok());
  EXPECT_TRUE(read_series(file, {.find = find}).value()[0].held);
  ASSERT_TRUE(write_arrays(file, std::vector{floats("policy/obs", {2, 2}, {1, 2, 3, 4})}, false).ok());
  const auto rows = read_series(file, {.find = find});
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows.value()[0].steps, 2U);
  EXPECT_FALSE(rows.value()[0].held);
  ASSERT_TRUE(write_arrays(file, std::vector{floats("policy/obs", {2, 3}, {1, 2, 3, 4, 5, 6})}, false).ok());
  EXPECT_NE(read_series(file, {.find = find}).status().message().find("expected float32[N,1,2], found float32[2,3]"),
            std::string::npos);
}

TEST_F(Files, OtherDtypesAreConvertedWhenAsked) {
  const fs::path file = folder_ / "a.npz";
  Array doubles{"policy/obs", DType::kFloat64, {1, 1, 2}, {}};
  const std::vector<double> values{0.5, -2};
  const auto bytes = std::as_bytes(std::span(values));
  doubles.bytes.assign(bytes.begin(), bytes.end());
  ASSERT_TRUE(write_arrays(file, std::vector{doubles}, false).ok());
  EXPECT_EQ(read_series(file, {.find = find}).status().code(), StatusCode::kWrongType);
  EXPECT_EQ(numbers(read_series(file, {.find = find, .cast = true}).value()[0].bytes), (std::vector<float>{0.5F, -2}));
}

TEST_F(Files, WhatCannotBeWrittenIsSaidBefore) {
  EXPECT_NE(check_writable(folder_ / "a.txt").message().find(".npz, .safetensors or .csv"), std::string::npos);
  EXPECT_EQ(check_writable(folder_ / "no_such_folder" / "a.csv").code(), StatusCode::kIo);
  EXPECT_TRUE(check_writable(folder_ / "a.csv").ok());
}

TEST(Csv, NamesMayBeQuotedSpacedAndInAnyOrder) {
  const auto found = csv("\xEF\xBB\xBF\"policy/obs[1]\", policy/obs[0] ,ignored\r\n1, 2,x\r\n3,4,\r\n\r\n");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(numbers(found.value()[0].bytes), (std::vector<float>{2, 1, 4, 3}));
}

TEST(Csv, ErrorsNameLineAndCount) {
  EXPECT_EQ(csv("policy/obs[0],policy/obs[1]\n1,2\n3\n").status().message(), "line 3: expected 2 columns, found 1");
  EXPECT_EQ(csv("policy/obs[0],policy/obs[1]\n1,2,3\n").status().message(), "line 2: expected 2 columns, found 3");
  EXPECT_EQ(csv("policy/obs[0],policy/obs[1]\n1,\n").status().message(),
            "line 2, column 2: expected a float32 for policy/obs[1], found \"\"");
  EXPECT_EQ(csv("policy/obs[0]\n1\n").status().message(), "line 1: expected a column policy/obs[1], found none");
  EXPECT_EQ(csv("policy/obs[0],policy/obs[0]\n").status().message(), "line 1: \"policy/obs[0]\" occurs twice");
  EXPECT_EQ(csv("policy/obs[2]\n").status().message(), "line 1: policy/obs has 2 elements, found \"policy/obs[2]\"");
  EXPECT_EQ(csv("what\n").status().message(), "line 1: no what");
  EXPECT_FALSE(csv("").ok());
  EXPECT_FALSE(csv("policy/obs[0],policy/obs[1]\n").ok());
}

std::vector<std::byte> zip_of(const std::vector<ZipMember>& members, bool deflated) {
  return zip_bytes(members, deflated).value();
}

TEST(Zip, StoredAndDeflatedMembersComeBack) {
  std::vector<ZipMember> members{{"empty", {}}, {"long", std::vector<std::byte>(100'000, std::byte{7})}};
  for (const bool deflated : {false, true}) {
    const auto found = read_zip(zip_of(members, deflated));
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found.value().size(), 2U);
    EXPECT_EQ(found.value()[1].name, "long");
    EXPECT_EQ(found.value()[1].bytes, members[1].bytes);
  }
}

TEST(Zip, EveryChangedByteEndsInAnErrorOrInTheSameContents) {
  const std::vector<ZipMember> members{{"a", std::vector<std::byte>(40, std::byte{1})}, {"b", {std::byte{2}}}};
  for (const bool deflated : {false, true}) {
    const std::vector<std::byte> good = zip_of(members, deflated);
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const std::byte change : {std::byte{1}, std::byte{0x80}, std::byte{0xFF}}) {
        std::vector<std::byte> file = good;
        file[at] ^= change;
        const auto found = read_zip(file);
        if (!found.ok()) continue;
        for (const ZipMember& member : found.value()) {
          const bool known = member.bytes == members[0].bytes || member.bytes == members[1].bytes;
          EXPECT_TRUE(known) << "byte " << at;
        }
      }
    }
    for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(read_zip(std::span(good).first(size)).ok());
  }
}

TEST(Zip, AMemberThatOccursTwiceIsRefused) {
  EXPECT_EQ(zip_bytes(std::vector<ZipMember>{{"a", {}}, {"a", {}}}, false).status().code(),
            StatusCode::kInvalidArgument);
  std::vector<std::byte> file = zip_of({{"q", {}}, {"~", {}}}, false);
  std::replace(file.begin(), file.end(), std::byte{'~'}, std::byte{'q'});
  const Status status = read_zip(file).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
}

TEST(Zip, MembersThatShareTheirDataAreRefused) {
  const std::vector<std::byte> good =
      zip_of({{"q", std::vector<std::byte>(400, std::byte{1})}, {"~", {std::byte{2}}}}, false);
  // The second entry of the directory becomes a copy of the first: the same data under another name.
  const auto signature = {std::byte{'P'}, std::byte{'K'}, std::byte{1}, std::byte{2}};
  const auto first = std::search(good.begin(), good.end(), signature.begin(), signature.end());
  const auto second = std::search(first + 1, good.end(), signature.begin(), signature.end());
  std::vector<std::byte> file = good;
  std::copy(first, second, file.begin() + (second - good.begin()));
  *std::find(file.begin() + (second - good.begin()), file.end(), std::byte{'q'}) = std::byte{'~'};
  EXPECT_FALSE(read_zip(file).ok());
}

TEST(Zip, OnlyTheBeginningIsReadOfWhatNobodyWants) {
  const std::vector<ZipMember> members{{"large", std::vector<std::byte>(1'000'000)}, {"b", {std::byte{2}}}};
  const std::vector<std::byte> file = zip_of(members, true);
  const auto wants = [](const ZipStart& start) -> Result<bool> {
    EXPECT_LE(start.bytes.size(), std::size_t{128} << 10U);
    return start.size < 1000;
  };
  const auto found = read_zip(file, {.wants = wants, .memory_limit = 1});
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found.value().size(), 1U);
  EXPECT_EQ(found.value()[0].bytes, members[1].bytes);
  const auto no_one = [](const ZipStart&) -> Result<bool> { return wrong_type("no"); };
  EXPECT_EQ(read_zip(file, {.wants = no_one}).status().code(), StatusCode::kWrongType);
}

TEST(Zip, MembersBeyondTheLimitAreRefusedWithTheNumbers) {
  const std::vector<std::byte> file =
      zip_of({{"a", std::vector<std::byte>(300'000)}, {"b", std::vector<std::byte>(300'000)}}, true);
  EXPECT_TRUE(read_zip(file, {.memory_limit = 600'000}).ok());
  const Status status = read_zip(file, {.memory_limit = 599'999}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "\"b\" and what comes before it need 600.0 kB of memory, the option memory_limit is 600.0 kB");
}

TEST(Zip, EqualMembersGiveEqualBytes) {
  const std::vector<ZipMember> members{{"a", std::vector<std::byte>(40, std::byte{1})}};
  EXPECT_EQ(zip_of(members, true), zip_of(members, true));
  EXPECT_EQ(zip_bytes({}, false).status().code(), StatusCode::kInvalidArgument);
}

TEST(Npy, AnyPieceOfAFileEndsInAStatusOrAnArray) {
  const std::vector<std::byte> good = npy_bytes(floats("x", {2, 2}, {1, 2, 3, 4})).value();
  EXPECT_EQ(numbers(parse_npy(good).value().bytes), (std::vector<float>{1, 2, 3, 4}));
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(parse_npy(std::span(good).first(size)).ok());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::vector<std::byte> file = good;
    file[at] ^= std::byte{0x15};
    (void)parse_npy(file).ok();
  }
}

TEST(Npy, WhatNumPyLacksIsRefused) {
  EXPECT_EQ(npy_bytes({"x", DType::kBFloat16, {0}, {}}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace leapp::cli
