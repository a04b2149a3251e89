// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/reload/staged_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "leapp/bundle/check.h"
#include "runtime/pipeline/pipeline_impl.h"

namespace leapp::runtime {

Result<PipelineAccess::ReloadTarget> PipelineAccess::ReloadTarget::of(Pipeline& pipeline) {
  if (!pipeline.impl_->prepared) {
    return failed_precondition("reloader: the pipeline is not prepared: call prepare() before");
  }
  return ReloadTarget{pipeline.impl_->face, pipeline.input_ports(), pipeline.output_ports(), pipeline.signature()};
}

PipelineAccess::StagedBundle::StagedBundle(std::unique_ptr<Pipeline::Impl> impl)
    : impl_(std::move(impl)), signature_(impl_->signature) {}

PipelineAccess::StagedBundle::~StagedBundle() = default;

Result<std::unique_ptr<PipelineAccess::StagedBundle>> PipelineAccess::StagedBundle::make(Pipeline pipeline,
                                                                                         const ReloadTarget& seat) {
  Status status = check_agreement(seat.inputs, pipeline.input_ports());
  const Status outputs = check_agreement(seat.outputs, pipeline.output_ports());
  if (!status.ok() && !outputs.ok()) status = bundle::join_problems({status, outputs});
  LEAPP_RETURN_IF_ERROR(status);
  LEAPP_RETURN_IF_ERROR(outputs);
  pipeline.impl_->adopt(seat.face);
  return std::unique_ptr<StagedBundle>(new StagedBundle(std::move(pipeline.impl_)));
}

PipelineAccess::StagedBundle::Outcome PipelineAccess::StagedBundle::check(const Pipeline::Impl& running,
                                                                          StateOnSwap rule, ResetMode reset) noexcept {
  if (running.face != impl_->face) return Outcome::kOtherPipeline;
  if (running.signature && impl_->signature && impl_->signature->serial < running.signature->serial) {
    running_serial_ = running.signature->serial;
    return Outcome::kEarlierSerial;
  }
  state_kept_ = rule != StateOnSwap::kReset && impl_->has_state_of(running);
  if (rule == StateOnSwap::kKeep && !state_kept_) return Outcome::kOtherState;
  if (!state_kept_ && !impl_->may_reset(reset)) return Outcome::kNoHistory;
  if (!running.guards) return Outcome::kSwapped;
  for (const GuardedPort& guarded : running.guards->ports()) {
    if (impl_->find_seat(guarded.port) != nullptr) continue;
    std::strncpy(guarded_.data(), guarded.port.name.c_str(), guarded_.size() - 1);
    return Outcome::kGuardedState;
  }
  return Outcome::kSwapped;
}

PipelineAccess::StagedBundle::Outcome PipelineAccess::StagedBundle::swap_into(Pipeline& running, StateOnSwap rule,
                                                                              ResetMode reset) noexcept {
  Pipeline::Impl& old = *running.impl_;
  const BusyLock alone(old.busy);
  if (!alone) return outcome_ = Outcome::kBusy;
  outcome_ = check(old, rule, reset);
  if (outcome_ != Outcome::kSwapped) return outcome_;
  if (old.guards) {
    const std::vector<GuardedPort>& guarded = old.guards->ports();
    for (std::size_t i = 0; i < guarded.size(); ++i) old.guards->move_to(i, *impl_->find_seat(guarded[i].port));
    impl_->guards = std::move(old.guards);
  }
  if (state_kept_) {
    impl_->copy_state_of(old);
    impl_->first_frame.arm_as(old.first_frame);
  }
  old.recorded.end_for_swap();  // here: the old bundle is freed on another thread
  std::swap(running.impl_, impl_);
  if (!state_kept_) (void)running.reset(reset);  // which was found to be possible
  return outcome_;
}

Status PipelineAccess::StagedBundle::status() const {
  switch (outcome_) {
    case Outcome::kWaiting:
    case Outcome::kSwapped:
      return {};
    case Outcome::kOtherPipeline:
      return invalid_argument("swap_if_ready: expected the pipeline that the reloader was made for, found another");
    case Outcome::kOtherState:
      return invalid_argument("the state is to be kept, but that of the new bundle is not that of the running one");
    case Outcome::kEarlierSerial:
      return data_loss(fmt::format("expected serial {} or later, which is the running bundle's, found {}",
                                   running_serial_, signature_ ? signature_->serial : 0));
    case Outcome::kBusy:
      return BusyLock::refusal();
    case Outcome::kNoHistory:
      return invalid_argument(
          "state is to be reset to the first frame, but no state of the new bundle is known to be a history of an "
          "input");
    case Outcome::kGuardedState:
      return invalid_argument(
          fmt::format("a guard is set on the state {}, which the new bundle does not have, or has with another type",
                      quote(guarded_.data())));
  }
  return internal_error("reloader: an unknown outcome");
}

// ---- What a bundle does to be swapped in ----

namespace {

// State that one backend calls X is X_in in the files of another.
std::string_view name_of(std::string_view name, PortRole role) noexcept {
  if (role == PortRole::kFeedback && name.ends_with("_in")) name.remove_suffix(3);
  return name;
}

// All that makes two states the same, as one text.
std::string identity_of(const Port& port) {
  std::string text =
      fmt::format("{} {} {}", name_of(port.name, port.role), type_text(port.dtype, port.shape), port.kind.value_or(""));
  for (const bundle::AxisNames& names : port.element_names) {
    text += names ? fmt::format(" [{}]", join(*names, "\n")) : " -";
  }
  return text;
}

bool before(const SeatedPort& a, const Port& b) noexcept {
  const int order = name_of(a.name, a.role).compare(name_of(b.name, b.role));
  return order != 0 ? order < 0 : a.role < b.role;
}

}  // namespace

void Pipeline::Impl::identify_states() {
  for (const EndPlan& end : plan.states) {
    const auto port = port_of(spec, end.name, PortRole::kFeedback);
    states.push_back({port.ok() ? identity_of(port.value()) : end.name, end.place});
  }
  std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.identity < b.identity; });
}

