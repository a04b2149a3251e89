// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/onnx_facts.h"

#include <utility>

#include "inspect/numbers.h"
#include "onnx_proto/reader.h"

namespace leapp::inspect {

Result<OnnxFacts> read_onnx_facts(std::span<const std::byte> model) {
  OnnxFacts facts;
  LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView view, onnx::read_model(model));
  LEAPP_ASSIGN_OR_RETURN(facts.operators, onnx::count_operators(view));
  for (const onnx::NamedView& initializer : view.graph.initializers) {
    LEAPP_ASSIGN_OR_RETURN(onnx::TensorContents tensor, onnx::read_tensor(initializer.bytes));
    if (tensor.dtype && is_floating(*tensor.dtype)) facts.parameters += tensor.elements().value_or(0);
    facts.weights.push_back(std::move(tensor));
  }
  return facts;
}

std::size_t operator_count(const OnnxFacts& facts) {
  std::size_t count = 0;
  for (const auto& [name, times] : facts.operators) count += times;
  return count;
}

}  // namespace leapp::inspect
