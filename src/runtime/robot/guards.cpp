// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/pipeline/pipeline_impl.h"
#include "runtime/robot/guard_set.h"

namespace leapp::runtime {
namespace {

const char* role_text(PortRole role) {
  return role == PortRole::kInput ? "input" : role == PortRole::kOutput ? "output" : "feedback input";
}

/// A port by name, "X" for "X_in" of inputs as everywhere.
bool is_called(const Port& port, std::string_view name) {
  return port.name == name || (port.role != PortRole::kOutput && port.name == std::string(name) + "_in");
}

Result<Port> find_port(const std::vector<Port>& ports, const PortGuard& rule) {
  std::vector<Port> found;
  for (const Port& port : ports) {
    if (is_called(port, rule.port) && rule.role.value_or(port.role) == port.role) found.push_back(port);
  }
  if (found.size() == 1) return std::move(found.front());
  std::vector<std::string> names;
  for (const Port& port : found.empty() ? ports : found) {
    names.push_back(fmt::format("{} ({})", port.name, role_text(port.role)));
  }
  const std::string which = rule.role ? role_text(*rule.role) : "port";
  if (found.empty()) {
    return not_found(
        fmt::format("guards: there is no {} {}; there are {}", which, quote(rule.port), join(names, ", ")));
  }
  return invalid_argument(
      fmt::format("guards: {} stands for {}: say which with side (in C++: role)", rule.port, join(names, " and ")));
}

}  // namespace

GuardedPlace Pipeline::Impl::place_of(const Port& port) const {
  GuardedPlace found;
  const bool state = port.role == PortRole::kFeedback;
  const EndPlan* end = state ? find_end(plan.states, port.name)
                             : find_end(port.role == PortRole::kInput ? plan.inputs : plan.outputs, port.name);
  const Place place = end->place;
  for (const unsigned at : {0U, 1U}) {
    const bool doubled = plan.buffers[place.buffer].doubled;
    found.to[at] = buffers.at({place.buffer, state && doubled}, at);
    found.from[at] = found.to[at];
    if (state) found.last[at] = buffers.at({place.buffer, false}, at);
    for (const Copy& copy : copies) {
      if (copy.to == found.to[at] && port.role != PortRole::kInput) found.from[at] = copy.from[at];
    }
  }
  return found;
}

Status Pipeline::set_guards(const GuardRules& rules) {
  const BusyLock alone(impl_->busy);
  if (!alone) return BusyLock::refusal();
  if (!impl_->prepared) return failed_precondition("guards: the pipeline is not prepared: call prepare() before");
  if (impl_->batch > 1 && !rules.empty()) {
    return unimplemented(fmt::format(
        "guards: expected a pipeline of one row, found {}: guards are for a robot, not for a batch", impl_->batch));
  }
  std::vector<Port> all = input_ports();
  for (Port& port : output_ports()) all.push_back(std::move(port));
  for (Port& port : feedback_ports()) all.push_back(std::move(port));
  std::vector<Port> ports;
  std::vector<GuardedPlace> places;
  std::set<std::pair<PortRole, std::string>> seen;
  for (const PortGuard& rule : rules) {
    LEAPP_ASSIGN_OR_RETURN(Port port, find_port(all, rule));
    if (!seen.emplace(port.role, port.name).second) {
      return invalid_argument(fmt::format("guards: {} has two rules; expected one", port.name));
    }
    places.push_back(impl_->place_of(port));
    ports.push_back(std::move(port));
  }
  if (rules.empty()) {
    impl_->guards.reset();
    ++impl_->guards_set;
    return {};
  }
  auto set = GuardSet::make(rules, std::move(ports), places);
  if (!set.ok()) return {set.status().code(), "guards: " + set.status().message()};
  impl_->guards = std::move(set).value();
  ++impl_->guards_set;
  return {};
}

const GuardRules& Pipeline::guards() const {
  static const GuardRules kNone;
  return impl_->guards ? impl_->guards->rules() : kNone;
}

std::span<const GuardEvent> Pipeline::guard_events() const noexcept {
  return impl_->guards ? impl_->guards->events() : std::span<const GuardEvent>();
}

std::size_t Pipeline::guard_event_count() const noexcept { return impl_->guards ? impl_->guards->event_count() : 0; }

std::string Pipeline::guard_text(const GuardEvent& event) const {
  const bool known = impl_->guards && event.port < impl_->guards->rules().size();
  return known ? impl_->guards->text(event) : "";
}

Status Pipeline::set_last_good(std::string_view port, std::span<const double> values) {
  if (!impl_->guards) return not_found(fmt::format("{}: there are no guards", port));
  ++impl_->last_good_set;
  return impl_->guards->set_last_good(port, values);
}

void Pipeline::forget_last_good() noexcept {
  ++impl_->last_good_set;
  if (impl_->guards) impl_->guards->forget();
}

Status PipelineAccess::set_guard_memory(Pipeline& pipeline, std::string_view memory) {
  GuardSet* guards = pipeline.impl_->guards.get();
  const std::size_t expected = guards == nullptr ? 0 : guards->memory_size();
  if (memory.size() != expected) {
    return invalid_argument(
        fmt::format("guards: expected {} bytes of what they remember, found {}", expected, memory.size()));
  }
  if (guards != nullptr) guards->load_memory(reinterpret_cast<const std::byte*>(memory.data()));
  return {};
}

}  // namespace leapp::runtime
