// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/names.h"

#include <algorithm>
#include <array>

namespace leapp::graph {
namespace {

// Python's keywords, then what TorchScript's printer reserves (torch/csrc/jit/serialization/python_print.cpp), then
// names every ScriptModule has already.
constexpr auto kReserved = std::to_array<std::string_view>({"CONSTANTS",
                                                            "Dict",
                                                            "False",
                                                            "Future",
                                                            "List",
                                                            "None",
                                                            "Optional",
                                                            "Tensor",
                                                            "True",
                                                            "Tuple",
                                                            "Union",
                                                            "and",
                                                            "annotate",
                                                            "as",
                                                            "assert",
                                                            "async",
                                                            "aten",
                                                            "attribute",
                                                            "await",
                                                            "bool",
                                                            "break",
                                                            "case",
                                                            "class",
                                                            "complex",
                                                            "continue",
                                                            "def",
                                                            "del",
                                                            "device",
                                                            "elif",
                                                            "else",
                                                            "except",
                                                            "exec",
                                                            "fork",
                                                            "finally",
                                                            "float",
                                                            "for",
                                                            "forward",
                                                            "from",
                                                            "getattr",
                                                            "global",
                                                            "if",
                                                            "import",
                                                            "in",
                                                            "inf",
                                                            "infj",
                                                            "int",
                                                            "is",
                                                            "isinstance",
                                                            "lambda",
                                                            "match",
                                                            "nan",
                                                            "nanj",
                                                            "nonlocal",
                                                            "not",
                                                            "number",
                                                            "ops",
                                                            "or",
                                                            "pass",
                                                            "prim",
                                                            "print",
                                                            "raise",
                                                            "range",
                                                            "return",
                                                            "rnn",
                                                            "self",
                                                            "str",
                                                            "torch",
                                                            "training",
                                                            "try",
                                                            "type",
                                                            "unchecked_cast",
                                                            "uninitialized",
                                                            "while",
                                                            "with",
                                                            "yield"});

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string legal_identifier(std::string_view name) {
  std::string result;
  result.reserve(name.size() + 1);
  for (char c : name) {
    if (is_continuation_byte(c)) continue;  // one underscore a character, not a byte
    result.push_back(is_word(c) ? c : '_');
  }
  if (result.empty() || is_digit(result.front())) result.insert(result.begin(), '_');
  if (std::find(kReserved.begin(), kReserved.end(), result) != kReserved.end()) result.push_back('_');
  return result;
}

std::string IdentifierNamer::make(std::string_view wish) {
  const std::string base = legal_identifier(wish);
  std::string name = base;
  std::int64_t& number = next_suffix_[base];
  while (!taken_.insert(name).second) name = base + "_" + std::to_string(++number);
  return name;
}

bool is_automatic_name(std::string_view name) {
  constexpr std::string_view kPrefix = "constant_";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return !name.empty() && std::all_of(name.begin(), name.end(), is_digit);
}

}  // namespace leapp::graph
