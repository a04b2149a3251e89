// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/torchscript/emitter.h"

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import.h>

#include <exception>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "emit/torchscript/module_builder.h"
#include "torch_types/failure.h"

namespace leapp::emit {
namespace {

namespace jit = torch::jit;

std::string save(const jit::Module& module) {
  std::ostringstream stream;
  module.save(stream);
  return std::move(stream).str();
}

// Whether two overloads of one operator (under any of its names) are the same function of these arguments: they differ
// at most in which type an optional has that is None.
bool same_function(const c10::FunctionSchema& meant, const jit::Node& found) {
  const c10::FunctionSchema& schema = found.schema();
  if (schema.arguments().size() != meant.arguments().size()) return false;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& here = schema.arguments()[i];
    const c10::Argument& there = meant.arguments()[i];
    if (*here.type() == *there.type()) continue;
    const bool optional =
        here.type()->kind() == c10::TypeKind::OptionalType && there.type()->kind() == c10::TypeKind::OptionalType;
    if (!optional || here.name() != there.name() || !found.input(i)->mustBeNone()) return false;
  }
  return true;
}

bool is_as_meant(const ScriptCall& meant, const jit::Node& found) {
  if (meant.schema == nullptr) return found.kind() == meant.kind;
  const c10::FunctionSchema* schema = found.maybeSchema();
  if (schema == nullptr || schema == meant.schema) return schema != nullptr;
  return found.kind() == meant.kind && same_function(*meant.schema, found);
}

std::string name_of(const jit::Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema == nullptr ? node.kind().toQualString() : c10::toString(schema->operator_name());
}

// Calls that load as something else. A file holds source text: overloads are chosen anew by who loads it.
struct Difference {
  std::vector<const graph::Node*> nodes;
  std::string message;      // about the first
  bool unreadable = false;  // the file does not load at all; no node is to blame more than others
};

Difference compare(const BuiltModule& built, const jit::Module& loaded) {
  Difference difference;
  const auto note = [&](const ScriptCall& call, const std::string& message) {
    if (difference.nodes.empty()) difference.message = message;
    difference.nodes.push_back(call.node);
  };
  auto call = built.calls.begin();
  const auto code = loaded.get_method("forward").graph();
  for (const jit::Node* node : operators_of(*code)) {
    if (call == built.calls.end()) {
      TORCH_CHECK(!built.calls.empty(), "loads with ", name_of(*node));
      note(built.calls.back(), "loads followed by " + name_of(*node));
      break;
    }
    if (!is_as_meant(*call, *node)) note(*call, "loads as " + name_of(*node));
    ++call;
  }
  for (; call != built.calls.end(); ++call) note(*call, "is gone when loaded");
  return difference;
}

Difference reload(const BuiltModule& built) {
  std::istringstream stream(save(built.module));
  std::optional<jit::Module> loaded;
  try {
    loaded = jit::load(stream, std::nullopt, /*load_debug_files=*/false);
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;
    Difference difference{{}, reason(error), /*unreadable=*/true};
    for (const ScriptCall& call : built.calls) difference.nodes.push_back(call.node);
    return difference;
  }
  return compare(built, *loaded);
}

// Makes sure that a reader of the file finds the overloads that were meant; says in `options` how to write it so.
void settle_overloads(const graph::Graph& graph, BuildOptions& options) {
  for (int attempt = 0;; ++attempt) {
    const BuiltModule built = build_module(graph, options);
    const Difference difference = reload(built);
    if (difference.nodes.empty() && !difference.unreadable) return;
    if (attempt == 2 && difference.unreadable) {
      throw std::runtime_error("TorchScript cannot read what it wrote: " + difference.message);
    }
    if (attempt == 2) throw NodeError(*difference.nodes.front(), difference.message);
    options.typed.insert(difference.nodes.begin(), difference.nodes.end());
  }
}

}  // namespace

Status emit_torchscript(const graph::Graph& graph, const TorchscriptOptions& options, const ByteSink& sink) try {
  if (graph.outputs().empty()) return invalid_argument("graph '" + graph.name() + "': expected at least one output");
  BuildOptions build{.with_tensors = false, .source_lines = false, .typed = {}};
  settle_overloads(graph, build);
  build.with_tensors = true;
  build.source_lines = options.source_lines;
  Status written;
  const auto write = [&](const void* bytes, std::size_t size) {
    if (written.ok()) written = sink({static_cast<const std::byte*>(bytes), size});
    return size;
  };
  jit::ExportModule(build_module(graph, build).module, write);
  return written;
} catch (const NodeError& error) {
  return unimplemented(error.what());
} catch (const std::exception& error) {
  return failure_status(error, [&] { return "graph '" + graph.name() + "': " + reason(error); });
}

Result<std::string> emit_torchscript(const graph::Graph& graph, const TorchscriptOptions& options) {
  std::string text;
  LEAPP_RETURN_IF_ERROR(emit_torchscript(graph, options, [&](std::span<const std::byte> bytes) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status();
  }));
  return text;
}

}  // namespace leapp::emit
