// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The two files around the steps.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/emitter.h"
#include "leapp/base/dtype.h"
#include "leapp/bundle/spec.h"

namespace leapp::codegen {

/// A member of one of the structs: an array.
struct Field {
  std::string name;
  DType dtype = DType::kFloat32;
  std::size_t elements = 0;
  std::string comment;
};

/// At the end of a step: what was made takes effect.
struct Copy {
  std::string from;
  std::string to;
  std::size_t elements = 0;
};

struct ModuleText {
  std::string bundle;
  std::string name;
  std::vector<Field> inputs;
  std::vector<Field> outputs;
  std::vector<Field> states;         ///< what is fed back
  std::vector<std::string> initial;  ///< for each of `states` an array of the file; empty: zeros
  std::vector<Field> next;           ///< made in a step, taken over at its end
  std::vector<Field> work;
  std::vector<Copy> copies;
  std::size_t weight_bytes = 0;
};

/// "policy/obs float32[1,12], state/joint/position: hip, knee".
[[nodiscard]] std::string port_comment(const bundle::Port& port);
[[nodiscard]] std::size_t state_bytes(const ModuleText& module);
[[nodiscard]] std::string header_text(const ModuleText& module, const Emitter& emitter);
[[nodiscard]] std::string source_text(const ModuleText& module, const Emitter& emitter);

}  // namespace leapp::codegen
