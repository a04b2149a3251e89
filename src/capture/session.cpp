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
#include "capture/hook.h"
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

Session::Session(std::string name, std::string folder, StartOptions options, std::unique_ptr<Logger> log)
    : name_(std::move(name)), folder_(std::move(folder)), options_(std::move(options)), log_(std::move(log)) {
  recorder_ = std::make_shared<Recorder>([log = log_](const std::string& text) { log->warning(text); });
  install_hook(recorder_);
}

Session::~Session() {
  if (recorder_) remove_hook();
}

NodeRecord* Session::find(const std::string& node) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& item) { return item->name == node; });
  return found == nodes_.end() ? nullptr : found->get();
}

Status Session::check_ports(const std::string& node, const char* direction, const PortTensors& tensors) const {
  std::set<std::string> seen;
  const auto open = open_.find(node);
  if (open != open_.end() && std::string(direction) == "input") {
    for (const PortRecord& port : open->second.inputs) seen.insert(port.name);
  }
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

// A value that is live somewhere already cannot become an input: the node would be cut in two without a word.
Status Session::check_source(const std::string& node, const std::string& port, const at::Tensor& tensor) {
  const ValuePtr value = recorder_->table().find(tensor);
  const bool callers_own = value && value->kind == TracedKind::kInput && !recorder_->table().find_own(tensor);
  if (!value || value->owner == 0 || callers_own) return {};
  const std::string& owner = recorder_->name_of(value->owner);
  return failed_precondition(fmt::format(
      "input '{}' of node '{}': the tensor is a value of the open node '{}'; publish it with output_tensors first",
      port, node, owner));
}

Status Session::check_inputs(const std::string& node, const PortTensors& tensors) {
  LEAPP_RETURN_IF_ERROR(check_ports(node, "input", tensors));
  const NodeRecord* known = find(node);
  for (const auto& [name, tensor, semantics] : tensors) {
    LEAPP_RETURN_IF_ERROR(check_source(node, name, tensor));
    if (!known) continue;
    const auto port = std::find_if(known->inputs.begin(), known->inputs.end(),
                                   [&name = name](const PortRecord& item) { return item.name == name; });
    if (port == known->inputs.end()) {
      return invalid_argument(
          fmt::format("input '{}' of node '{}': the node's first call had no such input", name, node));
    }
    LEAPP_RETURN_IF_ERROR(check_same_type(node, "input", port->name, port->type, tensor));
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
    call_passes_[node].push_back(pass_);
  }
  return position->second;
}

void Session::report_glue(const std::string& node, const std::string& port, const Origin& published,
                          const std::string& op, LocationId where) {
  const std::string text = fmt::format(
      "{}{} stands between {}/{} and {}/{} but in no node: the exported pipeline has no edge there. Move it into a "
      "node",
      line_prefix(where), op, published.node, published.port, node, port);
  if (published.pass != pass_) return log_->info(text);
  log_->warning(text);
  const std::string source = published.node + "/" + published.port;
  const bool known = std::any_of(notes_.begin(), notes_.end(), [&](const Note& note) {
    return note.node == node && note.port == port && note.source == source && note.location == where;
  });
  if (known) return;
  notes_.push_back(
      {.kind = Note::Kind::kGlue, .node = node, .port = port, .source = source, .op = op, .location = where});
}

std::optional<Source> Session::source_of(const std::string& node, const std::string& port, const at::Tensor& tensor) {
  const Path path = path_to(recorder_->table().find(tensor));
  if (!path.published) return std::nullopt;
  const Origin& published = *path.published->origin;
  if (!path.op.empty()) {
    report_glue(node, port, published, path.op, path.location);
    return std::nullopt;
  }
  // Memory that NumPy or another library wrote to since is not that output any more.
  if (content_hash(tensor) != published.content_hash) return std::nullopt;
  if (pass_ - published.pass > 1) {
    log_->warning(fmt::format(
        "input '{}' of node '{}' holds {}/{} of {} passes ago. An exported edge is at most one pass late: it "
        "gets none; keep older values as state of the node",
        port, node, published.node, published.port, pass_ - published.pass));
    return std::nullopt;
  }
  return Source{published.node, published.port, published.pass != pass_};
}

Result<std::vector<at::Tensor>> Session::input_tensors(const std::string& node, const PortTensors& tensors) {
  return add_inputs(node, tensors, false);
}

Result<std::vector<at::Tensor>> Session::add_inputs(const std::string& node, const PortTensors& tensors, bool state) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  LEAPP_RETURN_IF_ERROR(check_node_name(node));
  for (const PortTensor& port : tensors)
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "input", port.name, port.tensor));
  std::vector<at::Tensor> aliases;
  {
    const Unrecorded quiet;
    for (const PortTensor& port : tensors) aliases.push_back(at::alias(port.tensor));
  }
  const Watched watched = buffers_of_called_modules(node);
  std::vector<at::Tensor> released;
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(check_inputs(node, tensors));
  LEAPP_RETURN_IF_ERROR(bind_inputs(node, tensors, aliases, state));
  OpenCall& call = open_.at(node);
  for (const auto& [buffer, tensor] : watched) add_place(call, buffer, tensor, false);
  released = recorder_->table().take_released();
  return aliases;
}

