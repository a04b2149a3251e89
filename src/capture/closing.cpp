// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens when a node closes: the first call becomes the record, later ones are compared with it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/arguments.h"
#include "capture/constant_outputs.h"
#include "capture/session.h"

namespace leapp::capture {
namespace {

constexpr std::size_t kMaxDivergences = 8;
constexpr std::size_t kMaxBeyond = 32;  // samples of calls that differ, beyond max_cached_io
constexpr int kMaxAsked = 2;            // looking for a name that is not there takes Python 50 ms

// A copy: what the user does to the tensor later is no business of the model.
ValuePtr static_value(const at::Tensor& tensor) {
  auto cell = std::make_shared<ConstantCell>();
  cell->tensor = dense_copy(tensor);
  cell->by_reference = false;
  auto value = std::make_shared<TracedValue>();
  value->kind = TracedKind::kConstant;
  value->type = type_of(tensor);
  value->cell = std::move(cell);
  return value;
}

const Place* place_of(const Leak& leak, const std::vector<Place>& places) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const Place& place) {
    return leak.declared ? place.declared && place.name == leak.name
                         : leak.memory && place.memory == leak.memory && place.geometry == leak.place;
  });
  return found == places.end() ? nullptr : &*found;
}

}  // namespace

ValuePtr Session::computed_value(const at::Tensor& tensor, const OpenCall& call) {
  return set_apart(recorder_->table().operand(tensor, call.activation), recorder_->builder());
}

NodeRecord& Session::begin_record(const std::string& node, const OpenCall& call, const OutputOptions& options) {
  recording_.nodes.push_back(std::make_unique<NodeRecord>());
  NodeRecord& record = *recording_.nodes.back();
  record.name = node;
  record.inputs = call.inputs;
  record.options = options;
  record.first_pass = pass_;
  return record;
}

void Session::record_first(NodeRecord& record, const OpenCall& call, const CallOutputs& outputs) {
  for (std::size_t i = 0; i < outputs.ports.size(); ++i) {
    const auto& [name, tensor, semantics] = outputs.ports[i];
    const bool update = std::any_of(call.updates.begin(), call.updates.end(),
                                    [&name = name](const PortTensor& item) { return item.name == name; });
    record.outputs.push_back({name, type_of(tensor), std::nullopt, semantics, update});
    record.output_values.push_back(outputs.constant[i] ? static_value(tensor) : computed_value(tensor, call));
  }
  for (PortRecord& input : record.inputs) {
    const bool updated = input.state && std::any_of(call.updates.begin(), call.updates.end(),
                                                    [&](const PortTensor& item) { return item.name == input.name; });
    if (updated) input.source = Source{record.name, input.name, true};
  }
  LeakFinder finder(*recorder_, call.activation, pass_, call.places);
  finder.search(record.output_values);
  for (const auto& [value, location] : recorder_->numbers_of_constants()) {
    if (!finder.depends_on_state(value)) continue;
    recording_.log->warning(
        fmt::format("{}a number is read from a tensor that node '{}' changes. It is baked in as it was in the first "
                    "call; keep it a tensor to have it change",
                    line_prefix(location), record.name));
  }
  record.leaks = finder.take();
}

// In the order in which the states were declared.
void Session::sort_updates(OpenCall& call) {
  const auto position = [&](const PortTensor& update) {
    return std::find_if(call.inputs.begin(), call.inputs.end(),
                        [&](const PortRecord& input) { return input.name == update.name; });
  };
  std::sort(call.updates.begin(), call.updates.end(),
            [&](const PortTensor& a, const PortTensor& b) { return position(a) < position(b); });
}

Session::LaterCall Session::look_at(NodeRecord& record, const OpenCall& call, const CallOutputs& outputs) {
  LaterCall later;
  for (std::size_t i = 0; i < outputs.ports.size(); ++i) {
    const at::Tensor& tensor = outputs.ports[i].tensor;
    later.outputs.push_back(outputs.constant[i] ? static_value(tensor) : computed_value(tensor, call));
  }
  for (const Leak& leak : record.leaks) {
    const Place* place = place_of(leak, call.places);
    const ValuePtr update = place           ? end_value(*place, *recorder_, call.activation)
                            : leak.in_place ? end_value(*leak.memory, leak.place, *recorder_, call.activation)
                                            : nullptr;
    later.updates.push_back(update);
    later.reads.push_back(place           ? place->content
                          : leak.in_place ? dense_copy(leak.memory->before(leak.place))
                                          : at::Tensor());
  }
  return later;
}

