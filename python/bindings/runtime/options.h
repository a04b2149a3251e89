// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "common/exceptions.h"
#include "leapp/runtime/options.h"

namespace leapp::python {

/// The value that `text` names, or a ValueError with all the names there are.
template <typename T, std::size_t N>
T choose(const char* option, const std::string& text, const std::array<std::pair<const char*, T>, N>& choices) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", quote(name));
  }
  raise(invalid_argument(fmt::format("{}: expected one of {}; found {}", option, known, quote(text))));
}

/// What leapp.InferenceManager and leapp.Reloader say of how to load.
runtime::LoadOptions load_options(const nanobind::kwargs& given);

/// "exported", "zeros", "first_frame"; else a ValueError.
runtime::ResetMode reset_mode(const char* option, const std::string& mode);

}  // namespace leapp::python
