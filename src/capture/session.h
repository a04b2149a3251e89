// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "capture/heap.h"
#include "capture/recorder.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// The output an input takes its value from.
struct Source {
  std::string node;
  std::string port;
  bool feedback = false;  ///< produced in an earlier pass
};

struct PortRecord {
  std::string name;
  ValueType type;
  std::optional<Source> source;  ///< inputs only
};

/// One call's inputs and outputs, copied.
struct Sample {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> outputs;
};

/// One annotated stage, over all its calls.
struct NodeRecord {
  std::string name;
  std::vector<PortRecord> inputs;
  std::vector<PortRecord> outputs;
  std::vector<ValuePtr> output_values;  ///< what the first call computed
  std::vector<Sample> samples;
  OutputOptions options;
  std::size_t calls = 0;  ///< completed
};

/// From start() to stop(): nodes, ports, passes and where inputs come from.
class Session {
 public:
  Session(std::string name, std::string folder, StartOptions options, std::unique_ptr<Logger> log);
  ~Session();

  Result<std::vector<at::Tensor>> input_tensors(const std::string& node, const NamedTensors& tensors);
  Result<std::vector<at::Tensor>> output_tensors(const std::string& node, const NamedTensors& tensors,
                                                 const OutputOptions& options);
  void name_tensor(const at::Tensor& tensor, const std::string& name, bool parameter);
  /// Python is about to exchange what two tensors are; torch refuses while anyone holds weak references.
  void release(const at::Tensor& tensor);
  /// `tensor` was written to without an operator (apply_, map_).
  void rewritten(const at::Tensor& tensor);
  /// `copy` was made from `source` without an operator (deepcopy).
  void copied(const at::Tensor& source, const at::Tensor& copy);
  void note_escape(const at::Tensor& tensor, const std::string& how);
  [[nodiscard]] bool is_live(const at::Tensor& tensor);

  /// Ends capture; nodes, samples and constants stay for compile_graph.
  Status stop();
  [[nodiscard]] bool stopped() const { return recorder_ == nullptr; }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const StartOptions& options() const { return options_; }
  [[nodiscard]] Logger& log() { return *log_; }
  /// Nodes with at least one completed call, in the order of their first completion.
  [[nodiscard]] const std::vector<std::unique_ptr<NodeRecord>>& nodes() const { return nodes_; }

 private:
  struct OpenCall {
    ActivationId activation = 0;
    std::vector<PortRecord> inputs;
    std::vector<at::Tensor> values;
  };

  Status check_inputs(const std::string& node, const NamedTensors& tensors);
  Status check_outputs(const std::string& node, const NamedTensors& tensors, const OutputOptions& options);
  Status check_ports(const std::string& node, const char* direction, const NamedTensors& tensors) const;
  Status check_source(const std::string& node, const std::string& port, const at::Tensor& tensor);
  Status check_reentry(const std::string& node, const NamedTensors& outputs) const;
  std::optional<Source> source_of(const std::string& node, const std::string& port, const at::Tensor& tensor);
  void report_glue(const std::string& node, const std::string& port, const Origin& published, const std::string& op,
                   LocationId where);
  OpenCall& open(const std::string& node);
  NodeRecord* find(const std::string& node) const;
  void publish(const NodeRecord& node, const NamedTensors& tensors);

  std::string name_;
  std::string folder_;
  StartOptions options_;
  std::shared_ptr<Logger> log_;  // an operator that is under way on another thread may warn after the session
  std::optional<HeapWithoutHoles> heap_{std::in_place};
  std::shared_ptr<Recorder> recorder_;
  std::vector<std::unique_ptr<NodeRecord>> nodes_;
  std::map<std::string, OpenCall> open_;
  std::set<std::string> closed_in_pass_;
  std::uint64_t pass_ = 0;
};

/// The session between start() and the next start(), or null.
std::shared_ptr<Session> current_session();
void set_current_session(std::shared_ptr<Session> session);

}  // namespace leapp::capture