bool Session::record_again(NodeRecord& record, const LaterCall& later, const Survivors& survivors) {
  Comparison comparison(record, record.calls, pass_);
  for (std::size_t i = 0; i < later.outputs.size(); ++i) {
    comparison.compare(fmt::format("output '{}' of node '{}'", record.outputs[i].name, record.name),
                       record.output_values[i], later.outputs[i]);
  }
  // Comparing may find more of them.
  for (std::size_t i = 0; i < record.leaks.size(); ++i) {
    const LeakSource source = record.leaks[i].source;
    const bool own = source.node == record.name && source.port.empty();
    const auto first = record.survivors.find(source.key);
    const auto now = survivors.find(source.key);
    const bool known = i < later.updates.size() && later.updates[i] && record.leaks[i].update;
    const std::string what = fmt::format("state '{}' of node '{}'", record.leaks[i].name, record.name);
    if (known) {
      comparison.compare(what, record.leaks[i].update, later.updates[i]);
    } else if (own && first != record.survivors.end() && now != survivors.end()) {
      comparison.compare(what, first->second, now->second);
    }
  }
  std::vector<Divergence> found = comparison.take();
  // Whether what differs matters is for the numbers to say.
  const bool keeps = keeps_sample(record) || !found.empty();
  for (std::size_t i = 0; keeps && i < record.leaks.size(); ++i) {
    Leak& leak = record.leaks[i];
    if (i < later.reads.size() && later.reads[i].defined()) leak.read[record.calls] = later.reads[i];
    for (const auto& [use, where] : leak.uses) {
      const auto read = comparison.reads().find(use);
      if (read == comparison.reads().end()) continue;
      if (!leak.memory || where == leak.place) leak.read.try_emplace(record.calls, constant_value(read->second));
    }
  }
  for (Divergence& divergence : found) {
    if (record.divergences.size() < kMaxDivergences) record.divergences.push_back(std::move(divergence));
  }
  return keeps;
}

bool Session::keeps_sample(const NodeRecord& record) const {
  return record.calls <= static_cast<std::size_t>(std::max(0, recording_.options.max_cached_io));
}

void Session::keep_sample(NodeRecord& record, const OpenCall& call, const PortTensors& outputs) {
  Sample sample;
  sample.call = record.calls;
  // Of many calls that differ, the first ones and the last.
  const bool beyond =
      record.samples.size() >= static_cast<std::size_t>(std::max(0, recording_.options.max_cached_io)) + kMaxBeyond;
  if (!keeps_sample(record) && beyond) record.samples.pop_back();
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    const auto at = std::find_if(call.inputs.begin(), call.inputs.end(),
                                 [&](const PortRecord& item) { return item.name == record.inputs[i].name; });
    // A call that does not announce an input does not need it: what it held before is as good as anything.
    sample.inputs.push_back(at == call.inputs.end() ? record.samples.back().inputs[i]
                                                    : call.values[static_cast<std::size_t>(at - call.inputs.begin())]);
  }
  for (const PortTensor& output : outputs) sample.outputs.push_back(dense_copy(output.tensor));
  record.samples.push_back(std::move(sample));
}

Session::Holders Session::keep_next_values(NodeRecord& record, const OpenCall& call) {
  Holders holders;
  for (std::size_t i = 0; i < record.leaks.size(); ++i) {
    Leak& leak = record.leaks[i];
    if (leak.source.node != record.name || !leak.source.port.empty() || leak.source.delay != 1) continue;
    const Place* place = place_of(leak, call.places);
    if (place || leak.in_place) {
      const at::Tensor now = place ? place->at_end : leak.memory->before(leak.place);
      if (now.defined()) leak.next[record.calls] = dense_copy(now);
    } else if (auto holder = recorder_->table().holder_of(leak.source, pass_)) {
      holders.emplace_back(i, std::move(*holder));
    }
  }
  return holders;
}

void Session::keep_held_values(const std::string& node, std::size_t call, const Holders& holders) {
  for (const auto& [index, holder] : holders) {
    const at::Tensor tensor = locked(holder);
    if (!tensor.defined()) continue;
    const at::Tensor copy = dense_copy(tensor);
    const auto guard = recorder_->lock();
    find(node)->leaks[index].next[call] = copy;
  }
}

