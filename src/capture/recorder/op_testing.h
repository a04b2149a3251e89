// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of how one operator is read and written down: what the recorder knows, without a session and a hook.
#pragma once

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capture/hook/op_info.h"
#include "capture/recorder/capture_state.h"
#include "capture/recorder/op_reader.h"
#include "capture/recorder/op_results.h"

namespace leapp::capture::testing {

class OpTest : public ::testing::Test {
 protected:
  /// A tensor that is an input of that call.
  ValuePtr bind_input(const at::Tensor& tensor, ActivationId activation) {
    ValuePtr value =
        make_value(TracedKind::kInput, {tensor.scalar_type(), c10::DimVector(tensor.sizes())}, {.port = "x"});
    value->owner = activation;
    state_.table.bind_content(tensor, value);
    return value;
  }
  /// An output of a node that has closed.
  ValuePtr publish(const at::Tensor& tensor) {
    ValuePtr value = make_value(TracedKind::kPublished, {tensor.scalar_type(), c10::DimVector(tensor.sizes())},
                                {.node = "before", .port = "y"});
    state_.table.bind_content(tensor, value);
    return value;
  }
  using Inputs = c10::ArrayRef<const c10::IValue>;
  bool touches_known(const char* name, const char* overload, const std::vector<c10::IValue>& inputs) {
    return reader_.touches_known(*op_info(name, overload), Inputs(inputs.data(), inputs.size()));
  }
  PendingOp read(const char* name, const char* overload, const std::vector<c10::IValue>& inputs) {
    PendingOp op;
    op.info = op_info(name, overload);
    reader_.read(op, Inputs(inputs.data(), inputs.size()));
    return op;
  }
  /// Reads an operator, runs it and writes down what it gave.
  std::vector<c10::IValue> run(const char* name, const char* overload, std::vector<c10::IValue> stack) {
    PendingOp op = read(name, overload, stack);
    op.info->run(stack);
    op.in_node ? results_.in_node(op, stack) : results_.idle(op, stack);
    return stack;
  }
  std::string name_of_op(const at::Tensor& tensor) {
    const ValuePtr value = state_.table.find(tensor);
    return value && value->op ? value->op->info->qualified_name() : "";
  }

  std::vector<std::string> warnings_;
  CaptureState state_{[this](const std::string& text) { warnings_.push_back(text); }};
  OpReader reader_{state_};
  OpResults results_{state_};
};

}  // namespace leapp::capture::testing
