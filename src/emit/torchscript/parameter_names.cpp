// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/torchscript/parameter_names.h"

#include <algorithm>
#include <array>

#include "graph/names.h"

namespace leapp::emit {
namespace {

// Words of TorchScript's lexer (torch/csrc/jit/frontend/lexer.h), what every ScriptModule has already, and what
// Python's wrapper of a loaded module keeps its own things in.
constexpr auto kReserved = std::to_array<std::string_view>({"Ellipsis",
                                                            "False",
                                                            "None",
                                                            "NoneType",
                                                            "True",
                                                            "and",
                                                            "as",
                                                            "assert",
                                                            "break",
                                                            "class",
                                                            "continue",
                                                            "def",
                                                            "del",
                                                            "elif",
                                                            "else",
                                                            "for",
                                                            "forward",
                                                            "global",
                                                            "if",
                                                            "import",
                                                            "in",
                                                            "is",
                                                            "lambda",
                                                            "not",
                                                            "or",
                                                            "pass",
                                                            "raise",
                                                            "return",
                                                            "training",
                                                            "while",
                                                            "with",
                                                            "_buffers",
                                                            "_c",
                                                            "_modules",
                                                            "_parameters",
                                                            "_backward_hooks",
                                                            "_backward_pre_hooks",
                                                            "_forward_hooks",
                                                            "_forward_pre_hooks",
                                                            "_state_dict_hooks",
                                                            "_state_dict_pre_hooks"});

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string legal_part(std::string_view part) {
  if (part.empty() || !std::all_of(part.begin(), part.end(), is_word)) return graph::legal_identifier(part);
  // A class body holds __parameters__, __buffers__ and __annotations__.
  const bool reserved =
      part.starts_with("__") || std::find(kReserved.begin(), kReserved.end(), part) != kReserved.end();
  return std::string(part) + (reserved ? "_" : "");
}

}  // namespace

std::string ParameterNames::take(const std::string& parent, std::string_view part, Kind kind) {
  const std::string base = legal_part(part);
  std::string name = base;
  for (int number = 1;; ++number) {
    const auto [entry, is_new] = taken_.emplace(parent + "." + name, kind);
    if (is_new || (kind == Kind::kModule && entry->second == Kind::kModule)) return name;
    name = base + "_" + std::to_string(number);
  }
}

std::vector<std::string> ParameterNames::place(std::string_view wish) {
  std::vector<std::string> path;
  std::string parent;
  for (std::size_t dot = wish.find('.'); dot != std::string_view::npos; dot = wish.find('.')) {
    path.push_back(take(parent, wish.substr(0, dot), Kind::kModule));
    parent += "." + path.back();
    wish.remove_prefix(dot + 1);
  }
  path.push_back(take(parent, wish, Kind::kTensor));
  return path;
}

}  // namespace leapp::emit
