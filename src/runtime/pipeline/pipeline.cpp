// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "base/text.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/pipeline/pipeline_impl.h"

namespace leapp::runtime {
namespace {

Result<TensorView> unknown(const char* what, std::string_view name, const std::vector<std::string>& known) {
  return not_found(
      fmt::format("there is no {} {}; there are {}", what, quote(name), known.empty() ? "none" : join(known, ", ")));
}

}  // namespace

namespace {

template <typename End>
const EndPlan* find_in(const std::vector<End>& ends, std::string_view name) {
  for (const EndPlan& end : ends) {
    if (end.name == name) return &end;
  }
  for (const EndPlan& end : ends) {
    if (end.name.size() == name.size() + 3 && end.name.starts_with(name) && end.name.ends_with("_in")) return &end;
  }
  return nullptr;
}

}  // namespace

const EndPlan* find_end(const std::vector<EndPlan>& ends, std::string_view name) { return find_in(ends, name); }
const EndPlan* find_end(const std::vector<StatePlan>& ends, std::string_view name) { return find_in(ends, name); }

engine::Binding Pipeline::Impl::binding_of(const NodePlan& node, unsigned step_parity) const {
  engine::Binding binding;
  const bundle::Model& model = models[node.model];
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const bundle::Port& port = model.inputs[i];
    binding.inputs.push_back({port.name, port.dtype, port.shape, buffers.at(node.inputs[i], step_parity)});
  }
  for (std::size_t i = 0; i < model.outputs.size(); ++i) {
    const bundle::Port& port = model.outputs[i];
    binding.outputs.push_back({port.name, port.dtype, port.shape, buffers.at(node.outputs[i], step_parity)});
  }
  return binding;
}

// In a fused model everything has the name of its node before its own, and ONNX Runtime says at what it failed.
std::string Pipeline::Impl::culprit(std::size_t at, const std::string& message) const {
  const std::string& name = models[plan.nodes[at].model].name;
  if (!name.empty()) return name;
  std::vector<std::string> names;
  for (const bundle::Model& model : spec.models) {
    for (const char* before : {"Name:'", "\""}) {
      if (message.find(before + model.name + "/") != std::string::npos) return model.name;
    }
    names.push_back(model.name);
  }
  return join(names, " or ");
}

void Pipeline::Impl::fill_all(bool one) const {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) buffers.fill(i, plan.buffers[i].dtype, one);
}

TensorView Pipeline::Impl::view(Place place) const {
  return {buffers.at(place, parity), plan.buffers[place.buffer].dtype, plan.buffers[place.buffer].shape};
}

Status Pipeline::Impl::prepare_node(std::size_t at, unsigned step_parity) {
  const NodePlan& node = plan.nodes[at];
  const engine::Binding binding = binding_of(node, step_parity);
  auto number = nodes[at].model->prepare(binding);
  if (!number.ok() && is_stopped()) return number.status();
  // Without the retry for a fused model: where one node cannot take ones, another may not take zeros.
  if (!number.ok() && !separate) {
    // Ones are no index into a small table; zeros are no divisor. One of the two is fine for almost every model, and
    // where neither is, the first step says whether its values are.
    for (const Place& place : node.inputs) buffers.fill(place.buffer, plan.buffers[place.buffer].dtype, false);
    number = nodes[at].model->prepare(binding);
    if (!number.ok()) {
      if (auto bound = nodes[at].model->prepare_untried(binding); bound.ok()) number = std::move(bound);
    }
  }
  if (!number.ok()) {
    return {number.status().code(),
            fmt::format("node {}: {}", culprit(at, number.status().message()), number.status().message())};
  }
  nodes[at].binding[step_parity] = number.value();
  return {};
}

bool Pipeline::Impl::is_stopped() const { return stop && stop->requested(); }

/// What to say of a run that was told to end; nothing when it was not.
std::optional<Status> Pipeline::Impl::why_ended() const {
  if (ended) {
    return timed_out(fmt::format("it took longer than the timeout of {} s and was ended",
                                 std::chrono::duration<double>(watchdog->limit()).count()));
  }
  if (is_stopped()) return failed_precondition("it was told to stop");
  return std::nullopt;
}

Status Pipeline::Impl::prepare() {
  if (watchdog) watchdog->begin();
  Status prepared = prepare_nodes();
  ended = watchdog && watchdog->end();
  if (prepared.ok()) return prepared;
  if (const auto why = why_ended()) return {why->code(), fmt::format("the first run: {}", why->message())};
  return prepared;
}

Status Pipeline::Impl::prepare_nodes() {
  for (const unsigned step_parity : {0U, 1U}) {
    fill_all(true);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (step_parity == 1 && !plan.nodes[i].alternates) {
        nodes[i].binding[1] = nodes[i].binding[0];
      } else {
        LEAPP_RETURN_IF_ERROR(prepare_node(i, step_parity));
      }
    }
  }
  for (const CopyPlan& copy : plan.copies) {
    copies.push_back(
        {{buffers.at(copy.from, 0), buffers.at(copy.from, 1)}, buffers.at({copy.to, false}, 0), buffers.size(copy.to)});
  }
  fill_all(false);
  prepared = true;
  return {};
}