Status Session::bind_inputs(const std::string& node, const PortTensors& tensors, const std::vector<at::Tensor>& aliases,
                            bool state) {
  const bool was_open = open_.contains(node);
  OpenCall& call = open(node);
  NodeRecord* known = find(node);
  std::vector<PortRecord> added;
  for (const auto& [name, tensor, semantics] : tensors) {
    PortRecord port{name, type_of(tensor), source_of(node, name, tensor), semantics, state};
    if (known) {
      auto& first = *std::find_if(known->inputs.begin(), known->inputs.end(),
                                  [&name = name](const PortRecord& item) { return item.name == name; });
      const Status same = merge_source(node, first, port.source);
      if (!same.ok()) {
        if (!was_open) {
          recorder_->close(call.activation, pass_);
          open_.erase(node);
          call_passes_[node].pop_back();
        }
        return same;
      }
    }
    added.push_back(std::move(port));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    ValuePtr source = recorder_->table().find(tensors[i].tensor);
    if (source && source->kind == TracedKind::kInput) source = source->origin->source;
    const ValuePtr value =
        make_value(TracedKind::kInput, added[i].type, {.port = added[i].name, .source = std::move(source)});
    value->owner = call.activation;
    call.values.push_back(dense_copy(tensors[i].tensor));
    recorder_->table().forget(tensors[i].tensor);
    recorder_->table().bind_content(aliases[i], value);
    call.inputs.push_back(std::move(added[i]));
  }
  return {};
}

Status Session::check_reentry(const std::string& node, const PortTensors& outputs) const {
  const NodeRecord* known = find(node);
  if (!known) return {};
  const OpenCall& call = open_.at(node);
  for (const PortRecord& port : known->inputs) {
    const bool given = std::any_of(call.inputs.begin(), call.inputs.end(),
                                   [&](const PortRecord& item) { return item.name == port.name; });
    if (!given) {
      return invalid_argument(
          fmt::format("node '{}': call {} has no input '{}', which the first call had", node, known->calls, port.name));
    }
  }
  if (known->outputs.size() != outputs.size()) {
    std::string missing;
    for (const PortRecord& port : known->outputs) {
      const bool given =
          std::any_of(outputs.begin(), outputs.end(), [&](const PortTensor& item) { return item.name == port.name; });
      if (!given) missing += (missing.empty() ? "; missing: '" : ", '") + port.name + "'";
    }
    return invalid_argument(fmt::format("node '{}': call {} has {} outputs, the first call had {}{}", node,
                                        known->calls, outputs.size(), known->outputs.size(), missing));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PortRecord& port = known->outputs[i];
    if (port.name != outputs[i].name) {
      return invalid_argument(fmt::format("node '{}': output {} of call {} is called '{}', in the first call '{}'",
                                          node, i, known->calls, outputs[i].name, port.name));
    }
    LEAPP_RETURN_IF_ERROR(check_same_type(node, "output", port.name, port.type, outputs[i].tensor));
  }
  return {};
}

Status Session::check_depends(const std::string& node, const PortTensor& output) {
  const ActivationId activation = open_.at(node).activation;
  const ValuePtr value = recorder_->table().find(output.tensor, activation);
  const ActivationId owner = value ? value->owner : 0;
  if (owner == activation) return {};
  if (owner != 0) {
    return failed_precondition(fmt::format("output '{}' of node '{}': the tensor is a value of node '{}'", output.name,
                                           node, recorder_->name_of(owner)));
  }
  return invalid_argument(fmt::format(
      "output '{}' of node '{}': the tensor ({}) does not depend on the node's inputs; a constant output is "
      "announced with static_outputs",
      output.name, node, describe(output.tensor)));
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
  return check_reentry(node, all);
}

void Session::name_tensor(const at::Tensor& tensor, const std::string& name, bool parameter) {
  const auto guard = recorder_->lock();
  recorder_->table().set_name(tensor, name, parameter);
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

Status Session::stop() {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  if (!open_.empty()) {
    std::string names;
    for (const auto& [node, call] : open_) names += (names.empty() ? "'" : ", '") + node + "'";
    return failed_precondition(fmt::format("stop: node {} is still open; close it with output_tensors", names));
  }
  const auto recorder = recorder_;
  std::vector<Leaving> left;
  if (options_.leaks != Leaks::kConstant) {
    const auto guard = recorder->lock();
    left = recorder->table().leavings();
  }
  remove_hook();
  {
    const auto guard = recorder->lock();
    for (Note& note : recorder->escapes().take_notes()) notes_.push_back(std::move(note));
  }
  recorder_.reset();
  heap_.reset();
  promote_leaks(nodes_, options_.leaks, *log_);
  report_leavings(nodes_, left, *log_);
  if (options_.leaks != Leaks::kConstant) report_changed_values(nodes_, changed_values_, *log_);
  name_divergences();
  for (const auto& node : nodes_) {
    for (const PortRecord& input : node->inputs) {
      if (!input.state || (input.source && input.source->node == node->name)) continue;
      log_->warning(fmt::format("state '{}' of node '{}' was never updated with update_state: it is a plain input",
                                input.name, node->name));
    }
    const Slice slice = slice_of(node->output_values);
    report_constants(node->name, slice, *log_);
    seal_constants(slice);
    for (const Divergence& divergence : node->divergences) log_->warning(divergence.text);
  }
  return {};
}

// While the program's variables are still there to be looked at.
void Session::name_divergences() {
  for (const auto& node : nodes_) {
    for (Divergence& divergence : node->divergences) {
      if (!divergence.name.empty() || !divergence.now || divergence.now->kind != TracedKind::kConstant) continue;
      const ConstantCell& cell = *divergence.now->cell;
      divergence.name = cell.name.empty() && cell.by_reference ? holder_name(cell.tensor) : cell.name;
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
