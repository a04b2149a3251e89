// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session.h"

#include <ATen/ops/alias.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <unordered_set>
#include <utility>

#include "capture/arguments.h"
#include "capture/checks.h"
#include "capture/constant_outputs.h"
#include "capture/hook.h"
#include "capture/op_info.h"
#include "capture/promote.h"
#include "capture/slice.h"

namespace leapp::capture {
namespace {

// An output that reached a value unchanged, or through operators (glue).
struct Path {
  ValuePtr published;
  std::string op;  // empty: unchanged
  LocationId location = 0;
};

Path path_to(const ValuePtr& value) {
  if (!value) return {};
  switch (value->kind) {
    case TracedKind::kPublished:
      return {value, "", 0};
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
    Path found;
    for_each_operand(*op, [&](const ValuePtr& operand) {
      if (operand->kind == TracedKind::kResult) return pending.push_back(operand->op.get());
      if (Path path = path_to(operand); path.published && !found.published) found = std::move(path);
    });
    if (found.published) return {found.published, op->info->qualified_name(), op->location};
  }
  return {};
}

}  // namespace

Session::Session(Recording recording, std::shared_ptr<FrontEnd> front_end)
    : recording_(std::move(recording)), front_end_(std::move(front_end)) {
  recorder_ =
      std::make_shared<Recorder>(front_end_, [log = recording_.log](const std::string& text) { log->warning(text); });
  install_hook(recorder_);
}

Session::~Session() {
  if (recorder_) remove_hook();
}

NodeRecord* Session::find(const std::string& node) const {
  const auto found = std::find_if(recording_.nodes.begin(), recording_.nodes.end(),
                                  [&](const auto& item) { return item->name == node; });
  return found == recording_.nodes.end() ? nullptr : found->get();
}

Status Session::check_ports(const std::string& node, const char* direction, const PortTensors& tensors) const {
  std::set<std::string> seen;
  for (const auto& [name, tensor, semantics] : tensors) {
    LEAPP_RETURN_IF_ERROR(check_port_name(node, direction, name));
    if (!seen.insert(name).second) {
      return invalid_argument(
          fmt::format("node '{}': two {}s are called '{}'; names must be unique", node, direction, name));
    }
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, direction, name, tensor));
  }
  return {};
}

Session::OpenCall& Session::open(const std::string& node) {
  auto [position, added] = open_.try_emplace(node);
  if (added) {
    if (closed_in_pass_.contains(node)) {
      ++pass_;
      closed_in_pass_.clear();
    }
    position->second.activation = recorder_->open(node);
    recording_.call_passes[node].push_back(pass_);
  }
  return position->second;
}

void Session::report_glue(const std::string& node, const std::string& port, const Origin& published,
                          const std::string& op, LocationId where) {
  const std::string text = fmt::format(
      "{}{} stands between {}/{} and {}/{} but in no node: the exported pipeline has no edge there. Move it into a "
      "node",
      line_prefix(where), op, published.node, published.port, node, port);
  if (published.pass != pass_) return recording_.log->info(text);
  recording_.log->warning(text);
  const std::string source = published.node + "/" + published.port;
  const bool known = std::any_of(recording_.notes.begin(), recording_.notes.end(), [&](const Note& note) {
    return note.node == node && note.port == port && note.source == source && note.location == where;
  });
  if (known) return;
  recording_.notes.push_back(
      {.kind = Note::Kind::kGlue, .node = node, .port = port, .source = source, .op = op, .location = where});
}

std::optional<Source> Session::source_of(const std::string& node, const std::string& port, const at::Tensor& tensor) {
  const ActivationId own = open_.at(node).activation;
  const ValuePtr value = recorder_->table().find(tensor, own);
  // What the node itself has computed ends here; where it came from is no matter.
  if (value && value->owner == own && value->kind != TracedKind::kInput) return std::nullopt;
  const Path path = path_to(value);
  if (!path.published) return std::nullopt;
  const Origin& published = *path.published->origin;
  if (!path.op.empty()) {
    report_glue(node, port, published, path.op, path.location);
    return std::nullopt;
  }
  // Memory that NumPy or another library wrote to since is not that output any more.
  if (content_hash(tensor) != published.content_hash) return std::nullopt;
  if (pass_ - published.pass > 1) {
    recording_.log->warning(fmt::format(
        "input '{}' of node '{}' holds {}/{} of {} passes ago. An exported edge is at most one pass late: it "
        "gets none; keep older values as state of the node",
        port, node, published.node, published.port, pass_ - published.pass));
    return std::nullopt;
  }
  return Source{published.node, published.port, published.pass != pass_};
}

