// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"
#include "capture/recorder/op_recorder.h"
#include "capture/trace/record.h"
#include "capture/trace/slice.h"
#include "capture/trace/to_graph.h"
#include "graph/masks/sources.h"
#include "torch_types/failure.h"

namespace leapp::capture {
namespace {

/// The hook for as long as one operator runs.
class HookScope {
 public:
  explicit HookScope(std::shared_ptr<OpRecorder> recorder) { install_hook(std::move(recorder)); }
  ~HookScope() { remove_hook(); }
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;
};

class InsideRecording {
 public:
  explicit InsideRecording(const OperatorCall& call)
      : call_(call),
        recorder_(std::make_shared<OpRecorder>(std::make_shared<FrontEnd>(),
                                               [this](const std::string& text) { complain(text); })) {
    record_.name = call.op;
  }

  Result<graph::Graph> graph() {
    const OpInfo* info = find_op_info(call_.op, call_.overload);
    if (!info) return unimplemented("torch has no such operator");
    begin();
    std::vector<at::Tensor> outputs;
    {
      const HookScope hook(recorder_);
      const LookInside inside(info);
      outputs = call_.run();
    }
    if (outputs.empty()) return unimplemented("it does not run on made-up numbers");
    LEAPP_RETURN_IF_ERROR(recorder_->take_error());
    LEAPP_RETURN_IF_ERROR(take(outputs));
    seal_constants(slice_of(record_.output_values));
    LEAPP_ASSIGN_OR_RETURN(graph::Graph made, to_graph(record_));
    const auto& nodes = made.nodes();
    if (std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return graph::masks::depends_on_data(*node); }))
      return unimplemented("a shape in it depends on data");
    return made;
  }

 private:
  void complain(const std::string& text) {
    if (complaint_.empty()) complaint_ = text;
  }

  void begin() {
    const auto guard = recorder_->lock();
    activation_ = recorder_->open(call_.op);
    for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
      const std::string name = fmt::format("x{}", i);
      record_.inputs.push_back({.name = name, .type = type_of(call_.inputs[i]), .source = std::nullopt});
      const ValuePtr value = make_value(TracedKind::kInput, type_of(call_.inputs[i]), {.port = name});
      value->owner = activation_;
      recorder_->table().bind_content(call_.inputs[i], value);
    }
  }

  // Every result has to come from the inputs through what was recorded: what kernels did on their own is not in there.
  Status take(const std::vector<at::Tensor>& outputs) {
    const auto guard = recorder_->lock();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      ValuePtr value = recorder_->table().operand(outputs[i], activation_);
      if (value->owner != activation_) return unimplemented("it computes on its own, not through other operators");
      record_.outputs.push_back({.name = fmt::format("y{}", i), .type = type_of(outputs[i]), .source = std::nullopt});
      record_.output_values.push_back(std::move(value));
    }
    // A warning tells of something that is fixed for ever in what was recorded.
    return complaint_.empty() ? Status() : unimplemented(complaint_);
  }

  const OperatorCall& call_;
  std::string complaint_;  // guarded by the recorder's lock
  std::shared_ptr<OpRecorder> recorder_;
  NodeRecord record_;
  ActivationId activation_ = 0;
};

}  // namespace

Result<graph::Graph> record_inside(const OperatorCall& call) try {
  if (hook_installed()) return failed_precondition("a session is recording");
  return InsideRecording(call).graph();
} catch (const std::exception& failure) {
  return failure_status(failure, [&] { return fmt::format("looking inside {}: {}", call.op, failure.what()); });
}

}  // namespace leapp::capture
