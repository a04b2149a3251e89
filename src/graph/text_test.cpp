// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace leapp::graph {
namespace {

const TensorType kTextPair{DType::kFloat32, {2}};

// Prints, parses, prints again.
std::string round_trip(const Graph& graph) {
  const std::string text = print(graph);
  auto back = parse(text);
  EXPECT_TRUE(back.ok()) << back.status().message() << "\n" << text;
  EXPECT_EQ(back.ok() ? print(back.value()) : "", text);
  return text;
}

std::string error_of(const std::string& text) {
  const auto graph = parse(text);
  EXPECT_FALSE(graph.ok());
  return graph.status().message();
}

template <typename T>
Constant constant_of(DType dtype, const std::vector<T>& values) {
  auto shared = std::make_shared<std::vector<T>>(values);
  return {{dtype, {std::ssize(values)}}, std::shared_ptr<const void>(shared, shared->data())};
}

TEST(Text, ReadsAsIntended) {
  const std::string text = R"(graph policy(%obs: float32[1,2], %"my port": int64[]) {
  %actor.0.weight = constant float32[2,2] [1, 2.5, -3, 4]
  %0: float32[1,2] = aten::linear(input=%obs, weight=%actor.0.weight, bias=None)  @ "policy.py":12
  %1: float32[1,2], %2: int64[1] = random aten::max.dim(self=%0, dim=-1, keepdim=True)  @ "policy.py":13 in "forward"
  aten::nothing()
  return (action=%1, "odd name"=%"my port")
}
)";
  const auto graph = parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(print(graph.value()), text);
  const Node& node = **std::next(graph.value().nodes().begin());
  EXPECT_TRUE(node.is_random());
  EXPECT_EQ(node.qualified_name(), "aten::max.dim");
  EXPECT_EQ(node.location(), (SourceLocation{"policy.py", 13, "forward"}));
}

TEST(Text, ParametersStayParameters) {
  const std::string text =
      "graph g(%x: float32[1]) {\n"
      "  %w = parameter float32[1] [2]\n"
      "  %b = constant float32[1] [3]\n"
      "  return (w=%w, b=%b)\n"
      "}\n";
  const auto graph = parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(graph.value().outputs()[0].value->constant().parameter);
  EXPECT_FALSE(graph.value().outputs()[1].value->constant().parameter);
  EXPECT_EQ(print(graph.value()), text);
}

TEST(Text, EveryAttributeSurvives) {
  Graph graph("all");
  Value* x = graph.add_input("x", kTextPair);
  const double inf = std::numeric_limits<double>::infinity();
  const auto odd_nan = std::bit_cast<double>(0xfff8000000000123U);
  const std::vector<Attribute> attributes = {std::monostate(),
                                             true,
                                             false,
                                             std::int64_t{-7},
                                             std::numeric_limits<std::int64_t>::min(),
                                             1.0,
                                             -0.0,
                                             0.1,
                                             1e300,
                                             5e-324,
                                             inf,
                                             -inf,
                                             std::nan(""),
                                             odd_nan,
                                             Complex(1.5, -0.0),
                                             Complex(inf, std::nan("")),
                                             std::string("a\"b\\c\n\t\r\0\x7f\xC3\xB6", 12),
                                             std::string(),
                                             DType::kBFloat16,
                                             DType::kBool,
                                             Device{"cuda:0"},
                                             Layout{"strided"},
                                             MemoryFormat{"channels_last"},
                                             std::vector<bool>{true, false},
                                             std::vector<bool>{},
                                             std::vector<std::int64_t>{1, -2},
                                             std::vector<std::int64_t>{},
                                             std::vector<double>{1, inf, -0.0},
                                             std::vector<double>{},
                                             std::vector<std::string>{"a", ""},
                                             std::vector<std::string>{},
                                             std::vector<DType>{DType::kInt8},
                                             std::vector<DType>{},
                                             std::vector<Scalar>{true, std::int64_t{1}, 1.0, Complex(0, 1)},
                                             std::vector<Scalar>{},
                                             x,
                                             std::vector<Value*>{x, nullptr, x},
                                             std::vector<Value*>{nullptr},
                                             std::vector<Value*>{}};
  NodeSpec spec;
  spec.op = "aten::f";
  for (const Attribute& attribute : attributes)
    spec.arguments.push_back({"a" + std::to_string(spec.arguments.size()), attribute});
  graph.append(std::move(spec));
  auto back = parse(round_trip(graph));
  ASSERT_TRUE(back.ok());
  const Node& node = *back.value().nodes().front();
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    EXPECT_EQ(node.arguments()[i].value.index(), attributes[i].index()) << i;
    if (const auto* number = std::get_if<double>(&attributes[i])) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(*number),
                std::bit_cast<std::uint64_t>(std::get<double>(node.arguments()[i].value)))
          << i;
    } else if (!std::holds_alternative<Value*>(attributes[i]) &&
               !std::holds_alternative<std::vector<Value*>>(attributes[i]) &&
               !std::holds_alternative<Complex>(attributes[i])) {
      EXPECT_EQ(node.arguments()[i].value, attributes[i]) << i;
    }
  }
}

