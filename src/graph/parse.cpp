// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/text.h"
#include "graph/literals.h"
#include "graph/scanner.h"
#include "graph/text.h"

namespace leapp::graph {
namespace {

// Sizes are bounded so that no product of extents, strides and element size can overflow later.
constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 64;
// Of graphs inside each other: reading, printing and checking them recurse.
constexpr int kDeepest = 32;

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct TypedName {
  std::string name;
  TensorType type;
};

class Parser {
 public:
  explicit Parser(Scanner& in, int depth = 0) : in_(in), depth_(depth) {}
  /// What follows the word "graph".
  Result<Graph> run();

 private:
  Status parse_inputs();
  Status parse_definition();
  Status parse_constant(std::string name);
  Result<std::vector<std::byte>> parse_bytes(const TensorType& type);
  Status parse_node(std::vector<TypedName> results);
  Status parse_operator(NodeSpec& spec);
  Status parse_arguments(NodeSpec& spec);
  Status parse_location(NodeSpec& spec);
  Status parse_outputs();

  Result<std::string> parse_new_name();
  Result<TensorType> parse_type();
  Result<Value*> parse_value();
  Result<Attribute> parse_attribute();
  Result<Attribute> parse_inner_graph();
  Result<Attribute> parse_element();
  Result<Attribute> parse_word_literal();
  Result<Attribute> parse_complex();
  Result<Attribute> parse_list(std::string_view prefix);
  template <typename T>
  Result<Attribute> collect(const std::vector<Attribute>& elements);

