// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/port_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leapp::bundle {
namespace {

Semantics everything() {
  Semantics all;
  all.kind = "state/joint/position";
  all.element_names = {AxisNames(), AxisNames(std::vector<std::string>{"null", "1", "~", "__x"})};
  all.temporal_axis = TemporalAxis{0, 12.5};
  all.extra = {{"unit", "rad"}, {"limits", YamlList{-1.5, 2, YamlValue(), YamlMap{{"deep", true}}}}};
  return all;
}

std::vector<std::string> keys_of(const YamlMap& entry) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : entry) keys.push_back(key);
  return keys;
}

TEST(PortFields, WhatIsWrittenIsReadBack) {
  EXPECT_EQ(parse_semantics(semantics_entry(everything())).value(), everything());
  EXPECT_EQ(parse_semantics(semantics_entry(Semantics())).value(), Semantics());
}

TEST(PortFields, EveryBuiltInFieldHasItsKey) {
  Port port;
  static_cast<Semantics&>(port) = everything();
  port.extra.clear();
  const std::vector<std::string_view> built_in = port_keys();
  EXPECT_EQ(keys_of(port_entry(port)), std::vector<std::string>(built_in.begin(), built_in.end()));
  EXPECT_EQ(keys_of(port_entry(Port())), (std::vector<std::string>{"name", "dtype", "shape", "type"}));
}

TEST(PortFields, KeysOfTheUserComeLastInTheirOrder) {
  const std::vector<std::string> expected{"kind", "element_names", "temporal_period_ms", "unit", "limits"};
  EXPECT_EQ(keys_of(semantics_entry(everything())), expected);
}

TEST(PortFields, WhatEveryPortHasIsNoSemantics) {
  EXPECT_EQ(parse_semantics({{"name", "x"}, {"dtype", "bool"}, {"shape", YamlList{1}}, {"type", "tensor"}}).value(),
            Semantics());
}

TEST(PortFields, NullIsAbsent) {
  EXPECT_EQ(parse_semantics({{"kind", nullptr}, {"element_names", nullptr}, {"temporal_period_ms", nullptr}}).value(),
            Semantics());
}

TEST(PortFields, WrongValuesNameTheirField) {
  EXPECT_NE(parse_semantics({{"kind", YamlList{}}}).status().message().find("kind: expected a text, found a list"),
            std::string::npos);
  EXPECT_NE(parse_semantics({{"temporal_period_ms", 20}}).status().message().find("temporal_period_ms: no axis"),
            std::string::npos);
  EXPECT_NE(parse_semantics({{"element_names", YamlList{YamlMap{}}}}).status().message().find("element_names[0]"),
            std::string::npos);
}

}  // namespace
}  // namespace leapp::bundle
