// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "graph/graph.h"

namespace leapp::graph {

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

std::size_t Constant::byte_size() const {
  return static_cast<std::size_t>(element_count(type.shape)) * dtype_size(type.dtype);
}

std::span<const std::byte> Constant::bytes() const {
  if (data == nullptr) return {};
  return {static_cast<const std::byte*>(data.get()), byte_size()};
}

bool Constant::same_content(const Constant& other) const {
  if (type != other.type) return false;
  if (data == other.data) return true;
  const auto mine = bytes();
  const auto theirs = other.bytes();
  return mine.size() == theirs.size() && (mine.empty() || std::memcmp(mine.data(), theirs.data(), mine.size()) == 0);
}

const Attribute* Node::find(std::string_view name) const {
  for (const Argument& argument : arguments_) {
    if (argument.name == name) return &argument.value;
  }
  return nullptr;
}

std::string Node::qualified_name() const { return overload_.empty() ? op_ : op_ + "." + overload_; }

std::vector<Value*> Node::inputs() const {
  std::vector<Value*> values;
  for (const Argument& argument : arguments_) {
    if (const auto* single = std::get_if<Value*>(&argument.value)) {
      if (*single != nullptr) values.push_back(*single);
    } else if (const auto* list = std::get_if<std::vector<Value*>>(&argument.value)) {
      for (Value* value : *list) {
        if (value != nullptr) values.push_back(value);
      }
    }
  }
  return values;
}

}  // namespace leapp::graph