TEST(Text, AnyNameSurvives) {
  const std::vector<std::string> names = {
      "", " ", "a b", "%", "\"", "\\", "a\nb", "graph", "return", "#", "\xFF", std::string("\0", 1), "a.b/c", "None"};
  Graph graph("weird (name)");
  for (const std::string& name : names) graph.add_input(name, kTextPair);
  for (const std::string& name : names) {
    NodeSpec spec;
    spec.op = name;
    spec.overload = name;
    spec.arguments = {{name, graph.inputs().back().get()}};
    spec.location = {name, -1, name};
    spec.results = {kTextPair};
    spec.result_names = {name + "_result"};
    graph.add_output(name, graph.append(std::move(spec))->result());
  }
  for (const char* op : {"return::x", "random::x", "graph::x", "a::b::c", "::", "a::"}) {
    NodeSpec spec;
    spec.op = op;
    graph.append(std::move(spec));
  }
  auto back = parse(round_trip(graph));
  ASSERT_TRUE(back.ok());
  auto input = back.value().inputs().begin();
  for (const std::string& name : names) EXPECT_EQ((*input++)->name(), name);
}

TEST(Text, ConstantsSurviveToTheBit) {
  Graph graph;
  graph.add_constant(
      constant_of<float>(DType::kFloat32, {0.1F, -0.0F, 1e-45F, 3.4028235e38F, INFINITY, -INFINITY, NAN, 16777216.0F}),
      "f");
  graph.add_constant(constant_of<float>(DType::kFloat32, {-NAN}), "minus_nan");
  graph.add_constant(
      constant_of<double>(DType::kFloat64, {0.1, 5e-324, NAN, std::bit_cast<double>(0x7ff8000000000001U)}), "d");
  graph.add_constant(constant_of<std::uint8_t>(DType::kBool, {0, 1}), "b");
  graph.add_constant(constant_of<std::uint8_t>(DType::kBool, {2}), "odd_bool");
  graph.add_constant(constant_of<std::int8_t>(DType::kInt8, {-128, 65}), "i8");
  graph.add_constant(constant_of<std::uint64_t>(DType::kUInt64, {UINT64_MAX}), "u64");
  graph.add_constant(constant_of<std::uint8_t>(DType::kFloat8E5M2, {1, 2, 3}), "f8");
  graph.add_constant({{DType::kComplex64, {0, 4}}, nullptr}, "none");
  std::vector<float> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i) / 7.0F;
  graph.add_constant(constant_of(DType::kFloat32, many), "many");
  auto back = parse(round_trip(graph));
  ASSERT_TRUE(back.ok());
  auto other = back.value().constants().begin();
  for (const auto& constant : graph.constants())
    EXPECT_TRUE(constant->constant().same_content((*other++)->constant())) << constant->name();
}

