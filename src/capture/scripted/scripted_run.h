// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs scripted code operator by operator while a node is open.
//
// Every operator goes through torch's dispatcher and is recorded as in any other program. A branch or a loop that data
// decides is recorded as one operator (control.h) that holds what it can run; where that cannot be, it is recorded the
// way it went, with a guard.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "capture/scripted/block_environment.h"
#include "capture/scripted/scripted_code.h"
#include "capture/scripted/scripted_numbers.h"

namespace leapp::capture {

/// Takes the arguments from `stack` and leaves the result there, as torch's own interpreter would. Throws what torch
/// throws. REQUIRES: code.is_followed().
void run_scripted(const ScriptedCode& code, torch::jit::Stack& stack);

/// One run of the code, or of a block of it that is being recorded.
class ScriptedRun {
 public:
  using Values = std::unordered_map<const torch::jit::Value*, ScriptedItem>;

  /// `recording`: of the block that is run; null: this is the program itself.
  ScriptedRun(const ScriptedCode& code, BlockRecording* recording) : code_(code), recording_(recording) {}

  void set(const torch::jit::Value* value, ScriptedItem item) { values_[value] = std::move(item); }
  [[nodiscard]] const ScriptedItem& get(const torch::jit::Value* value) const { return values_.at(value); }
  [[nodiscard]] bool knows(const torch::jit::Value* value) const { return values_.contains(value); }
  [[nodiscard]] const ScriptedCode& code() const { return code_; }

  /// What stands here for a value of the program: an attribute, a constant.
  [[nodiscard]] c10::IValue here(const c10::IValue& value) const;
  [[nodiscard]] BlockRecording* recording() const { return recording_; }

  /// A result of a branch or a loop: which memory it is depends on the data.
  void note_chosen(const at::Tensor& tensor) { chosen_.push_back(tensor); }
  [[nodiscard]] bool is_chosen(const at::Tensor& tensor) const;

  void run(torch::jit::Block& block);

  /// Nothing is recorded and no twins are made while it runs: what an operator (control.h) stands for.
  void run_quietly(torch::jit::Block& block);
  void run_loop_quietly(torch::jit::Node* node);

  /// The number is one of the program's from here on: it has left the graph.
  void let_go(const torch::jit::Value* value);

 private:
  void run_node(torch::jit::Node* node);
  void run_structure(torch::jit::Node* node);
  void run_operator(torch::jit::Node* node);
  bool run_followed(torch::jit::Node* node);
  void branch(torch::jit::Node* node);
  void take(torch::jit::Node* node, std::size_t side);
  void loop(torch::jit::Node* node);
  void write_out(torch::jit::Node* node);
  void tell(torch::jit::Node* node, const std::string& why);
  [[nodiscard]] bool follows(const torch::jit::Value* value) const;
  [[nodiscard]] std::vector<ScriptedItem> inputs_of(const torch::jit::Node* node) const;

  const ScriptedCode& code_;
  BlockRecording* recording_;
  Values values_;
  std::vector<at::Tensor> chosen_;
  bool quiet_ = false;
};

}  // namespace leapp::capture
