// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Traces without a program: contents, constants and memory that are written down instead of being tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/recorder/memory.h"
#include "capture/trace/evaluate.h"
#include "capture/trace/trace.h"
#include "graph/graph.h"

namespace leapp::capture {

class LiteralContent : public Content {
 public:
  explicit LiteralContent(graph::Constant constant) : constant_(std::move(constant)) {}

  [[nodiscard]] const graph::Constant& constant() const { return constant_; }
  [[nodiscard]] ValueType type() const override;
  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] std::string text() const override;

 private:
  graph::Constant constant_;
};

struct LiteralCell : ConstantCell {
  graph::Constant constant;
  std::size_t holders = 2;  ///< tensors that have its memory: this one and, usually, the program's

  [[nodiscard]] ValueType type() const override;
  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] ContentPtr copy() const override;
  [[nodiscard]] std::optional<graph::Constant> exported() const override { return constant; }
  [[nodiscard]] bool is_same_memory(const ConstantCell& other) const override;
  [[nodiscard]] const void* storage() const override { return this; }
  [[nodiscard]] std::size_t storage_holders() const override { return holders; }
};

/// Memory as one call leaves it.
struct MemoryState {
  std::vector<Memory::Layer> layers;
  std::vector<Geometry> writes;
  std::vector<Geometry> inputs;
  bool alive = true;
};

class LiteralMemory : public Memory {
 public:
  /// `before`: what it holds before any node wrote to it, and how a tensor that is all of it lies there.
  LiteralMemory(std::string name, graph::Constant before);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const graph::Constant& before() const { return before_; }
  void set(const MemoryState& state);

  [[nodiscard]] bool alive() override { return alive_; }
  [[nodiscard]] ContentPtr content_before(const Geometry& place) const override;

 private:
  std::shared_ptr<ConstantCell> cell_before(at::ScalarType dtype, std::int64_t count) override;

  std::string name_;
  graph::Constant before_;
  bool alive_ = true;
};

/// What operators make of contents is not computed: equal operators on equal contents are equal.
class LiteralEvaluator : public ConstantEvaluator {
 public:
  [[nodiscard]] ContentPtr value_of(const ValuePtr& value) override;
};

[[nodiscard]] graph::TensorType to_graph_type(const ValueType& type);
[[nodiscard]] ValueType to_value_type(const graph::TensorType& type);

/// Row-major, from byte 0 on.
[[nodiscard]] Geometry dense_geometry(const ValueType& type);

}  // namespace leapp::capture