Status Session::check_depends(const std::string& node, const PortTensor& output) {
  const ActivationId activation = open_.at(node).activation;
  const ValuePtr value = recorder_->table().find(output.tensor, activation);
  // What depends on no input may be state: later calls tell (constant_outputs.h).
  if (!value || value->owner == 0 || value->owner == activation) return {};
  return failed_precondition(fmt::format("output '{}' of node '{}': the tensor is a value of node '{}'", output.name,
                                         node, recorder_->name_of(value->owner)));
}

Status Session::check_static(const std::string& node, const PortTensors& static_outputs) {
  for (const PortTensor& output : static_outputs) {
    const ValuePtr value = recorder_->table().find(output.tensor);
    const bool callers_own = value && value->kind == TracedKind::kInput && !recorder_->table().find_own(output.tensor);
    if (!value || value->owner == 0 || callers_own) continue;
    return invalid_argument(
        fmt::format("static output '{}' of node '{}': the tensor is computed in node '{}'; a static output is a tensor "
                    "that depends on no input. Announce it among the other outputs",
                    output.name, node, recorder_->name_of(value->owner)));
  }
  return {};
}

Status Session::check_outputs(const std::string& node, const PortTensors& tensors, const PortTensors& static_outputs) {
  LEAPP_RETURN_IF_ERROR(check_node_name(node));
  if (!open_.contains(node)) {
    return failed_precondition(
        fmt::format("output_tensors: node '{}' is not open; call input_tensors('{}', ...) first", node, node));
  }
  if (tensors.empty() && static_outputs.empty())
    return invalid_argument(fmt::format("node '{}': output_tensors needs at least one output", node));
  const PortTensors& updates = open_.at(node).updates;
  PortTensors all = tensors;
  all.insert(all.end(), updates.begin(), updates.end());
  all.insert(all.end(), static_outputs.begin(), static_outputs.end());
  LEAPP_RETURN_IF_ERROR(check_ports(node, "output", all));
  for (const PortTensor& output : tensors) LEAPP_RETURN_IF_ERROR(check_depends(node, output));
  LEAPP_RETURN_IF_ERROR(check_static(node, static_outputs));
  LEAPP_RETURN_IF_ERROR(check_reentry(node, all));
  return check_mixed_inputs(node, all);
}

void Session::name_tensor(const at::Tensor& tensor, const std::string& name, bool parameter) {
  const auto guard = recorder_->lock();
  recorder_->table().set_name(tensor, name, parameter);
}

void Session::note_default(const std::string& node, const at::Tensor& tensor) {
  const LocationId where = front_end_->location();
  const auto guard = recorder_->lock();
  const auto open = open_.find(node);
  if (open == open_.end()) return;
  recorder_->builder().set_current(nullptr, where);
  const ValuePtr value = recorder_->table().operand(tensor, open->second.activation);
  if (value->kind == TracedKind::kConstant) value->cell->given = true;
}

at::Tensor Session::view_at(const IndexedView& wanted) {
  const at::Tensor& base = wanted.base;
  if (base.dim() == 0 || wanted.dim < -base.dim() || wanted.dim >= base.dim()) return {};
  const std::int64_t dim = wanted.dim < 0 ? wanted.dim + base.dim() : wanted.dim;
  const LocationId where = front_end_->location();
  std::optional<std::int64_t> length = wanted.length;
  if (wanted.stop.defined()) {
    const auto guard = recorder_->lock();
    recorder_->builder().set_current(nullptr, where);
    length = distance(recorder_->table().operand(wanted.start), recorder_->table().operand(wanted.stop));
    if (!length) return {};
  }
  const Unrecorded quiet;
  const std::int64_t size = base.size(dim);
  const auto number = wanted.start.item<std::int64_t>();
  const std::int64_t first = number < 0 ? number + size : number;
  const std::int64_t end = first + length.value_or(1);
  // A slice that ends at 0 begins nowhere; one with other ends than these has another length.
  if (first < 0 || first >= size || end > size || end <= first || (wanted.stop.defined() && number < 0 && end == size))
    return {};
  const at::Tensor view = length ? base.narrow(dim, first, *length) : base.select(dim, first);
  const auto guard = recorder_->lock();
  if (open_.empty()) return {};
  recorder_->builder().set_current(nullptr, where);
  const ActivationId preferred = open_.size() == 1 ? open_.begin()->second.activation : 0;
  const ValuePtr index = recorder_->table().operand(wanted.start, preferred);
  recorder_->table().bind_dynamic(view, base, {dim, index, length});
  return view;
}

