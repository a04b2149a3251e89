// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml/yaml_cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace leapp::bundle {
namespace {

constexpr std::size_t kLongestQuote = 60;

std::string describe(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kList) return "a list";
  if (node.kind == YamlNode::Kind::kMap) return "a map";
  if (node.is_null()) return "null";
  return quote(node.text.size() <= kLongestQuote ? node.text : node.text.substr(0, kLongestQuote) + "...");
}

}  // namespace

Status YamlCursor::error(std::string_view message) const {
  return data_loss(fmt::format("line {}: {}{}{}", node_->line, path_, path_.empty() ? "" : ": ", message));
}

Status YamlCursor::expected(std::string_view what) const {
  return error(fmt::format("expected {}, found {}", what, describe(*node_)));
}

Result<std::string> YamlCursor::text() const {
  if (node_->kind != YamlNode::Kind::kScalar || is_null()) return expected("a text");
  return node_->text;
}

Result<std::int64_t> YamlCursor::integer() const {
  const YamlValue value = node_->kind == YamlNode::Kind::kScalar ? to_value(*node_) : YamlValue();
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return *number;
  return expected("an integer");
}

Result<double> YamlCursor::number() const {
  const YamlValue value = node_->kind == YamlNode::Kind::kScalar ? to_value(*node_) : YamlValue();
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return expected("a number");
}

Result<std::vector<std::string>> YamlCursor::texts() const {
  std::vector<std::string> list;
  if (!is_list()) {
    LEAPP_ASSIGN_OR_RETURN(std::string one, text());
    list.push_back(std::move(one));
    return list;
  }
  for (std::size_t i = 0; i < size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(std::string one, at(i).text());
    list.push_back(std::move(one));
  }
  return list;
}

YamlCursor YamlCursor::at(std::size_t i) const {
  if (is_list()) return {node_->items[i], fmt::format("{}[{}]", path_, i)};
  // A name that would be misread between dots is quoted.
  const bool simple = is_utf8(key(i)) && key(i).find_first_of("./[]") == std::string::npos;
  if (simple || path_.empty()) return {node_->items[i], path_.empty() ? key(i) : path_ + "." + key(i)};
  return {node_->items[i], fmt::format("{}[{}]", path_, key(i))};
}

std::optional<YamlCursor> YamlCursor::find(std::string_view name) const {
  const auto found = std::find(node_->keys.begin(), node_->keys.end(), name);
  if (found == node_->keys.end()) return std::nullopt;
  return at(static_cast<std::size_t>(found - node_->keys.begin()));
}

Result<YamlCursor> YamlCursor::get(std::string_view name) const {
  if (!is_map()) return expected("a map");
  if (const auto value = find(name)) return *value;
  return error(fmt::format("expected a key {}, found none", quote(name)));
}

Status YamlCursor::only(std::initializer_list<std::string_view> known) const {
  if (!is_map()) return expected("a map");
  for (std::size_t i = 0; i < size(); ++i) {
    if (std::find(known.begin(), known.end(), key(i)) != known.end()) continue;
    return at(i).error(fmt::format("unknown key; known here are {}", join(known, ", ")));
  }
  return {};
}

}  // namespace leapp::bundle
