// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/namer.h"
#include "engine/native/kernels/kernels.h"
#include "engine/native/lowering.h"
#include "engine/native/plan.h"

namespace leapp::codegen {

/// Where the ports of the plan are in the generated program: "inputs.obs", "state.h", "outputs.action".
struct PortPlaces {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// Writes the steps of a plan, one after the other, and collects what they need: helpers, weights, names for places in
/// memory. The rows of kernel_table.h write with it.
class Emitter {
 public:
  /// REQUIRES: the plan is prepared, and outlives the emitter.
  Emitter(const native::Plan& plan, PortPlaces ports);

  /// Writes every call of the plan.
  void run() { emit_block(plan_.calls); }

  // --- for the rows of the table --------------------------------------------------------------------------------
  [[nodiscard]] const native::PlanValue& value(native::ValueId id) const { return plan_.values[id]; }
  [[nodiscard]] DType dtype(native::ValueId id) const { return plan_.values[id].dtype; }
  /// The number of the current step, as its comment has it.
  [[nodiscard]] int step() const { return step_; }

  /// What a pointer in the arguments leads to; kNoValue when it is null.
  template <typename Args, typename T>
  [[nodiscard]] native::ValueId operand(const native::KernelCall& call, T Args::*member) const {
    const auto& args = call.as<Args>();
    return operand_at(call, static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(args.*member)) -
                                                     reinterpret_cast<const std::byte*>(&args)));
  }
  [[nodiscard]] native::ValueId operand_at(const native::KernelCall& call, std::size_t field) const;

  /// An expression for the address of a value's first element; "nullptr" for kNoValue.
  std::string pointer(native::ValueId id);
  template <typename Args, typename T>
  std::string pointer(const native::KernelCall& call, T Args::*member) {
    return pointer(operand(call, member));
  }
  /// A size or stride. Refuses what does not fit into int32_t.
  std::string number(std::int64_t number);

  /// Makes sure that a piece of text, and all it needs, is in the file.
  void need(std::string_view snippet);
  /// A function `to(from)` as the kernels apply it to their results: a lambda.
  std::string lambda(const native::kernels::Activation& activation);

  /// Writes a line of the current block.
  void line(std::string_view text);
  /// "name(arguments);" over as many lines as that takes.
  void call(std::string_view name, const std::vector<std::string>& arguments);
  /// The same for a function that says whether there is a result: ends the step if there is none.
  void call_or_fail(std::string_view name, const std::vector<std::string>& arguments);
  /// A function of its own that the current step calls: its name, made of that of the node.
  std::string add_function(const std::string& parameters, const std::string& body, bool fails = false);
  void emit_block(const native::Block& block);
  void indent(int by) { indent_ += by; }
  /// The current step cannot be written.
  void refuse(std::string why);
  /// What a step whose data has no result does.
  [[nodiscard]] std::string fail_text() const;

  // --- results --------------------------------------------------------------------------------------------------
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] const std::string& helpers() const { return helpers_; }
  [[nodiscard]] const std::string& functions() const { return functions_; }
  [[nodiscard]] const std::string& weights() const { return weights_; }
  [[nodiscard]] const std::string& places() const { return places_; }
  [[nodiscard]] std::size_t weight_bytes() const { return weight_bytes_; }
  [[nodiscard]] const std::vector<native::Uncovered>& refused() const { return refused_; }
  [[nodiscard]] bool has(std::string_view snippet) const { return needed_.contains(snippet); }
  /// A constant array of the file, for whoever needs one besides the plan's.
  std::string add_constant(std::string_view wish, const native::PlanValue& value);

 private:
  void emit_call(const native::KernelCall& call);
  void describe(const native::KernelCall& call);
  std::string describe_operands(const native::KernelCall& call) const;
  std::string place_of(native::ValueId id);
  [[nodiscard]] std::string wish_for(const native::PlanValue& value) const;

  const native::Plan& plan_;
  PortPlaces ports_;
  Namer names_;
  int step_ = 0;
  int indent_ = 1;
  const native::KernelCall* current_ = nullptr;
  std::set<std::string, std::less<>> needed_;
  std::map<native::ValueId, std::string> pointers_;
  std::string body_;
  std::string helpers_;
  std::string functions_;
  std::string weights_;
  std::string places_;
  std::size_t weight_bytes_ = 0;
  std::vector<native::Uncovered> refused_;
};

}  // namespace leapp::codegen
