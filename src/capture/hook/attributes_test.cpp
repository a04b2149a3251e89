// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/attributes.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/hook/op_info.h"
#include "graph/text.h"

namespace leapp::capture {
namespace {

TEST(Attributes, ThereAndBack) {
  const auto round = [](const c10::IValue& value, const c10::TypePtr& type) {
    const graph::Attribute attribute = to_attribute(value, type);
    EXPECT_EQ(graph::print(to_attribute(to_ivalue(attribute), type)), graph::print(attribute));
    return graph::print(attribute);
  };
  EXPECT_EQ(round(c10::IValue(), c10::IntType::get()), "None");
  EXPECT_EQ(round(true, c10::BoolType::get()), "True");
  EXPECT_EQ(round(3, c10::IntType::get()), "3");
  EXPECT_EQ(round(3, c10::FloatType::get()), "3.0");
  EXPECT_EQ(round(0.5, c10::NumberType::get()), "0.5");
  EXPECT_EQ(round(c10::complex<double>(1, 2), c10::NumberType::get()), "complex(1.0, 2.0)");
  EXPECT_EQ(round(std::string("mean"), c10::StringType::get()), "\"mean\"");
  EXPECT_EQ(round(c10::Device("cpu"), c10::DeviceObjType::get()), "device(\"cpu\")");
  const auto code = [](auto value) { return c10::IValue(static_cast<std::int64_t>(value)); };
  const auto schema_type = [](const char* op, const char* overload, const char* argument) {
    const OpInfo* info = op_info(op, overload);
    return info->schema().arguments()[static_cast<std::size_t>(info->argument(argument))].real_type();
  };
  EXPECT_EQ(round(code(at::kHalf), schema_type("aten::to", "dtype", "dtype")), "float16");
  EXPECT_EQ(round(code(at::kStrided), schema_type("aten::zeros", "", "layout")), "layout(\"strided\")");
  EXPECT_EQ(round(code(at::MemoryFormat::ChannelsLast), schema_type("aten::clone", "", "memory_format")),
            "memory_format(\"channels_last\")");
  EXPECT_EQ(round(c10::List<std::int64_t>({1, 2}), c10::ListType::ofInts()), "[1, 2]");
  EXPECT_EQ(round(c10::List<double>({1, 2}), c10::ListType::ofFloats()), "[1.0, 2.0]");
  EXPECT_EQ(round(c10::List<bool>({true}), c10::ListType::ofBools()), "[True]");
}

// It was exported as float32 without a word.
TEST(Attributes, ADtypeThatNoGraphHasIsAnError) {
  const OpInfo* info = op_info("aten::to", "dtype");
  const auto type = info->schema().arguments()[1].real_type();
  EXPECT_THROW(to_attribute(c10::IValue(static_cast<std::int64_t>(at::kQInt8)), type), UnknownDtype);
}

TEST(Attributes, WhatTorchDoesNotKnowIsAnError) {
  EXPECT_ANY_THROW(to_ivalue(graph::Layout{"round"}));
  EXPECT_ANY_THROW(to_ivalue(graph::MemoryFormat{"channels_first"}));
}

}  // namespace
}  // namespace leapp::capture