Pipeline::Pipeline(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

Status Pipeline::prepare() {
  return without_exceptions([this] { return prepare_unguarded(); });
}

Status Pipeline::prepare_unguarded() {
  if (impl_->prepared) return {};
  Status prepared = impl_->prepare();
  if (!prepared.ok() && impl_->separate && !impl_->why_ended()) {
    LEAPP_ASSIGN_OR_RETURN(std::unique_ptr<Impl> other, impl_->separate());
    other->fusion = std::move(prepared);
    other->stop = impl_->stop;
    other->watchdog = std::move(impl_->watchdog);
    impl_ = std::move(other);
    prepared = impl_->prepare();
  }
  LEAPP_RETURN_IF_ERROR(prepared);
  impl_->separate = nullptr;
  reset();
  return {};
}

bool Pipeline::Impl::run_nodes(std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (is_stopped() || !nodes[i].model->run(nodes[i].binding[parity])) [[unlikely]] {
      failed = i;
      return false;
    }
  }
  return true;
}

bool Pipeline::Impl::fill_histories() noexcept {
  const std::size_t levels = first_frame.begin(parity);
  for (std::size_t level = 1; level <= levels; ++level) {
    if (!run_nodes(first_frame.nodes())) return false;
    first_frame.fill(level, parity);
  }
  return true;
}

StepResult Pipeline::Impl::try_step() noexcept {
  const bool first = first_frame.armed();
  if (watchdog) watchdog->begin();
  bool ran = !first || fill_histories();
  if (ran && recorded.tap != nullptr) recorded.tap->read_state(parity);
  ran = ran && run_nodes(nodes.size());
  ended = watchdog && watchdog->end();
  StepResult result = StepResult::kOk;
  if (!ran || ended) [[unlikely]] {
    if (!failed) failed = nodes.size() - 1;
    result = StepResult::kFailed;
  } else if (guards && !guards->check_results(parity)) [[unlikely]] {
    result = StepResult::kRefused;
  }
  if (first) [[unlikely]] {
    first_frame.end(result == StepResult::kOk, parity);
  }
  return result;
}

StepResult Pipeline::step() noexcept {
  Impl& self = *impl_;
  const BusyLock alone(self.busy);
  if (!alone) [[unlikely]] {
    return StepResult::kBusy;
  }
  if (!self.prepared) [[unlikely]] {
    return StepResult::kNotPrepared;
  }
  const unsigned parity = self.parity;
  self.failed.reset();
  StepTap* const tap = self.recorded.tap;
  if (tap != nullptr) tap->begin({self.guards.get(), self.guards_set, self.last_good_set});
  if (self.guards && !self.guards->check_inputs()) [[unlikely]] {
    return StepResult::kRefused;
  }
  for (const Impl::Gather& gather : self.gathers) std::memcpy(gather.to, gather.from, gather.size);
  if (const StepResult tried = self.try_step(); tried != StepResult::kOk) [[unlikely]] {
    return tried;
  }
  for (const Impl::Copy& copy : self.copies) std::memcpy(copy.to, copy.from[parity], copy.size);
  if (self.guards) self.guards->commit(parity);
  self.parity = 1U - parity;
  return StepResult::kOk;
}

Status Pipeline::error() const {
  const BusyLock alone(impl_->busy);
  if (!alone) return BusyLock::refusal();
  if (!impl_->prepared) return failed_precondition("the pipeline is not prepared: call prepare() before step()");
  if (impl_->guards && impl_->guards->refused()) return impl_->guards->error();
  if (!impl_->failed) return {};
  if (const auto why = impl_->why_ended()) {
    return {why->code(), fmt::format("node {}: {}", impl_->culprit(*impl_->failed, ""), why->message())};
  }
  const Status status = impl_->nodes[*impl_->failed].model->error();
  return {status.code(),
          fmt::format("node {}: {}", impl_->culprit(*impl_->failed, status.message()), status.message())};
}

void Pipeline::reset() { (void)reset(ResetMode::kExported); }

Status Pipeline::reset(ResetMode mode) {
  const bool first_frame = mode == ResetMode::kFirstFrame;
  const BusyLock alone(impl_->busy);
  if (!alone) return BusyLock::refusal();
  if (!impl_->may_reset(mode)) {
    return failed_precondition(
        fmt::format("reset to the first frame: no state of this bundle is known to be a history of an input ({}); "
                    "export it with state_tensors(..., reset_from=...), or reset to what was exported",
                    join(impl_->state_names, ", ")));
  }
  for (std::size_t i = 0; i < impl_->plan.states.size(); ++i) {
    const std::vector<std::byte>& value = impl_->initial_values[i];
    const Place place = impl_->plan.states[i].place;
    std::byte* state = impl_->buffers.at(place, impl_->parity);
    if (mode != ResetMode::kZeros && !value.empty()) {
      std::copy(value.begin(), value.end(), state);
    } else {
      std::fill_n(state, impl_->buffers.size(place.buffer), std::byte{0});
    }
  }
  first_frame ? impl_->first_frame.arm() : impl_->first_frame.disarm();
  return {};
}

