// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/recording_codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace leapp::runtime {
namespace {

constexpr DType kPortTypes[] = {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kInt8,
                                DType::kInt16,   DType::kInt32,   DType::kInt64,   DType::kUInt8,    DType::kBool};

/// Every bit pattern of 16 bits, in each place of an element: signs, infinities, NaNs of all kinds, denormals.
std::vector<std::byte> patterns(DType dtype) {
  std::vector<std::byte> bytes(0x10000 * dtype_size(dtype));
  for (std::uint64_t i = 0; i < 0x10000; ++i) {
    const std::uint64_t bits = dtype == DType::kBool ? i % 2 : i * 0x0001000100010001U ^ (i % 3 == 0 ? 0U : i << 32U);
    std::memcpy(bytes.data() + i * dtype_size(dtype), &bits, dtype_size(dtype));
  }
  return bytes;
}

TEST(PortCodec, EveryBitComesBack) {
  for (const DType dtype : kPortTypes) {
    const std::vector<std::byte> values = patterns(dtype);
    const PortCodec codec = PortCodec::make(dtype, 0x10000).value();
    std::string message;
    codec.encode(values.data(), message);
    EXPECT_EQ(message.size(), codec.size());
    std::vector<std::byte> found(codec.bytes());
    ASSERT_TRUE(codec.decode(message, found.data()).ok()) << dtype_name(dtype);
    EXPECT_EQ(found, values) << dtype_name(dtype);
  }
}

TEST(PortCodec, EveryBitComesBackFromFields) {
  const std::vector<std::string> names(100, "x");
  for (const DType dtype : kPortTypes) {
    const std::vector<std::byte> values = patterns(dtype);
    const PortCodec codec = PortCodec::make(dtype, names);
    const PortCodec reader = PortCodec::make_fields(dtype, names.size()).value();
    for (std::size_t at = 0; at + names.size() <= 0x10000; at += 31 * names.size()) {
      const std::byte* some = values.data() + at * dtype_size(dtype);
      std::string message;
      codec.encode(some, message);
      std::vector<std::byte> found(codec.bytes());
      ASSERT_TRUE(reader.decode(message, found.data()).ok());
      EXPECT_EQ(std::memcmp(found.data(), some, found.size()), 0) << dtype_name(dtype);
    }
  }
}

TEST(PortCodec, WhatIsNotOursIsRefused) {
  const PortCodec values = PortCodec::make(DType::kFloat32, 2).value();
  const PortCodec fields = PortCodec::make(DType::kBool, std::vector<std::string>{"a", "b"});
  std::byte room[16];
  std::string message;
  const std::byte zeros[16]{};
  values.encode(zeros, message);
  EXPECT_TRUE(values.decode(message, room).ok());
  for (std::size_t size = 0; size < message.size(); ++size) {
    EXPECT_EQ(values.decode(message.substr(0, size), room).code(), StatusCode::kDataLoss);
  }
  EXPECT_FALSE(values.decode(message + "x", room).ok());
  message[0] = 0x12;
  EXPECT_FALSE(values.decode(message, room).ok());
  message.clear();
  fields.encode(zeros, message);
  EXPECT_TRUE(fields.decode(message, room).ok());
  message[1] = 2;
  EXPECT_FALSE(fields.decode(message, room).ok()) << "2 is no bool";
  message[1] = 0;
  message[2] = 0x18;
  EXPECT_FALSE(fields.decode(message, room).ok()) << "another field";
}

TEST(PortCodec, SizesThatNobodyReads) {
  EXPECT_EQ(PortCodec::make(DType::kFloat32, std::size_t{1} << 29U).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PortCodec::make(DType::kFloat64, ~std::size_t{0}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(PortCodec::make_fields(DType::kFloat32, PortCodec::kMostFields + 1).ok());
  EXPECT_EQ(PortCodec::make(DType::kFloat32, 0).value().bytes(), 0U);
}

TEST(StepInfo, ComesBack) {
  const StepInfo info{.number = 1ULL << 40U,
                      .result = 3,
                      .dropped = 0,
                      .begin = 7,
                      .end = ~0ULL,
                      .deadline = 1,
                      .woken = 2,
                      .input = 0,
                      .guard_events = 300,
                      .guards_changed = 1};
  std::string message;
  encode(info, message);
  EXPECT_EQ(decode_step(message).value(), info);
  EXPECT_EQ(decode_step("").value(), StepInfo());
  for (const std::string bad : {"\x08", "\x0a\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x78\x01"}) {
    EXPECT_EQ(decode_step(bad).status().code(), StatusCode::kDataLoss);
  }
}

TEST(GuardMemory, ComesBack) {
  std::string message;
  encode_memory("abc", message);
  EXPECT_EQ(decode_memory(message).value(), "abc");
  EXPECT_FALSE(decode_memory(message + "x").ok());
  EXPECT_FALSE(decode_memory("").ok());
}

TEST(FieldNames, AreOnesThatTheEncodingTakes) {
  const auto names = [](const std::vector<std::string>& from) { return field_names(from); };
  EXPECT_EQ(names({"hip", "left-knee", "1"}), (std::vector<std::string>{"hip", "left_knee", "e1"}));
  EXPECT_TRUE(names({"a b", "a_b"}).empty());
  EXPECT_TRUE(names({"leftHip", "left_hip"}).empty()) << "the same in the JSON form";
  EXPECT_TRUE(names({"\xc3\xa4", "\xc3\xb6"}).empty());
  EXPECT_EQ(identifier(""), "e");
}

}  // namespace
}  // namespace leapp::runtime
