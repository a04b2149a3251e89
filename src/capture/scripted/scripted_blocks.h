// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What recording a branch and recording a loop of scripted code have in common.
//
// Blocks are recorded by themselves, on copies. What a block may write to is found out by running it; that memory goes
// in and comes out like everything else. Then the real thing runs, as what the operator (control.h) does.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>
#include <vector>

#include "capture/scripted/block_environment.h"
#include "capture/scripted/scripted_numbers.h"
#include "capture/trace/value_type.h"

namespace leapp::capture {

class ScriptedRun;

/// The block raises an exception of the program's own.
struct BlockRaises : Unrecordable {
  using Unrecordable::Unrecordable;
};
/// An operator of the block cannot be run on the data that is there.
struct FailsOnThisData : Unrecordable {
  using Unrecordable::Unrecordable;
};

/// Runs a block inside its recording. Throws Unrecordable.
void run_inside(ScriptedRun& run, BlockRecording& recording, torch::jit::Block* block);

/// What `record` gives for the data that is there; where an operator fails on that (a position that is not there), for
/// zeros in the place of whole numbers. What is recorded does not depend on it.
template <typename Record>
auto on_some_data(Record record) {
  try {
    return record(BlockRecording::Data::kReal);
  } catch (const FailsOnThisData&) {
    return record(BlockRecording::Data::kZeros);
  }
}

/// What stands inside for an item of the run around.
[[nodiscard]] ScriptedItem item_inside(const ScriptedItem& item, BlockRecording& recording);

/// A number that a tensor without dimensions holds.
[[nodiscard]] c10::IValue number_in(const at::Tensor& twin);
[[nodiscard]] at::Tensor zeros_of(const ValueType& type);
/// What the program itself holds, as a result of the operator.
[[nodiscard]] at::Tensor result_tensor(const ScriptedItem& item, const ValueType& type);

/// Tensors are the program's own from here on: an operator that gave back what it was given would be none. Whether two
/// of them are one memory depends on the data, and no block may be recorded by that: in a recording each has its own.
/// The program itself keeps what it has; scripted_surroundings.h asks for it.
[[nodiscard]] std::vector<at::Tensor> apart(ScriptedRun& run, std::vector<at::Tensor> results,
                                            const BlockEnvironment& world);

/// Throws Unrecordable for an output that may share memory with another tensor, where one of them is written to later.
void refuse_shared_writes(ScriptedRun& run, torch::jit::Node* node, std::size_t output);

}  // namespace leapp::capture
