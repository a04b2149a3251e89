// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/hook/op_info.h"

namespace leapp::capture {

SourcePath path_to(const ValuePtr& value) {
  if (!value) return {};
  switch (value->kind) {
    case TracedKind::kPublished:
      return {value};
    case TracedKind::kGlue:
      return {value->origin->source, value->origin->glue_op, value->origin->location};
    case TracedKind::kInput:
      return path_to(value->origin->source);
    case TracedKind::kConstant:
      return path_to(value->cell->provenance);
    case TracedKind::kResult:
      break;
    default:
      return {};
  }
  std::unordered_set<const TraceOp*> seen;
  std::vector<const TraceOp*> pending{value->op.get()};
  while (!pending.empty()) {
    const TraceOp* op = pending.back();
    pending.pop_back();
    if (!seen.insert(op).second) continue;
    SourcePath found;
    for_each_operand(*op, [&](const ValuePtr& operand) {
      if (operand->kind == TracedKind::kResult) return pending.push_back(operand->op.get());
      if (SourcePath path = path_to(operand); path.published && !found.published) found = std::move(path);
    });
    if (found.published) return {found.published, op->info->qualified_name(), op->location};
  }
  return {};
}

std::optional<Source> SourceFinder::find(const std::string& node, const std::string& port, const ValuePtr& value,
                                         const std::function<std::uint64_t()>& hash) {
  const SourcePath path = path_to(value);
  if (!path.published) return std::nullopt;
  const Origin& published = *path.published->origin;
  if (!path.op.empty()) {
    report_glue(node, port, path);
    return std::nullopt;
  }
  // Memory that NumPy or another library wrote to since is not that output any more.
  if (hash() != published.content_hash) return std::nullopt;
  if (pass_ - published.pass > 1) {
    recording_.log->warning(fmt::format(
        "input '{}' of node '{}' holds {}/{} of {} passes ago. An exported edge is at most one pass late: it "
        "gets none; keep older values as state of the node",
        port, node, published.node, published.port, pass_ - published.pass));
    return std::nullopt;
  }
  return Source{published.node, published.port, published.pass != pass_};
}

void SourceFinder::report_glue(const std::string& node, const std::string& port, const SourcePath& path) {
  const Origin& published = *path.published->origin;
  const std::string text = fmt::format(
      "{}{} stands between {}/{} and {}/{} but in no node: the exported pipeline has no edge there. Move it into a "
      "node",
      line_prefix(path.location), path.op, published.node, published.port, node, port);
  if (published.pass != pass_) return recording_.log->info(text);
  recording_.log->warning(text);
  const std::string source = published.node + "/" + published.port;
  std::vector<Note>& notes = recording_.notes;
  const bool known = std::any_of(notes.begin(), notes.end(), [&](const Note& note) {
    return note.node == node && note.port == port && note.source == source && note.location == path.location;
  });
  if (known) return;
  notes.push_back({.kind = Note::Kind::kGlue,
                   .node = node,
                   .port = port,
                   .source = source,
                   .op = path.op,
                   .location = path.location});
}

}  // namespace leapp::capture
