// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A block of scripted code, recorded by itself: on copies of everything it can reach, so that nothing outside is
// touched and a side of a branch that is not taken can be run all the same.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/recorder/op_recorder.h"
#include "capture/trace/record.h"
#include "graph/graph.h"

namespace leapp::capture {

/// Why an If or a Loop cannot be one operator of a trace. It is recorded the way it went.
struct Unrecordable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The tensors outside that a block can reach, by the memory they lie in.
class BlockEnvironment {
 public:
  /// All tensors in it. REQUIRES: nothing has been recorded in this world.
  void add(const c10::IValue& value);

  /// One tensor for each memory: the one that lies in it, or all of it where there are several.
  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  [[nodiscard]] const at::Tensor& operand(std::size_t part) const { return parts_[part].operand; }
  /// Which memory a tensor lies in; size(): another one.
  [[nodiscard]] std::size_t part_of(const at::Tensor& tensor) const;
  [[nodiscard]] bool has(const at::Tensor& tensor) const { return tensors_.contains(tensor.unsafeGetTensorImpl()); }

 private:
  void add_tensor(const at::Tensor& tensor);

  struct Part {
    at::Tensor first;
    at::Tensor operand;
  };
  std::vector<Part> parts_;
  std::unordered_map<const c10::StorageImpl*, std::size_t> by_storage_;
  std::unordered_map<const c10::TensorImpl*, at::Tensor> tensors_;
};

/// One recording of a block.
class BlockRecording {
 public:
  enum class Data : std::uint8_t { kReal, kZeros };  ///< kZeros: in the place of whole numbers
  /// `around`: the recording that this one is inside of; null: the program itself.
  explicit BlockRecording(const BlockEnvironment& world, Data data = Data::kReal, BlockRecording* around = nullptr);
  ~BlockRecording();
  BlockRecording(const BlockRecording&) = delete;
  BlockRecording& operator=(const BlockRecording&) = delete;

  /// An input of its own, in memory of its own, that holds what `like` does.
  at::Tensor add_input(const std::string& name, const at::Tensor& like);
  /// Whether it has been written to. REQUIRES: `input` is what add_input gave.
  [[nodiscard]] bool is_written(const at::Tensor& input);
  /// Whether the world's memory has been written to.
  [[nodiscard]] bool is_written(std::size_t part);

  /// What stands for `value` inside: tensors of the world are copies, containers are copied.
  c10::IValue inside(const c10::IValue& value);
  /// The same for a value of the program itself: an attribute, a constant.
  c10::IValue of_program(const c10::IValue& value) { return inside(around_ ? around_->of_program(value) : value); }
  /// Which memory of the world a tensor inside lies in; the world's size: another one.
  [[nodiscard]] std::size_t part_of(const at::Tensor& inside) const;

  [[nodiscard]] const std::shared_ptr<OpRecorder>& recorder() const { return recorder_; }

  /// The containers that were given in are as they were, and nothing went wrong. Throws Unrecordable.
  void check();
  /// The graph from `inputs` to `outputs`: the inputs of its own in the order in which they were added, then the
  /// world's memory in the order of `parts`. Throws Unrecordable.
  graph::Graph graph(const std::vector<at::Tensor>& outputs, const std::vector<std::size_t>& parts);
  /// What lies in the world's memory now, for `graph`.
  [[nodiscard]] const at::Tensor& content(std::size_t part) const { return parts_[part].shadow; }

 private:
  struct Bound {
    at::Tensor shadow;
    at::Tensor whole;  // all of the memory
    ValuePtr value;
  };
  struct Container {
    c10::IValue outside;
    c10::IValue inside;
    std::vector<std::string> items;  // when it was given in
  };
  at::Tensor shadow_of(const at::Tensor& tensor);
  ValuePtr bind(const std::string& name, const at::Tensor& tensor);
  c10::IValue copied_list(const c10::IValue& value);

  const BlockEnvironment& world_;
  Data data_;
  BlockRecording* around_;
  std::string complaint_;
  std::shared_ptr<OpRecorder> recorder_;
  NodeRecord record_;
  ActivationId activation_ = 0;
  std::vector<Bound> parts_;
  std::vector<std::pair<at::Tensor, ValuePtr>> own_;
  std::vector<PortRecord> own_ports_;
  std::unordered_map<const c10::TensorImpl*, at::Tensor> shadows_;
  std::vector<Container> containers_;
};

}  // namespace leapp::capture
