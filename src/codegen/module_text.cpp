// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/module_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codegen/generate.h"
#include "codegen/text.h"

namespace leapp::codegen {
namespace {

std::string fields_text(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) {
    const std::string comment = field.comment.empty() ? "" : fmt::format("  // {}\n", field.comment);
    // Arrays of nothing are not allowed: one element that nobody uses.
    text += fmt::format("{}  {} {}[{}];\n", comment, c_type(field.dtype), field.name,
                        std::max<std::size_t>(field.elements, 1));
  }
  return text;
}

std::string struct_text(const char* name, const std::string& comment, const std::string& fields) {
  return fmt::format("\n{}struct {} {{\n{}}};\n", comment, name, fields);
}

bool uses(const ModuleText& module, DType dtype) {
  for (const auto* fields : {&module.inputs, &module.outputs, &module.states, &module.next, &module.work}) {
    for (const Field& field : *fields) {
      if (field.dtype == dtype) return true;
    }
  }
  return false;
}

// The two types that C++17 has none for.
std::string half_types(const ModuleText& module, const Emitter& emitter) {
  std::string text;
  if (uses(module, DType::kFloat16) || emitter.has("Float16")) {
    text += "\n// A float16 number by its bits (IEEE 754 binary16).\nstruct Float16 {\n  uint16_t bits;\n};\n";
  }
  if (uses(module, DType::kBFloat16) || emitter.has("BFloat16")) {
    text += "\n// A bfloat16 number by its bits: the upper half of a float.\nstruct BFloat16 {\n  uint16_t bits;\n};\n";
  }
  return text;
}

std::string guard_of(const std::string& name) {
  std::string guard = "LEAPP_GENERATED_" + name + "_H";
  std::transform(guard.begin(), guard.end(), guard.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return guard;
}

std::string zero_text(const Field& field) {
  return fmt::format("  fill(state.{}, {}, {}{{}});\n", field.name, std::max<std::size_t>(field.elements, 1),
                     c_type(field.dtype));
}

std::string init_text(const ModuleText& module) {
  std::string body;
  for (const Field& field : module.next) body += zero_text(field);
  for (const Field& field : module.work) body += zero_text(field);
  return fmt::format("\nvoid init(State& state) {{\n{}  reset(state);\n}}\n", body);
}

std::string reset_text(const ModuleText& module) {
  std::string body;
  for (std::size_t i = 0; i < module.states.size(); ++i) {
    const Field& field = module.states[i];
    body += module.initial[i].empty()
                ? zero_text(field)
                : fmt::format("  copy({}, state.{}, {});\n", module.initial[i], field.name, field.elements);
  }
  if (body.empty()) body = "  static_cast<void>(state);\n";
  return fmt::format("\nvoid reset(State& state) {{\n{}}}\n", body);
}

std::string step_text(const ModuleText& module, const Emitter& emitter) {
  std::string body;
  if (!emitter.places().empty()) {
    body +=
        "  // Working memory. What is never needed at the same time may lie in the same place.\n" + emitter.places();
  }
  body += (body.empty() ? "" : "\n") + emitter.body();
  if (!module.copies.empty()) body += "\n  // What was made takes effect.\n";
  for (const Copy& copy : module.copies)
    body += fmt::format("  copy({}, {}, {});\n", copy.from, copy.to, copy.elements);
  std::string unused;
  for (const char* name : {"state", "inputs", "outputs"}) {
    if (body.find(fmt::format("{}.", name)) == std::string::npos) {
      unused += fmt::format("  static_cast<void>({});\n", name);
    }
  }
  return fmt::format("\nint32_t step(State& state, const Inputs& inputs, Outputs& outputs) {{\n{}{}  return 0;\n}}\n",
                     unused, body);
}

}  // namespace

std::string port_comment(const bundle::Port& port) {
  std::string text = comment_text(port.name) + " " + type_text(port.dtype, port.shape);
  if (port.kind) text += ", " + comment_text(*port.kind);
  if (!port.element_names) return text;
  for (const bundle::AxisNames& axis : *port.element_names) {
    if (axis) text += fmt::format("; {}", comment_text(join(*axis, ", "), 400));
  }
  return text;
}

std::size_t state_bytes(const ModuleText& module) {
  std::size_t bytes = 0;
  for (const auto* fields : {&module.states, &module.next, &module.work}) {
    for (const Field& field : *fields) bytes += std::max<std::size_t>(field.elements, 1) * dtype_size(field.dtype);
  }
  return bytes;
}

std::string header_text(const ModuleText& module, const Emitter& emitter) {
  const std::string guard = guard_of(module.name);
  std::string text = first_line(module.bundle);
  text += fmt::format(
      "//\n// {} bytes of weights, {} bytes of state and working memory. Call init once, then step as often as "
      "wanted.\n",
      module.weight_bytes, state_bytes(module));
  text += "// No heap, no globals that change: several states may be stepped side by side.\n";
  text += fmt::format("#ifndef {0}\n#define {0}\n\n#include <stdint.h>\n\nnamespace {1} {{\n", guard, module.name);
  text += half_types(module, emitter);
  text += struct_text("Inputs", "// What a step is given: dense tensors, row by row.\n", fields_text(module.inputs));
  text += struct_text("Outputs", "// What a step gives.\n", fields_text(module.outputs));
  const std::string states = fields_text(module.states);
  const std::string own = fields_text(module.next) + fields_text(module.work);
  text += struct_text("State", "// What is kept from step to step, and below it memory to work in.\n",
                      states + (own.empty() ? "" : "  // To work in: nothing that a caller needs.\n" + own));
  text += "\n// Makes a state ready for the first step.\nvoid init(State& state);\n";
  text +=
      "\n// One pass of the pipeline. Returns 0, or the number of the step, as in the other file, at which the data "
      "has no\n"
      "// result (an index that is out of range, an integer divided by 0): outputs and state are then what they were.\n"
      "int32_t step(State& state, const Inputs& inputs, Outputs& outputs);\n";
  text += "\n// Puts what is kept from step to step back to its initial values.\nvoid reset(State& state);\n";
  return text + fmt::format("\n}}  // namespace {}\n\n#endif  // {}\n", module.name, guard);
}

std::string source_text(const ModuleText& module, const Emitter& emitter) {
  std::string text = first_line(module.bundle);
  text += fmt::format("#include \"{}.h\"\n\n#include <math.h>\n#include <stdint.h>\n\nnamespace {} {{\nnamespace {{\n",
                      module.name, module.name);
  text += "\nstatic_assert(sizeof(float) == 4 && sizeof(double) >= 4, \"float is IEEE 754 binary32\");\n";
  text += emitter.helpers();
  if (!emitter.weights().empty()) text += "\n// --- weights and other constants ---\n" + emitter.weights();
  if (!emitter.functions().empty()) text += "\n// --- steps of their own ---\n" + emitter.functions();
  text += "\n}  // namespace\n";
  text += init_text(module);
  text += step_text(module, emitter);
  text += reset_text(module);
  return text + fmt::format("\n}}  // namespace {}\n", module.name);
}

}  // namespace leapp::codegen
