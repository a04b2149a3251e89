// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernel_table.h"

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace leapp::codegen {
namespace {

const std::vector<Family>& families() {
  static const auto* const all = new std::vector<Family>{
      numbers_family(),   function_family(), elementwise_family(), scalar_family(),  matrix_family(),
      recurrent_family(), row_family(),      reduction_family(),   copy_family(),    convolution_family(),
      gather_family(),    ordering_family(), sampling_family(),    control_family(),
  };
  return *all;
}

bool is_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// The name that a line of a snippet defines, if it begins at the left edge: a type or a function.
std::string_view defined_in(std::string_view line) {
  if (line.starts_with("struct ")) return line.substr(7, line.find(' ', 7) - 7);
  if (line.empty() || !is_word(line.front()) || line.starts_with("template")) return {};
  const std::size_t end = line.find('(');
  if (end == std::string_view::npos) return {};
  std::size_t begin = end;
  while (begin > 0 && is_word(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

std::set<std::string> find_names() {
  std::set<std::string> names = {"State", "Inputs", "Outputs", "state",   "inputs",   "outputs",
                                 "init",  "reset",  "step",    "Float16", "BFloat16", "i"};
  for (const Family& family : families()) {
    for (const Snippet& snippet : family.snippets) {
      for (std::string_view rest = snippet.text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        names.emplace(defined_in(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }
  return names;
}

}  // namespace

const KernelEntry* find_kernel(std::string_view name) {
  static const auto* const table = [] {
    auto* rows = new std::map<std::string_view, const KernelEntry*>;
    for (const Family& family : families()) {
      for (const KernelEntry& entry : family.kernels) rows->emplace(entry.kernel, &entry);
    }
    return rows;
  }();
  const auto row = table->find(name);
  return row == table->end() ? nullptr : row->second;
}

const Snippet& find_snippet(std::string_view name) {
  static const auto* const table = [] {
    auto* rows = new std::map<std::string_view, const Snippet*>;
    for (const Family& family : families()) {
      for (const Snippet& snippet : family.snippets) rows->emplace(snippet.name, &snippet);
    }
    return rows;
  }();
  return *table->at(name);
}

const std::set<std::string>& helper_names() {
  static const auto* const names = new std::set<std::string>(find_names());
  return *names;
}

}  // namespace leapp::codegen