Status Pipeline::reset_row(std::size_t row, ResetMode mode) {
  if (row >= impl_->batch) {
    return invalid_argument(fmt::format("reset_row: expected a row below {}, found {}", impl_->batch, row));
  }
  if (impl_->batch == 1) return reset(mode);
  if (mode == ResetMode::kFirstFrame) {
    return unimplemented("reset_row: expected exported or zeros, found first_frame, which all rows do together");
  }
  for (std::size_t i = 0; i < impl_->plan.states.size(); ++i) {
    const std::vector<std::byte>& value = impl_->initial_values[i];
    const Place place = impl_->plan.states[i].place;
    const std::size_t size = impl_->buffers.size(place.buffer) / impl_->batch;
    std::byte* state = impl_->buffers.at(place, impl_->parity) + row * size;
    if (mode == ResetMode::kExported && !value.empty()) {
      std::memcpy(state, value.data() + row * size, size);
    } else {
      std::memset(state, 0, size);
    }
  }
  return {};
}

std::size_t Pipeline::batch() const { return impl_->batch; }
const Status& Pipeline::widened() const { return impl_->widened; }

const std::vector<std::string>& Pipeline::inputs() const { return impl_->face->input_names; }
const std::vector<std::string>& Pipeline::outputs() const { return impl_->face->output_names; }
std::vector<std::string> Pipeline::histories() const { return impl_->first_frame.names(); }

const std::vector<std::string>& Pipeline::feedback_inputs() const { return impl_->state_names; }
const bundle::BundleSpec& Pipeline::spec() const { return impl_->spec; }
const std::filesystem::path& Pipeline::file() const { return impl_->yaml; }
const std::optional<bundle::Signature>& Pipeline::signature() const { return impl_->signature; }
const Status& Pipeline::fusion() const { return impl_->fusion; }
const std::vector<std::string>& Pipeline::notes() const { return impl_->notes; }
const std::vector<engine::Report>& Pipeline::engine() const { return impl_->engine_reports; }

Result<TensorView> Pipeline::input(std::string_view name) {
  const PortTable::End* end = impl_->face->find_input(name);
  return end == nullptr ? unknown("input", name, inputs()) : end->view();
}

Status Pipeline::set_input_value(std::string_view name, const TensorView& value) {
  const EndPlan* end = find_end(impl_->plan.inputs, name);
  if (end == nullptr) end = find_end(impl_->plan.states, name);
  if (end == nullptr) {
    std::vector<std::string> known = inputs();
    known.insert(known.end(), impl_->state_names.begin(), impl_->state_names.end());
    return unknown("input", name, known).status();
  }
  const TensorView ours = impl_->view(end->place);
  const bool same = std::equal(ours.shape.begin(), ours.shape.end(), value.shape.begin(), value.shape.end());
  if (ours.dtype != value.dtype || !same) {
    const std::string message = fmt::format("{}: expected {}, found {}", end->name, type_text(ours.dtype, ours.shape),
                                            type_text(value.dtype, value.shape));
    return same ? wrong_type(message) : invalid_argument(message);
  }
  std::memmove(ours.data, value.data, impl_->buffers.size(end->place.buffer));
  impl_->first_frame.arm(end->name, false);
  return {};
}

Result<TensorView> Pipeline::output(std::string_view name) const {
  const PortTable::End* end = PortTable::find(impl_->face->outputs, name);
  return end == nullptr ? unknown("output", name, outputs()) : end->view();
}

Result<TensorView> Pipeline::feedback_input(std::string_view name) {
  const EndPlan* end = find_end(impl_->plan.states, name);
  return end == nullptr ? unknown("feedback input", name, impl_->state_names) : impl_->view(end->place);
}

bool PipelineAccess::fill_history(Pipeline& pipeline, std::string_view state, bool wanted) {
  return pipeline.impl_->first_frame.arm(state, wanted);
}

const std::shared_ptr<engine::Stop>& PipelineAccess::stop_of(const Pipeline& pipeline) { return pipeline.impl_->stop; }

std::optional<TensorView> PipelineAccess::node_input(const Pipeline& pipeline, std::string_view name) {
  const Pipeline::Impl& impl = *pipeline.impl_;
  for (const NodePlan& node : impl.plan.nodes) {
    const bundle::Model& model = impl.models[node.model];
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      // After a step the half that is read next is the one that was written last.
      const Place place{node.inputs[i].buffer, false};
      if (model.name + "/" + model.inputs[i].name == name) return impl.view(place);
    }
  }
  return std::nullopt;
}

}  // namespace leapp::runtime