void Session::publish(const NodeRecord& node, const CallOutputs& outputs) {
  TensorTable& table = recorder_->table();
  for (std::size_t i = 0; i < outputs.ports.size(); ++i) {
    const auto& [name, tensor, semantics] = outputs.ports[i];
    const ValuePtr before = table.find_own(tensor);
    const bool twice = before && before->kind == TracedKind::kPublished && before->origin->node == node.name &&
                       before->origin->pass == pass_;
    if (twice) continue;
    Origin origin{.node = node.name, .port = name, .pass = pass_, .constant = outputs.constant[i]};
    origin.content_hash = content_hash(tensor);
    table.bind_content(tensor, make_value(TracedKind::kPublished, type_of(tensor), std::move(origin)));
  }
}

Session::Holders Session::nameless(const NodeRecord& record) {
  Holders holders;
  for (std::size_t i = 0; i < record.leaks.size(); ++i) {
    const Leak& leak = record.leaks[i];
    if (!leak.name.empty() || leak.asked >= kMaxAsked) continue;
    const TensorTable& table = recorder_->table();
    auto holder = leak.in_place ? table.holder_of(*leak.memory, leak.place) : std::nullopt;
    if (!holder) holder = table.holder_of(leak.source, pass_);
    if (holder) holders.emplace_back(i, std::move(*holder));
  }
  return holders;
}

void Session::name_leaks(const std::string& node, const Holders& holders) {
  std::vector<std::string> names;
  names.reserve(holders.size());
  for (const auto& [index, holder] : holders) names.push_back(front_end_->holder_name(locked(holder)));
  const auto guard = recorder_->lock();
  NodeRecord* record = find(node);
  for (std::size_t i = 0; i < holders.size(); ++i) {
    record->leaks[holders[i].first].name = names[i];
    ++record->leaks[holders[i].first].asked;
  }
}

void Session::look_at_places(const std::string& node) {
  std::vector<std::function<at::Tensor()>> getters;
  {
    const auto guard = recorder_->lock();
    const auto open = open_.find(node);
    if (open == open_.end()) return;
    getters = open->second.getters;
  }
  std::vector<at::Tensor> now;
  now.reserve(getters.size());
  for (const auto& get : getters) now.push_back(get ? get() : at::Tensor());
  const auto guard = recorder_->lock();
  const auto open = open_.find(node);
  if (open == open_.end() || open->second.places.size() != now.size()) return;
  for (std::size_t i = 0; i < now.size(); ++i) {
    Place& place = open->second.places[i];
    place.at_end = getters[i] ? now[i] : place.tensor;
    if (place.declared && !place.at_end.defined()) {
      recording_.log->warning(
          fmt::format("buffer '{}' of node '{}' is gone when the node closes: it is exported as the constant "
                      "that it was",
                      place.name, node));
    }
    place.content = dense_copy(place.memory->before(place.geometry));
  }
}

Result<std::vector<at::Tensor>> Session::output_tensors(const std::string& node, const PortTensors& tensors,
                                                        const PortTensors& static_outputs,
                                                        const OutputOptions& options) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  look_at_places(node);
  const LocationId where = front_end_->location();
  Holders holders;
  Holders next;
  std::size_t number = 0;
  std::vector<at::Tensor> released;
  {
    const auto guard = recorder_->lock();
    LEAPP_RETURN_IF_ERROR(check_outputs(node, tensors, static_outputs));
    recorder_->builder().set_current(nullptr, where);
    OpenCall call = std::move(open_.at(node));
    sort_updates(call);
    PortTensors given = tensors;
    given.insert(given.end(), call.updates.begin(), call.updates.end());
    const std::size_t computed = given.size();
    given.insert(given.end(), static_outputs.begin(), static_outputs.end());
    NodeRecord* record = find(node);
    const CallOutputs all = in_order(record, given, computed);
    const bool first = record == nullptr;
    LaterCall later;
    if (first) {
      record = &begin_record(node, call, options);
      record->closed_at = where;
      record_first(*record, call, all);
    } else {
      merge_sources(*record, call);
      later = look_at(*record, call, all);
    }
    open_.erase(node);
    closed_in_pass_.insert(node);
    Survivors survivors = recorder_->close(call.activation, pass_);
    const bool keeps = first || record_again(*record, later, survivors);
    if (first) record->survivors = std::move(survivors);
    if (keeps) {
      keep_sample(*record, call, all.ports);
      next = keep_next_values(*record, call);
    }
    number = record->calls++;
    publish(*record, all);
    holders = nameless(*record);
    released = recorder_->table().take_released();
  }
  keep_held_values(node, number, next);
  if (!holders.empty()) name_leaks(node, holders);
  std::vector<at::Tensor> values;
  for (const PortTensor& output : tensors) values.push_back(output.tensor);
  return values;
}

}  // namespace leapp::capture
