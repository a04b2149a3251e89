// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "codegen/functions.h"
#include "codegen/kernel_table.h"
#include "codegen/text.h"

namespace leapp::codegen {
namespace {

using native::ValueId;

std::string spaces(int levels) { return std::string(static_cast<std::size_t>(levels) * 2, ' '); }

/// "f(a, b, c)" with the arguments in lines that are not too long.
std::string call_text(std::string_view name, const std::vector<std::string>& arguments, const std::string& indent) {
  const std::string one = fmt::format("{}({})", name, join(arguments, ", "));
  if (indent.size() + one.size() < 116) return one;
  return fmt::format("{}(\n{})", name, wrapped(arguments, indent + "    "));
}

}  // namespace

Emitter::Emitter(const native::Plan& plan, PortPlaces ports) : plan_(plan), ports_(std::move(ports)) {
  for (const std::string& name : helper_names()) names_.reserve(name);
}

ValueId Emitter::operand_at(const native::KernelCall& call, std::size_t field) const {
  for (const native::Operand& operand : call.operands) {
    if (operand.field == field) return operand.value;
  }
  return native::kNoValue;
}

std::string Emitter::number(std::int64_t number) {
  if (number > std::numeric_limits<std::int32_t>::max() || number < -std::numeric_limits<std::int32_t>::max()) {
    refuse("a size that does not fit into 32 bits");
  }
  return std::to_string(number);
}

void Emitter::refuse(std::string why) {
  native::Uncovered one;
  const std::string_view node = current_ == nullptr ? std::string_view() : current_->node;
  const std::size_t space = node.find(' ');
  one.op = std::string(node.substr(0, space));
  one.node = space == std::string_view::npos ? "" : std::string(node.substr(space + 1));
  if (current_ != nullptr) {
    for (const native::Operand& operand : current_->operands) {
      if (operand.access == native::Access::kWrite && one.port.empty()) one.port = value(operand.value).name;
    }
  }
  one.why = std::move(why);
  refused_.push_back(std::move(one));
}

// --- memory -----------------------------------------------------------------------------------------------------

std::string Emitter::add_constant(std::string_view wish, const native::PlanValue& value) {
  const std::string name = names_(wish.empty() ? "constant" : wish);
  const std::size_t size = dtype_size(value.dtype);
  const auto bytes = value.constant->view;
  if (value.dtype == DType::kFloat16) need("Float16");
  if (value.dtype == DType::kBFloat16) need("BFloat16");
  Lines lines("    ");
  for (std::size_t i = 0; i + size <= bytes.size(); i += size) {
    lines.add(literal(value.dtype, bytes.subspan(i, size), true));
  }
  // Arrays of nothing are not allowed.
  if (bytes.size() < size) lines.add(literal(value.dtype, std::vector<std::byte>(size), true));
  weights_ += fmt::format("\n// {} {}\nconst {} {}[{}] = {{\n{}}};\n", comment_text(quote(wish)),
                          type_text(value.dtype, value.shape), c_type(value.dtype), name,
                          std::max<std::size_t>(bytes.size() / size, 1), lines.text());
  weight_bytes_ += bytes.size();
  return name;
}

// Offsets of the memory plan are bytes, and multiples of the element's size.
std::string Emitter::place_of(ValueId id) {
  const native::PlanValue& value = plan_.values[id];
  const std::uint64_t offset = value.place.offset / dtype_size(value.dtype);
  const std::string behind = offset == 0 ? "" : fmt::format(" + {}", offset);
  switch (value.place.space) {
    case native::MemorySpace::kInput:
      return ports_.inputs[value.place.port] + behind;
    case native::MemorySpace::kOutput:
      return ports_.outputs[value.place.port] + behind;
    case native::MemorySpace::kArena:
      return fmt::format("state.work_{} + {}", type_word(value.dtype), offset);
    case native::MemorySpace::kConstant:
      break;
  }
  return "nullptr";
}

// What has no name is called after the node that uses it first.
std::string Emitter::wish_for(const native::PlanValue& value) const {
  if (!value.name.empty() || current_ == nullptr) return value.name;
  return current_->node.substr(current_->node.find(' ') + 1);
}

std::string Emitter::pointer(ValueId id) {
  if (id == native::kNoValue) return "nullptr";
  const auto known = pointers_.find(id);
  if (known != pointers_.end()) return known->second;
  const native::PlanValue& value = plan_.values[id];
  if (c_type(value.dtype).empty()) refuse(fmt::format("elements of type {}", dtype_name(value.dtype)));
  if (value.bytes / dtype_size(value.dtype) > std::numeric_limits<std::int32_t>::max()) {
    refuse(fmt::format("{} has more elements than 32 bits can count", type_text(value.dtype, value.shape)));
  }
  std::string name;
  if (value.constant) {
    name = add_constant(wish_for(value), value);
  } else if (value.place.space == native::MemorySpace::kArena) {
    name = names_(wish_for(value));
    places_ += fmt::format("  {}* const {} = {};  // {}\n", c_type(value.dtype), name, place_of(id),
                           type_text(value.dtype, value.shape));
  } else {
    name = place_of(id);
  }
  return pointers_.emplace(id, std::move(name)).first->second;
}

// --- text -------------------------------------------------------------------------------------------------------

void Emitter::need(std::string_view name) {
  if (!needed_.emplace(name).second) return;
  const Snippet& snippet = find_snippet(name);
  for (std::string_view rest = snippet.needs; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    need(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!snippet.text.empty()) helpers_ += fmt::format("\n{}", snippet.text);
}

std::string Emitter::lambda(const native::kernels::Activation& activation) {
  if (activation.function == native::kernels::Unary::kIdentity) need("identity");
  return activation.function == native::kernels::Unary::kIdentity
             ? "identity"
             : fmt::format("[](float x) {{ return {}; }}", function_text(*this, activation, "x", DType::kFloat32));
}

void Emitter::line(std::string_view text) { body_ += fmt::format("{}{}\n", spaces(indent_), text); }

void Emitter::call(std::string_view name, const std::vector<std::string>& arguments) {
  line(call_text(name, arguments, spaces(indent_)) + ";");
}

std::string Emitter::fail_text() const { return fmt::format("return {};", step_); }

void Emitter::call_or_fail(std::string_view name, const std::vector<std::string>& arguments) {
  line(fmt::format("if (!{}) {}", call_text(name, arguments, spaces(indent_)), fail_text()));
}

std::string Emitter::add_function(const std::string& parameters, const std::string& body, bool fails) {
  const std::string node = current_ == nullptr ? "" : current_->node;
  const std::string name = names_(fmt::format("step_{}_{}", step_, spelled(node)));
  functions_ += fmt::format("\n// Step {}: {}\n{} {}({}) {{\n{}{}}}\n", step_, comment_text(node),
                            fails ? "bool" : "void", name, parameters, body, fails ? "  return true;\n" : "");
  return name;
}

// --- calls ------------------------------------------------------------------------------------------------------

std::string Emitter::describe_operands(const native::KernelCall& call) const {
  std::vector<std::string> from;
  std::vector<std::string> to;
  for (const native::Operand& operand : call.operands) {
    if (operand.access == native::Access::kScratch) continue;
    const native::PlanValue& one = value(operand.value);
    // What was written into the text as a number has no place: it is called as in the model.
    const auto place = pointers_.find(operand.value);
    const std::string& name = place == pointers_.end() ? one.name : place->second;
    const std::string type = type_text(one.dtype, one.shape);
    const std::string text = name.empty() ? type : fmt::format("{} {}", name, type);
    (operand.access == native::Access::kRead ? from : to).push_back(text);
  }
  return fmt::format("{} -> {}", join(from, ", "), join(to, ", "));
}

void Emitter::describe(const native::KernelCall& call) {
  if (!body_.empty()) body_ += '\n';
  line(fmt::format("// Step {}: {}", step_, comment_text(call.node)));
  if (!call.source.empty()) line(fmt::format("// {}", comment_text(call.source)));
}

void Emitter::emit_call(const native::KernelCall& call) {
  ++step_;
  const native::KernelCall* outer = std::exchange(current_, &call);
  describe(call);
  const std::size_t behind_heading = body_.size();
  const KernelEntry* entry = find_kernel(call.kernel->name);
  if (entry == nullptr) {
    refuse(fmt::format("the kernel {} has no source form", quote(call.kernel->name)));
  } else {
    entry->emit(*this, call);
  }
  if (call.blocks.empty()) {
    const std::string operands = comment_text(describe_operands(call), 400);
    body_.insert(behind_heading, fmt::format("{}// {}\n", spaces(indent_), operands));
  }
  current_ = outer;
}

void Emitter::emit_block(const native::Block& block) {
  for (const native::KernelCall& call : block) emit_call(call);
}

}  // namespace leapp::codegen
