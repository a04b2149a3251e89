// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "leapp/base/status.h"

/// Graphviz as a library. One thread at a time: it has globals.
namespace leapp::draw {

enum class LayoutEngine {
  kDot,     ///< ranks, order, splines
  kPlaced,  ///< everything stands where its `pos` says
};

/// A graph in DOT's language, laid out.
class GraphvizGraph {
 public:
  static Result<GraphvizGraph> layout(const std::string& dot, LayoutEngine engine);
  ~GraphvizGraph();
  GraphvizGraph(GraphvizGraph&&) noexcept;
  GraphvizGraph& operator=(GraphvizGraph&&) noexcept;

  /// "json", "png": whatever Graphviz has a plugin for.
  Result<std::string> render(const char* format) const;

 private:
  struct Impl;
  explicit GraphvizGraph(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp::draw
