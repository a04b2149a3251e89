// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/torchscript/emitter.h"

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/serialization/import.h>

#include <exception>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "emit/torchscript/module_builder.h"

namespace leapp::emit {
namespace {

namespace jit = torch::jit;

std::string save(const jit::Module& module) {
  std::ostringstream stream;
  module.save(stream);
  return std::move(stream).str();
}

// The operators a loaded module calls, in order. A file holds source text: overloads are chosen anew by who loads it.
std::vector<c10::OperatorName> loaded_calls(const std::string& bytes) {
  std::istringstream stream(bytes);
  const jit::Module module = jit::load(stream);
  std::vector<c10::OperatorName> names;
  for (const jit::Node* node : module.get_method("forward").graph()->nodes()) {
    if (node->kind().is_prim() || node->kind().is_attr()) continue;
    const c10::FunctionSchema* schema = node->maybeSchema();
    names.push_back(schema == nullptr ? c10::OperatorName(node->kind().toQualString(), "") : schema->operator_name());
  }
  return names;
}

struct Difference {
  std::vector<std::size_t> calls;
  std::string message;
};

// nullopt when the loaded module calls what was meant.
std::optional<Difference> compare(const BuiltModule& built, const std::string& bytes) {
  Difference difference;
  std::vector<c10::OperatorName> loaded;
  try {
    loaded = loaded_calls(bytes);
  } catch (const c10::Error& error) {
    difference.message = error.what_without_backtrace();
  } catch (const std::exception& error) {
    difference.message = error.what();
  }
  if (loaded.size() != built.calls.size()) {
    for (std::size_t i = 0; i < built.calls.size(); ++i) difference.calls.push_back(i);
    return difference;
  }
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    if (loaded[i] == built.calls[i].name) continue;
    difference.calls.push_back(i);
    if (difference.message.empty()) difference.message = "loads as " + c10::toString(loaded[i]);
  }
  return difference.calls.empty() ? std::nullopt : std::make_optional(std::move(difference));
}

// Makes sure that a reader of the file finds the overloads that were meant; says in `options` how to write it so.
void settle_overloads(const graph::Graph& graph, BuildOptions& options) {
  for (int attempt = 0;; ++attempt) {
    const BuiltModule built = build_module(graph, options);
    const auto difference = compare(built, save(built.module));
    if (!difference) return;
    if (attempt == 2) throw NodeError(*built.calls[difference->calls.front()].node, difference->message);
    for (const std::size_t call : difference->calls) options.typed.insert(built.calls[call].node);
  }
}

}  // namespace

Result<std::string> emit_torchscript(const graph::Graph& graph, const TorchscriptOptions& options) try {
  if (graph.outputs().empty()) return invalid_argument("graph '" + graph.name() + "': expected at least one output");
  BuildOptions build{.with_tensors = false, .source_lines = options.source_lines, .typed = {}};
  settle_overloads(graph, build);
  build.with_tensors = true;
  return save(build_module(graph, build).module);
} catch (const NodeError& error) {
  return unimplemented(error.what());
} catch (const c10::Error& error) {
  return internal_error("graph '" + graph.name() + "': " + error.what_without_backtrace());
} catch (const std::exception& error) {
  return internal_error("graph '" + graph.name() + "': " + error.what());
}

}  // namespace leapp::emit
