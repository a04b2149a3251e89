// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/report/snippets.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporter/validate/report/source_text.h"

namespace leapp::exporter {
namespace {

std::string last_part(const std::string& dotted) { return dotted.substr(dotted.rfind('.') + 1); }

std::string announced(const std::string& node, const ProgramName& value, const std::string& given) {
  return fmt::format("{} = annotate.input_tensors(\"{}\", {{\"{}\": {}}})", value.name, node, value.name, given);
}

std::string used(const ProgramName& value, const std::string& code) {
  return code.empty() ? "" : "\n" + with_name_replaced(code, value.text, value.name);
}

}  // namespace

ProgramName name_in(const std::string& code, const std::string& name, const std::vector<std::string>& others) {
  const std::vector<std::string> read = names_read(code);
  if (!name.empty()) {
    const auto found = std::find_if(read.begin(), read.end(), [&](const std::string& text) {
      return text == name || last_part(text) == last_part(name);
    });
    return {last_part(name), found == read.end() ? last_part(name) : *found};
  }
  std::vector<std::string> left;
  for (const std::string& text : read) {
    const bool known = std::find(others.begin(), others.end(), last_part(text)) != others.end() || text == "torch" ||
                       text == "self" || text.starts_with("torch.");
    if (!known) left.push_back(text);
  }
  if (left.size() == 1) return {last_part(left[0]), left[0]};
  return {"value", "..."};
}

std::string input_snippet(const std::string& node, const ProgramName& value, const std::string& code) {
  return announced(node, value, value.text) + (value.text == value.name ? "" : used(value, code));
}

std::string number_snippet(const std::string& node, const ProgramName& value, const std::string& code) {
  return announced(node, value, fmt::format("torch.as_tensor({})", value.text)) + used(value, code);
}

std::string state_snippet(const std::string& node, const ProgramName& value) {
  return fmt::format(
      "{} = annotate.state_tensors(\"{}\", {{\"{}\": {}}})  # before it is read\n"
      "annotate.update_state(\"{}\", {{\"{}\": ...}})  # with its next value",
      value.name, node, value.name, value.text, node, value.name);
}

std::string counter_snippet(const std::string& node, const ProgramName& value, const std::string& step) {
  return fmt::format(
      "{} = annotate.state_tensors(\"{}\", {{\"{}\": {}}})  # before it is read\n"
      "annotate.update_state(\"{}\", {{\"{}\": {} + {}}})  # what the program does to it between two passes",
      value.name, node, value.name, value.text, node, value.name, value.name, step);
}

std::string branch_snippet(const graph::SourceLocation& first, const graph::SourceLocation& other) {
  const Assignment one = assignment_in(line_of(first.file, first.line));
  const Assignment two = assignment_in(line_of(other.file, other.line));
  if (one.target.empty() || one.target != two.target) return "";
  if (one.expression == two.expression) return "";  // `a if c else b` on one line: there are no two sides to show
  Condition condition = condition_over(first.file, first.line);
  if (condition.text.empty()) {
    condition = condition_over(other.file, other.line);
    condition.negated = !condition.negated;
  }
  const std::string text = condition.text.empty() ? "condition" : without_escapes(condition.text);
  const std::string choice =
      fmt::format("torch.where({}, {}, {})", text, condition.negated ? two.expression : one.expression,
                  condition.negated ? one.expression : two.expression);
  return one.target == "return" ? "return " + choice : one.target + " = " + choice;
}

std::string glue_snippet(const std::string& node, const std::string& port, const std::string& code) {
  const Assignment line = assignment_in(code);
  const std::vector<std::string> read = names_read(code);
  if (line.target.empty() || line.target == "return" || read.empty()) {
    return fmt::format("{} = annotate.input_tensors(\"{}\", {{\"{}\": ...}})  # first; then compute", port, node, port);
  }
  const std::string& source = read[0];
  const std::string inside = last_part(source);
  return fmt::format("{} = annotate.input_tensors(\"{}\", {{\"{}\": {}}})  # first\n{}  # then, inside the node",
                     inside, node, inside, source, with_name_replaced(code, source, inside));
}

}  // namespace leapp::exporter
