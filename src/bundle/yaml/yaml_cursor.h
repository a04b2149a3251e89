// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/yaml/yaml_tree.h"
#include "leapp/base/status.h"

namespace leapp::bundle {

/// A value of a YAML file and the way to it, for messages. The tree must outlive it.
class YamlCursor {
 public:
  YamlCursor(const YamlNode& node, std::string path) : node_(&node), path_(std::move(path)) {}

  [[nodiscard]] const YamlNode& node() const { return *node_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_null() const { return node_->is_null(); }
  [[nodiscard]] bool is_list() const { return node_->kind == YamlNode::Kind::kList; }
  [[nodiscard]] bool is_map() const { return node_->kind == YamlNode::Kind::kMap; }

  /// "line 12: models.policy.inputs[0].dtype: <message>".
  [[nodiscard]] Status error(std::string_view message) const;
  /// "... expected <what>, found <what is here>".
  [[nodiscard]] Status expected(std::string_view what) const;

  /// The text of a scalar that is not null.
  [[nodiscard]] Result<std::string> text() const;
  [[nodiscard]] Result<std::int64_t> integer() const;
  [[nodiscard]] Result<double> number() const;
  /// One text, or a list of them.
  [[nodiscard]] Result<std::vector<std::string>> texts() const;

  /// REQUIRES: is_list() or is_map(), i < size().
  [[nodiscard]] std::size_t size() const { return node_->items.size(); }
  [[nodiscard]] YamlCursor at(std::size_t i) const;
  [[nodiscard]] const std::string& key(std::size_t i) const { return node_->keys[i]; }

  /// The value under `name`; nothing when the map has none.
  [[nodiscard]] std::optional<YamlCursor> find(std::string_view name) const;
  /// The same; an error when there is none.
  [[nodiscard]] Result<YamlCursor> get(std::string_view name) const;
  /// An error for what is no map, and for a key that is not among `known`.
  [[nodiscard]] Status only(std::initializer_list<std::string_view> known) const;

 private:
  const YamlNode* node_;
  std::string path_;
};

}  // namespace leapp::bundle