void Pipeline::Impl::adopt(std::shared_ptr<const PortTable> other) {
  for (const EndPlan& end : plan.inputs) {
    const PortTable::End* port = PortTable::find(other->inputs, end.name);
    std::byte* ours = buffers.at(end.place, 0);
    gathers.push_back({port->data, ours, buffers.size(end.place.buffer)});
    buffers.redirect(end.place.buffer, port->data);
  }
  for (const EndPlan& end : plan.outputs) {
    const PortTable::End* port = PortTable::find(other->outputs, end.name);
    std::byte* ours = buffers.at(end.place, 0);
    for (Copy& copy : copies) {
      if (copy.to == ours) copy.to = port->data;
    }
    buffers.redirect(end.place.buffer, port->data);
  }
  face = std::move(other);
  const auto seat = [&](const auto& ends, PortRole role) {
    for (const EndPlan& end : ends) {
      Port port;
      port.name = end.name;
      port.role = role;
      const BufferPlan& buffer = plan.buffers[end.place.buffer];
      seats.push_back({end.name, role, buffer.dtype, buffer.shape, place_of(port)});
    }
  };
  seat(plan.inputs, PortRole::kInput);
  seat(plan.outputs, PortRole::kOutput);
  seat(plan.states, PortRole::kFeedback);
  std::sort(seats.begin(), seats.end(), [](const SeatedPort& a, const SeatedPort& b) {
    return std::make_tuple(name_of(a.name, a.role), a.role) < std::make_tuple(name_of(b.name, b.role), b.role);
  });
}

const GuardedPlace* Pipeline::Impl::find_seat(const Port& port) const noexcept {
  const auto at = std::lower_bound(seats.begin(), seats.end(), port, &before);
  if (at == seats.end() || at->role != port.role) return nullptr;
  if (name_of(at->name, at->role) != name_of(port.name, port.role)) return nullptr;
  return at->dtype == port.dtype && at->shape == port.shape ? &at->place : nullptr;
}

bool Pipeline::Impl::has_state_of(const Impl& other) const noexcept {
  return std::equal(states.begin(), states.end(), other.states.begin(), other.states.end(),
                    [](const StateIdentity& a, const StateIdentity& b) { return a.identity == b.identity; });
}

void Pipeline::Impl::copy_state_of(const Impl& other) noexcept {
  for (std::size_t i = 0; i < states.size(); ++i) {
    std::memcpy(buffers.at(states[i].place, parity), other.buffers.at(other.states[i].place, other.parity),
                buffers.size(states[i].place.buffer));
  }
}

}  // namespace leapp::runtime
