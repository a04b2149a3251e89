// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/format.h"

#include <algorithm>
#include <array>

namespace leapp::bundle {
namespace {

/// In the order of ModelFormat.
constexpr auto kFormats = std::to_array<FormatInfo>({
    {ModelFormat::kTorchScript, "jit", ".pt", "1.1", /*needs_torch=*/true, /*needs_python=*/false},
    {ModelFormat::kOnnx, "onnx", ".onnx", "1.1", /*needs_torch=*/false, /*needs_python=*/false},
    {ModelFormat::kPt2, "pt2", ".pt2", "1.3", /*needs_torch=*/true, /*needs_python=*/true},
});

template <typename Is>
const FormatInfo* find(Is is) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(), is);
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace

std::span<const FormatInfo> model_formats() { return kFormats; }

const FormatInfo& format_info(ModelFormat format) { return kFormats.at(static_cast<std::size_t>(format)); }

const FormatInfo* find_format(std::string_view name) {
  return find([&](const FormatInfo& row) { return row.name == name; });
}

const FormatInfo* find_format_of_suffix(std::string_view suffix) {
  return find([&](const FormatInfo& row) { return row.suffix == suffix; });
}

std::string format_names() {
  std::string text;
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (i > 0) text += i + 1 == kFormats.size() ? " or " : ", ";
    text += kFormats[i].name;
  }
  return text;
}

std::optional<ModelFormat> ModelParameters::format() const {
  const FormatInfo* known = backend ? find_format(*backend) : nullptr;
  return known == nullptr ? std::nullopt : std::optional(known->format);
}

}  // namespace leapp::bundle