void Session::release(const at::Tensor& tensor) {
  const auto guard = recorder_->lock();
  recorder_->table().release(tensor);
}

void Session::rewritten(const at::Tensor& tensor) {
  recorder_->note_escape(tensor, "a Python function that writes to it");
  const auto guard = recorder_->lock();
  recorder_->table().overwrite_unknown(tensor);
}

void Session::copied(const at::Tensor& source, const at::Tensor& copy) {
  const auto guard = recorder_->lock();
  const ValuePtr value = recorder_->table().find(source);
  const bool same =
      value && copy.defined() && source.sizes() == copy.sizes() && source.scalar_type() == copy.scalar_type();
  if (same) recorder_->table().bind_content(copy, value);
}

void Session::note_escape(const at::Tensor& tensor, const std::string& how) { recorder_->note_escape(tensor, how); }

bool Session::is_live(const at::Tensor& tensor) {
  const auto guard = recorder_->lock();
  const ValuePtr value = recorder_->table().find_own(tensor);
  return value && value->owner != 0;
}

void Session::drop_open_calls() {
  std::vector<std::string> open;
  {
    const auto guard = recorder_->lock();
    for (const auto& [node, call] : open_) open.push_back(node);
  }
  for (const std::string& node : open) {
    abandon(node);
    if (const NodeRecord* known = find(node)) {
      recording_.log->info(
          fmt::format("stop: call {} of node '{}' is not finished and is dropped", known->calls, node));
    } else {
      recording_.log->warning(fmt::format(
          "stop: node '{}' was opened and never closed with output_tensors: it is not part of the graph", node));
    }
  }
}

void Session::end_recording(std::vector<KeptTensor>& left) {
  drop_open_calls();
  const auto guard = recorder_->lock();
  if (recording_.options.leaks != Leaks::kConstant) left = recorder_->table().kept_tensors();
}

void Session::report(const std::vector<KeptTensor>& left) {
  promote_leaks(recording_.nodes, recording_.options.leaks, *recording_.log);
  settle_constant_outputs(recording_.nodes, recording_.options, *recording_.log);
  report_unread_state(recording_.nodes, left, *front_end_, *recording_.log);
  if (recording_.options.leaks != Leaks::kConstant)
    report_changed_values(recording_.nodes, changed_values_, *recording_.log);
  name_divergences();
  for (const auto& node : recording_.nodes) {
    for (const PortRecord& input : node->inputs) {
      if (!input.state || (input.source && input.source->node == node->name)) continue;
      recording_.log->warning(fmt::format(
          "state '{}' of node '{}' was never updated with update_state: it is a plain input", input.name, node->name));
    }
    const Slice slice = slice_of(node->output_values);
    report_constants(node->name, slice, *recording_.log);
    seal_constants(slice);
    for (const Divergence& divergence : node->divergences) recording_.log->warning(divergence.text);
  }
}

Status Session::stop() {
  const auto recorder = recorder_;
  std::vector<KeptTensor> left;
  Status failed;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const std::exception& failure) {
      if (failed.ok()) failed = internal_error(fmt::format("stop: {}", failure.what()));
    }
  };
  attempt([&] { end_recording(left); });
  remove_hook();
  {
    const auto guard = recorder->lock();
    for (Note& note : recorder->escapes().take_notes()) recording_.notes.push_back(std::move(note));
  }
  recorder_.reset();
  heap_.reset();
  attempt([&] { report(left); });
  const Status pending = recorder->take_error();
  return pending.ok() ? failed : pending;
}

// While the program's variables are still there to be looked at.
void Session::name_divergences() {
  for (const auto& node : recording_.nodes) {
    for (Divergence& divergence : node->divergences) {
      if (!divergence.name.empty() || !divergence.now || divergence.now->kind != TracedKind::kConstant) continue;
      const ConstantCell& cell = *divergence.now->cell;
      divergence.name = cell.name.empty() && cell.by_reference ? front_end_->holder_name(cell.tensor) : cell.name;
    }
  }
}

namespace {

std::atomic<std::shared_ptr<Session>>& session_slot() {
  // Never destroyed: a constant may need Python to let go of it, which is gone by then.
  static auto* slot = new std::atomic<std::shared_ptr<Session>>();
  return *slot;
}

}  // namespace

std::shared_ptr<Session> current_session() { return session_slot().load(); }
void set_current_session(std::shared_ptr<Session> session) { session_slot().store(std::move(session)); }

}  // namespace leapp::capture