TEST(Text, EveryHalfSurvives) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<std::uint16_t> all(65536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    Graph graph;
    for (std::size_t i = 0; i < all.size(); i += 16) {
      graph.add_constant(constant_of<std::uint16_t>(
          dtype, {all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i) + 16}));
    }
    auto back = parse(print(graph));
    ASSERT_TRUE(back.ok()) << back.status().message();
    auto other = back.value().constants().begin();
    for (const auto& constant : graph.constants())
      ASSERT_TRUE(constant->constant().same_content((*other++)->constant())) << constant->name();
  }
  const auto rounded = parse("graph () { %h = constant float16[4] [1.0004, 70000, 1e-9, 0.00006] return () }");
  ASSERT_TRUE(rounded.ok());
  EXPECT_NE(print(rounded.value()).find("[1, inf, 0, 6"), std::string::npos) << print(rounded.value());
}

TEST(Text, ElidesForPeople) {
  Graph graph;
  graph.add_constant(constant_of<float>(DType::kFloat32, std::vector<float>(100)), "w");
  const std::string text = print(graph, {.elide_large_constants = true});
  EXPECT_EQ(text, "graph () {\n  %w = constant float32[100] ...\n  return ()\n}\n");
  EXPECT_EQ(error_of(text), "line 2: expected the bytes of a constant, found '...': they were left out when printing");
}

TEST(Text, ErrorsNameLineAndExpectation) {
  EXPECT_EQ(error_of("graph (%x: float33[2]) {"), "line 1: expected a type such as float32[1,48], found \"float33\"");
  EXPECT_EQ(error_of("graph () {\n%0: float32[] = aten::f(a=%y)"), "line 2: expected a value defined above, found %y");
  EXPECT_EQ(error_of("graph () {\n\n%0: float32[] = aten::f(a=)"),
            "line 3: expected a value of an argument, found \")\"");
  EXPECT_EQ(error_of("graph (%x: float32[], %x: float32[])"),
            "line 1: expected a name that is not taken, found %x again");
  EXPECT_EQ(error_of("graph (%x: float32[4611686018427387904,4611686018427387904])"),
            "line 1: expected at most 144115188075855871 elements, found a larger shape");
  EXPECT_EQ(error_of("graph () { %w = constant float32[1000000000] [1]"),
            "line 1: expected 4000000000 bytes for constant \"w\", found 4");
  EXPECT_EQ(error_of("graph () { %w = constant int8[1] [300]"),
            "line 1: expected a number of type int8, found \"300\"");
  EXPECT_EQ(error_of("graph () {"),
            "line 1: expected an operator such as aten::add, a '%' or 'return', found the end of the text");
  EXPECT_EQ(error_of("graph () { aten::f(a=[])"),
            "line 1: expected a type in front of an empty list, such as int[], found none");
  EXPECT_EQ(error_of("graph () { aten::f(a=[1, 2.0])"), "line 1: expected a list of one element type, found a mixture");
  EXPECT_EQ(error_of("graph () { return () } x"), "line 1: expected nothing behind the graph, found \"x\"");
  EXPECT_EQ(error_of("graph () { aten::f(a=\"x"),
            "line 1: expected '\"' at the end of a string, found the end of the text");
}

TEST(Text, HostileBytesNeverCrash) {
  const std::string seed = R"(graph p(%obs: float32[1,2], %"my port": int64[]) {
  %w = constant float16[2,2] [1, 2.5, nan, -inf]   # comment
  %v = constant complex64[1] base64 "AAAAAAAAAAA="
  %0: float32[1,2], %1: int64[0] = random aten::f.g(a=%obs, b=[%w, None], c=scalar[1, 2.0, complex(1.0, nan(0x7ff8000000000001))], d=int[], e=device("cpu"))  @ "p.py":12 in "f"
  return (action=%0)
}
)";
  const std::string alphabet = "%\"\\[](){},.:=@#-0179eaxn \n\xFF";
  std::mt19937 engine(7);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed;
    for (std::size_t edits = engine() % 3 + 1; edits > 0; --edits) {
      const std::size_t at = engine() % text.size();
      const std::size_t kind = engine() % 4;
      if (kind == 0) text[at] = alphabet[engine() % alphabet.size()];
      if (kind == 1) text.erase(at, engine() % 5);
      if (kind == 2) text.insert(at, text.substr(engine() % text.size(), engine() % 20));
      if (kind == 3 && engine() % 10 == 0) text.resize(at + 1);
    }
    const auto graph = parse(text);
    if (!graph.ok()) continue;
    ++accepted;
    round_trip(graph.value());
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace leapp::graph
