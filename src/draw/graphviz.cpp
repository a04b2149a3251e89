// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/graphviz.h"

#include <fmt/format.h>
#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>

#include <utility>

namespace leapp::draw {
namespace {

/// Never freed: a second context would read its plugins' list from disk again.
GVC_t* context() {
  static GVC_t* const context = gvContext();
  return context;
}

/// What Graphviz complained about, for as long as it lives; otherwise that would go to stderr.
class Complaints {
 public:
  Complaints() : previous_(agseterrf(&Complaints::take)) { text_storage().clear(); }
  ~Complaints() { agseterrf(previous_); }
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  [[nodiscard]] std::string text() const {
    std::string text = text_storage();
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text.empty() ? "it does not say why" : text;
  }

 private:
  static std::string& text_storage() {
    static std::string text;
    return text;
  }
  static int take(char* message) {
    if (text_storage().size() < 2000) text_storage() += message;
    return 0;
  }

  agusererrf previous_;
};

}  // namespace

struct GraphvizGraph::Impl {
  Agraph_t* graph = nullptr;
  bool laid_out = false;

  ~Impl() {
    if (laid_out) gvFreeLayout(context(), graph);
    if (graph != nullptr) agclose(graph);
  }
};

GraphvizGraph::GraphvizGraph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GraphvizGraph::~GraphvizGraph() = default;
GraphvizGraph::GraphvizGraph(GraphvizGraph&&) noexcept = default;
GraphvizGraph& GraphvizGraph::operator=(GraphvizGraph&&) noexcept = default;

Result<GraphvizGraph> GraphvizGraph::layout(const std::string& dot, LayoutEngine engine) {
  if (context() == nullptr) return failed_precondition("Graphviz does not start");
  const Complaints complaints;
  auto impl = std::make_unique<Impl>();
  impl->graph = agmemread(dot.c_str());
  if (impl->graph == nullptr)
    return internal_error(fmt::format("Graphviz does not read our graph: {}", complaints.text()));
  if (gvLayout(context(), impl->graph, engine == LayoutEngine::kDot ? "dot" : "nop2") != 0) {
    return failed_precondition(fmt::format("Graphviz cannot lay out the graph: {}", complaints.text()));
  }
  impl->laid_out = true;
  return GraphvizGraph(std::move(impl));
}

Result<std::string> GraphvizGraph::render(const char* format) const {
  const Complaints complaints;
  char* data = nullptr;
  unsigned int length = 0;
  const int failed = gvRenderData(context(), impl_->graph, format, &data, &length);
  std::string bytes(data == nullptr ? "" : data, data == nullptr ? 0 : length);
  if (data != nullptr) gvFreeRenderData(data);
  if (failed != 0 || bytes.empty()) {
    return failed_precondition(fmt::format("Graphviz cannot write {}: {}", format, complaints.text()));
  }
  return bytes;
}

}  // namespace leapp::draw
