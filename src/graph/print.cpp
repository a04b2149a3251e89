// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.h"
#include "graph/literals.h"
#include "graph/text.h"

namespace leapp::graph {
namespace {

std::string print_value(const Value* value) { return value == nullptr ? "None" : "%" + quote_if_needed(value->name()); }

std::string print_type(const TensorType& type) { return type_text(type.dtype, type.shape); }

void print_graph(const Graph& graph, const PrintOptions& options, const std::string& indent, std::string& text);

// One overload for each thing an attribute can hold.
struct AttributePrinter {
  PrintOptions options = {};
  std::string indent = {};

  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool flag) const { return flag ? "True" : "False"; }
  std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
  std::string operator()(double number) const { return print_float(number); }
  std::string operator()(const Complex& number) const {
    return fmt::format("complex({}, {})", print_float(number.real()), print_float(number.imag()));
  }
  std::string operator()(const std::string& text) const { return quote(text); }
  std::string operator()(DType dtype) const { return std::string(dtype_name(dtype)); }
  std::string operator()(const Device& device) const { return fmt::format("device({})", quote(device.name)); }
  std::string operator()(const Layout& layout) const { return fmt::format("layout({})", quote(layout.name)); }
  std::string operator()(const MemoryFormat& format) const {
    return fmt::format("memory_format({})", quote(format.name));
  }
  std::string operator()(const Scalar& scalar) const { return std::visit(*this, scalar); }
  std::string operator()(Value* value) const { return print_value(value); }
  std::string operator()(const GraphPtr& graph) const {
    std::string text;
    print_graph(*graph, options, indent, text);
    return text;
  }

  std::string operator()(const std::vector<bool>& list) const { return print_list(list, list.empty() ? "bool" : ""); }
  std::string operator()(const std::vector<std::int64_t>& list) const {
    return print_list(list, list.empty() ? "int" : "");
  }
  std::string operator()(const std::vector<double>& list) const {
    return print_list(list, list.empty() ? "float" : "");
  }
  std::string operator()(const std::vector<std::string>& list) const {
    return print_list(list, list.empty() ? "str" : "");
  }
  std::string operator()(const std::vector<DType>& list) const { return print_list(list, list.empty() ? "dtype" : ""); }
  std::string operator()(const std::vector<Scalar>& list) const { return print_list(list, "scalar"); }
  std::string operator()(const std::vector<Value*>& list) const {
    bool tells = false;
    for (const Value* value : list) tells = tells || value != nullptr;
    return print_list(list, tells ? "" : "tensor");
  }

  template <typename T>
  std::string print_list(const std::vector<T>& list, std::string_view prefix) const {
    std::string text(prefix);
    text += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) text += ", ";
      text += (*this)(static_cast<T>(list[i]));
    }
    return text + ']';
  }
};

// An operator's name stands bare only as "namespace::name", which no keyword of the text form looks like.
bool is_bare_operator(std::string_view op) {
  const std::size_t colons = op.find("::");
  if (colons == std::string_view::npos) return false;
  const auto word = [](std::string_view part) {
    for (char c : part) {
      if (!is_bare_character(c) || c == '.' || c == '/') return false;
    }
    return !part.empty();
  };
  return word(op.substr(0, colons)) && word(op.substr(colons + 2));
}

bool is_bare_overload(std::string_view overload) {
  return overload.find_first_of("./") == std::string_view::npos && quote_if_needed(overload) == overload;
}

void print_constant(const Value& value, const PrintOptions& options, std::string& text) {
  const Constant& constant = value.constant();
  text += fmt::format("{} = {} {} ", print_value(&value), constant.parameter ? "parameter" : "constant",
                      print_type(constant.type));
  const bool is_small = element_count(constant.type.shape) <= options.inline_elements;
  if (is_small) {
    if (const auto elements = print_elements(constant.type.dtype, constant.bytes())) {
      text += fmt::format("[{}]\n", *elements);
      return;
    }
  }
  if (!is_small && options.elide_large_constants) {
    text += "...\n";
    return;
  }
  text += fmt::format("base64 \"{}\"\n", encode_base64(constant.bytes()));
}

void print_node(const Node& node, const AttributePrinter& printer, std::string& text) {
  for (std::size_t i = 0; i < node.results().size(); ++i) {
    text +=
        fmt::format("{}{}: {}", i == 0 ? "" : ", ", print_value(node.result(i)), print_type(node.result(i)->type()));
  }
  if (!node.results().empty()) text += " = ";
  if (node.is_random()) text += "random ";
  text += is_bare_operator(node.op()) ? node.op() : quote(node.op());
  if (!node.overload().empty())
    text += "." + (is_bare_overload(node.overload()) ? node.overload() : quote(node.overload()));
  text += '(';
  for (std::size_t i = 0; i < node.arguments().size(); ++i) {
    const Argument& argument = node.arguments()[i];
    text +=
        fmt::format("{}{}={}", i == 0 ? "" : ", ", quote_if_needed(argument.name), std::visit(printer, argument.value));
  }
  text += ')';
  const SourceLocation& location = node.location();
  if (location != SourceLocation()) text += fmt::format("  @ {}:{}", quote(location.file), location.line);
  if (!location.function.empty()) text += " in " + quote(location.function);
  text += '\n';
}

// Without the end of its last line.
void print_graph(const Graph& graph, const PrintOptions& options, const std::string& indent, std::string& text) {
  text += "graph ";
  if (!graph.name().empty()) text += quote_if_needed(graph.name());
  text += '(';
  bool first = true;
  for (const auto& input : graph.inputs()) {
    text += fmt::format("{}{}: {}", first ? "" : ", ", print_value(input.get()), print_type(input->type()));
    first = false;
  }
  text += ") {\n";
  const AttributePrinter printer{options, indent + "  "};
  for (const auto& constant : graph.constants()) {
    text += printer.indent;
    print_constant(*constant, options, text);
  }
  for (const auto& node : graph.nodes()) {
    text += printer.indent;
    print_node(*node, printer, text);
  }
  text += printer.indent + "return (";
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Output& output = graph.outputs()[i];
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", quote_if_needed(output.name), print_value(output.value));
  }
  text += ")\n" + indent + "}";
}

}  // namespace

std::string print(const Attribute& argument) { return std::visit(AttributePrinter(), argument); }

std::string print(const Graph& graph, const PrintOptions& options) {
  std::string text;
  print_graph(graph, options, "", text);
  return text + "\n";
}

}  // namespace leapp::graph
