// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "leapp/base/export.h"
#include "leapp/bundle/spec.h"

/// What models are written in. All functions may be called from any thread.
namespace leapp::bundle {

/// A row of the table of formats (src/bundle/format.cpp).
struct FormatInfo {
  ModelFormat format = ModelFormat::kOnnx;
  std::string_view name;    ///< `backend` in the YAML
  std::string_view suffix;  ///< of the model's file, with its dot
  std::string_view since;   ///< the oldest "leapp config version" that has it
  bool needs_torch = false;
  bool needs_python = false;  ///< the C++ runtime alone does not run it
};

/// All formats that a model may have.
[[nodiscard]] LEAPP_API std::span<const FormatInfo> model_formats();

/// The description of one format.
[[nodiscard]] LEAPP_API const FormatInfo& format_info(ModelFormat format);

/// Null for what nobody knows.
[[nodiscard]] LEAPP_API const FormatInfo* find_format(std::string_view name);
[[nodiscard]] LEAPP_API const FormatInfo* find_format_of_suffix(std::string_view suffix);

/// "jit, onnx or pt2", for messages.
[[nodiscard]] LEAPP_API std::string format_names();

}  // namespace leapp::bundle