  Scanner& in_;
  int depth_;
  Graph graph_;
};

Result<Graph> Parser::run() {
  if (!in_.looking_at("(")) {
    LEAPP_ASSIGN_OR_RETURN(std::string name, in_.name("the graph's name or '('"));
    graph_ = Graph(std::move(name));
  }
  LEAPP_RETURN_IF_ERROR(parse_inputs());
  LEAPP_RETURN_IF_ERROR(in_.expect("{"));
  while (true) {
    const std::size_t before = in_.position();
    if (in_.looking_at("%")) {
      LEAPP_RETURN_IF_ERROR(parse_definition());
    } else if (in_.word() == "return" && !in_.looking_at("::")) {
      break;
    } else {
      in_.go_back(before);
      LEAPP_RETURN_IF_ERROR(parse_node({}));
    }
  }
  LEAPP_RETURN_IF_ERROR(parse_outputs());
  LEAPP_RETURN_IF_ERROR(in_.expect("}"));
  return std::move(graph_);
}

Status Parser::parse_inputs() {
  LEAPP_RETURN_IF_ERROR(in_.expect("("));
  if (in_.accept(")")) return {};
  do {
    LEAPP_RETURN_IF_ERROR(in_.expect("%"));
    LEAPP_ASSIGN_OR_RETURN(std::string name, parse_new_name());
    LEAPP_RETURN_IF_ERROR(in_.expect(":"));
    LEAPP_ASSIGN_OR_RETURN(TensorType type, parse_type());
    graph_.add_input(std::move(name), std::move(type));
  } while (in_.accept(","));
  return in_.expect(")");
}

Result<std::string> Parser::parse_new_name() {
  LEAPP_ASSIGN_OR_RETURN(std::string name, in_.name("a value's name"));
  if (graph_.find(name) != nullptr) {
    return in_.complain(fmt::format("expected a name that is not taken, found %{} again", quote_if_needed(name)));
  }
  return name;
}

Result<TensorType> Parser::parse_type() {
  const std::size_t before = in_.position();
  TensorType type;
  const auto dtype = parse_dtype(in_.word());
  if (!dtype) {
    in_.go_back(before);
    return in_.error("a type such as float32[1,48]");
  }
  type.dtype = *dtype;
  LEAPP_RETURN_IF_ERROR(in_.expect("["));
  std::int64_t product = 1;
  while (!in_.accept("]")) {
    if (!type.shape.empty()) LEAPP_RETURN_IF_ERROR(in_.expect(","));
    const std::size_t start = in_.position();
    const auto extent = parse_integer(in_.word());
    if (!extent || *extent < 0) {
      in_.go_back(start);
      return in_.error("an extent (0 or more) or ']'");
    }
    if (std::max<std::int64_t>(*extent, 1) > kMaxElements / product) {
      return in_.complain(fmt::format("expected at most {} elements, found a larger shape", kMaxElements));
    }
    product *= std::max<std::int64_t>(*extent, 1);
    type.shape.push_back(*extent);
  }
  return type;
}

Status Parser::parse_definition() {
  std::vector<TypedName> results;
  do {
    LEAPP_RETURN_IF_ERROR(in_.expect("%"));
    LEAPP_ASSIGN_OR_RETURN(std::string name, parse_new_name());
    if (name.empty()) return in_.complain("expected a name for a constant or result, found an empty one");
    for (const TypedName& other : results) {
      if (other.name == name)
        return in_.complain(fmt::format("expected different results, found {} twice", quote(name)));
    }
    if (results.empty() && in_.accept("=")) return parse_constant(std::move(name));
    LEAPP_RETURN_IF_ERROR(in_.expect(":"));
    LEAPP_ASSIGN_OR_RETURN(TensorType type, parse_type());
    results.push_back({std::move(name), std::move(type)});
  } while (in_.accept(","));
  LEAPP_RETURN_IF_ERROR(in_.expect("="));
  return parse_node(std::move(results));
}

Status Parser::parse_constant(std::string name) {
  const std::size_t before = in_.position();
  const auto keyword = in_.word();
  if (keyword != "constant" && keyword != "parameter") {
    in_.go_back(before);
    return in_.error("'constant' (a result of an operator has its type behind its name)");
  }
  Constant constant;
  constant.parameter = keyword == "parameter";
  LEAPP_ASSIGN_OR_RETURN(constant.type, parse_type());
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, parse_bytes(constant.type));
  if (bytes.size() != constant.byte_size()) {
    return in_.complain(
        fmt::format("expected {} bytes for constant {}, found {}", constant.byte_size(), quote(name), bytes.size()));
  }
  auto shared = std::make_shared<const std::vector<std::byte>>(bytes);
  constant.data = std::shared_ptr<const void>(shared, shared->data());
  graph_.add_constant(std::move(constant), std::move(name));
  return {};
}

Result<std::vector<std::byte>> Parser::parse_bytes(const TensorType& type) {
  if (in_.accept("..."))
    return in_.complain("expected the bytes of a constant, found '...': they were left out when printing");
  if (in_.accept("base64")) {
    LEAPP_ASSIGN_OR_RETURN(const std::string text, in_.quoted("base64 in quotes"));
    auto bytes = decode_base64(text);
    if (!bytes) return in_.complain("expected base64, found other characters or a wrong length");
    return std::move(*bytes);
  }
  LEAPP_RETURN_IF_ERROR(in_.expect("["));
  std::vector<std::byte> bytes;
  while (!in_.accept("]")) {
    if (!bytes.empty()) LEAPP_RETURN_IF_ERROR(in_.expect(","));
    const std::size_t before = in_.position();
    if (!graph::parse_element(type.dtype, in_.word(".+-"), bytes)) {
      in_.go_back(before);
      return in_.error(fmt::format("a number of type {}", dtype_name(type.dtype)));
    }
  }
  return bytes;
}

Status Parser::parse_node(std::vector<TypedName> results) {
  NodeSpec spec;
  for (TypedName& result : results) {
    spec.result_names.push_back(std::move(result.name));
    spec.results.push_back(std::move(result.type));
  }
  LEAPP_RETURN_IF_ERROR(parse_operator(spec));
  LEAPP_RETURN_IF_ERROR(parse_arguments(spec));
  LEAPP_RETURN_IF_ERROR(parse_location(spec));
  graph_.append(std::move(spec));
  return {};
}

Status Parser::parse_operator(NodeSpec& spec) {
  const std::size_t before = in_.position();
  if (in_.word() == "random" && !in_.looking_at("::")) {
    spec.random = true;
  } else {
    in_.go_back(before);
  }
  if (in_.looking_at("\"")) {
    LEAPP_ASSIGN_OR_RETURN(spec.op, in_.quoted("an operator"));
  } else {
    const std::size_t start = in_.position();
    const std::string_view space = in_.word();
    const bool colons = in_.accept("::");
    const std::string_view name = in_.word();
    if (space.empty() || !colons || name.empty()) {
      in_.go_back(start);
      return in_.error("an operator such as aten::add, a '%' or 'return'");
    }
    spec.op = fmt::format("{}::{}", space, name);
  }
  if (!in_.accept(".")) return {};
  if (in_.looking_at("\"")) {
    LEAPP_ASSIGN_OR_RETURN(spec.overload, in_.quoted("an overload"));
    return {};
  }
  spec.overload = in_.word();
  return spec.overload.empty() ? in_.error("an overload") : Status();
}

Status Parser::parse_arguments(NodeSpec& spec) {
  LEAPP_RETURN_IF_ERROR(in_.expect("("));
  if (in_.accept(")")) return {};
  do {
    Argument argument;
    LEAPP_ASSIGN_OR_RETURN(argument.name, in_.name("an argument's name"));
    LEAPP_RETURN_IF_ERROR(in_.expect("="));
    LEAPP_ASSIGN_OR_RETURN(argument.value, parse_attribute());
    spec.arguments.push_back(std::move(argument));
  } while (in_.accept(","));
  return in_.expect(")");
}

Status Parser::parse_location(NodeSpec& spec) {
  if (!in_.accept("@")) return {};
  LEAPP_ASSIGN_OR_RETURN(spec.location.file, in_.quoted("a file in quotes"));
  LEAPP_RETURN_IF_ERROR(in_.expect(":"));
  const std::size_t before = in_.position();
  const auto line = parse_integer(in_.word("-"));
  if (!line || *line < std::numeric_limits<int>::min() || *line > std::numeric_limits<int>::max()) {
    in_.go_back(before);
    return in_.error("a line number");
  }
  spec.location.line = static_cast<int>(*line);
  const std::size_t behind = in_.position();
  if (in_.word() != "in") {
    in_.go_back(behind);
    return {};
  }
  LEAPP_ASSIGN_OR_RETURN(spec.location.function, in_.quoted("a function in quotes"));
  return {};
}

Status Parser::parse_outputs() {
  LEAPP_RETURN_IF_ERROR(in_.expect("("));
  if (in_.accept(")")) return {};
  do {
    LEAPP_ASSIGN_OR_RETURN(std::string name, in_.name("an output's name"));
    LEAPP_RETURN_IF_ERROR(in_.expect("="));
    LEAPP_ASSIGN_OR_RETURN(Value * value, parse_value());
    graph_.add_output(std::move(name), value);
  } while (in_.accept(","));
  return in_.expect(")");
}

Result<Value*> Parser::parse_value() {
  LEAPP_RETURN_IF_ERROR(in_.expect("%"));
  LEAPP_ASSIGN_OR_RETURN(const std::string name, in_.name("a value's name"));
  Value* value = graph_.find(name);
  if (value == nullptr) {
    return in_.complain(fmt::format("expected a value defined above, found %{}", quote_if_needed(name)));
  }
  return value;
}

Result<Attribute> Parser::parse_attribute() {
  if (in_.looking_at("[")) return parse_list("");
  const std::size_t before = in_.position();
  for (std::string_view prefix : {"int", "bool", "float", "str", "dtype", "tensor", "scalar"}) {
    if (in_.word() == prefix && in_.looking_at("[")) return parse_list(prefix);
    in_.go_back(before);
  }
  if (in_.word() == "graph") return parse_inner_graph();
  in_.go_back(before);
  return parse_element();
}

Result<Attribute> Parser::parse_inner_graph() {
  if (depth_ == kDeepest) return in_.complain(fmt::format("expected at most {} graphs inside each other", kDeepest));
  LEAPP_ASSIGN_OR_RETURN(Graph inner, Parser(in_, depth_ + 1).run());
  return Attribute(std::make_shared<const Graph>(std::move(inner)));
}

Result<Attribute> Parser::parse_element() {
  if (in_.looking_at("%")) {
    LEAPP_ASSIGN_OR_RETURN(Value * value, parse_value());
    return Attribute(value);
  }
  if (in_.looking_at("\"")) {
    LEAPP_ASSIGN_OR_RETURN(std::string text, in_.quoted("a string"));
    return Attribute(std::move(text));
  }
  return parse_word_literal();
}

Result<Attribute> Parser::parse_word_literal() {
  const std::size_t before = in_.position();
  std::string word(in_.word(".+-"));
  if (word == "None") return Attribute();
  if (word == "True" || word == "False") return Attribute(word == "True");
  if (const auto dtype = parse_dtype(word)) return Attribute(*dtype);
  if (word == "complex") return parse_complex();
  if (word == "device" || word == "layout" || word == "memory_format") {
    LEAPP_RETURN_IF_ERROR(in_.expect("("));
    LEAPP_ASSIGN_OR_RETURN(std::string name, in_.quoted("a name in quotes"));
    LEAPP_RETURN_IF_ERROR(in_.expect(")"));
    if (word == "device") return Attribute(Device{std::move(name)});
    if (word == "layout") return Attribute(Layout{std::move(name)});
    return Attribute(MemoryFormat{std::move(name)});
  }
  if (const auto integer = parse_integer(word)) return Attribute(*integer);
  if (word == "nan" && in_.accept("(")) {
    word = fmt::format("nan({})", in_.word());
    LEAPP_RETURN_IF_ERROR(in_.expect(")"));
  }
  const bool is_float = word.find_first_of(".en") != std::string::npos;
  if (const auto number = is_float ? parse_float(word) : std::nullopt) return Attribute(*number);
  in_.go_back(before);
  return in_.error("a value of an argument");
}

Result<Attribute> Parser::parse_complex() {
  LEAPP_RETURN_IF_ERROR(in_.expect("("));
  LEAPP_ASSIGN_OR_RETURN(const Attribute real, parse_word_literal());
  LEAPP_RETURN_IF_ERROR(in_.expect(","));
  LEAPP_ASSIGN_OR_RETURN(const Attribute imaginary, parse_word_literal());
  LEAPP_RETURN_IF_ERROR(in_.expect(")"));
  if (!std::holds_alternative<double>(real) || !std::holds_alternative<double>(imaginary)) {
    return in_.complain("expected two floats in complex(...), found something else");
  }
  return Attribute(Complex(std::get<double>(real), std::get<double>(imaginary)));
}

Result<Attribute> Parser::parse_list(std::string_view prefix) {
  LEAPP_RETURN_IF_ERROR(in_.expect("["));
  std::vector<Attribute> elements;
  while (!in_.accept("]")) {
    if (!elements.empty()) LEAPP_RETURN_IF_ERROR(in_.expect(","));
    LEAPP_ASSIGN_OR_RETURN(Attribute element, parse_element());
    elements.push_back(std::move(element));
  }
  const auto holds = [&]<typename T>(std::string_view type, T) {
    return prefix == type || (prefix.empty() && !elements.empty() && std::holds_alternative<T>(elements.front()));
  };
  if (prefix == "scalar") return collect<Scalar>(elements);
  if (holds("int", std::int64_t())) return collect<std::int64_t>(elements);
  if (holds("bool", bool())) return collect<bool>(elements);
  if (holds("float", double())) return collect<double>(elements);
  if (holds("str", std::string())) return collect<std::string>(elements);
  if (holds("dtype", DType())) return collect<DType>(elements);
  if (prefix == "tensor" || !elements.empty()) return collect<Value*>(elements);
  return in_.complain("expected a type in front of an empty list, such as int[], found none");
}

template <typename T>
Result<Attribute> Parser::collect(const std::vector<Attribute>& elements) {
  std::vector<T> list;
  for (const Attribute& element : elements) {
    bool fits = true;
    if constexpr (std::is_same_v<T, Scalar>) {
      if (const auto* flag = std::get_if<bool>(&element))
        list.push_back(*flag);
      else if (const auto* integer = std::get_if<std::int64_t>(&element))
        list.push_back(*integer);
      else if (const auto* number = std::get_if<double>(&element))
        list.push_back(*number);
      else if (const auto* complex = std::get_if<Complex>(&element))
        list.push_back(*complex);
      else
        fits = false;
    } else if constexpr (std::is_same_v<T, Value*>) {
      fits = std::holds_alternative<Value*>(element) || std::holds_alternative<std::monostate>(element);
      if (fits) list.push_back(std::holds_alternative<Value*>(element) ? std::get<Value*>(element) : nullptr);
    } else {
      fits = std::holds_alternative<T>(element);
      if (fits) list.push_back(std::get<T>(element));
    }
    if (!fits) return in_.complain("expected a list of one element type, found a mixture");
  }
  return Attribute(std::move(list));
}

}  // namespace

Result<Graph> parse(std::string_view text) {
  Scanner in(text);
  if (in.word() != "graph") return in.complain("expected 'graph' at the beginning, found something else");
  LEAPP_ASSIGN_OR_RETURN(Graph graph, Parser(in).run());
  if (!in.at_end()) return in.error("nothing behind the graph");
  return graph;
}

}  // namespace leapp::graph
