// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/base/tensor_view.h"
#include "leapp/bundle/spec.h"

namespace leapp::runtime {

/// What a port is to the caller.
enum class PortRole {
  kInput,
  kOutput,
  kFeedback,  ///< an input that comes from the step before
};

/// A port of a loaded pipeline and what the bundle says of it. A copy: it may outlive the pipeline, its memory not.
struct Port {
  std::string name;  ///< "node/port"
  std::string node;
  PortRole role = PortRole::kInput;
  std::optional<std::string> kind;  ///< "state/joint/position", ...
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  /// One entry for each axis, whichever way the bundle has them (`element_names`, `axes`); as many names as the axis
  /// has places, or none.
  std::vector<bundle::AxisNames> element_names;
  std::optional<bundle::TemporalAxis> temporal_axis;  ///< its period is above zero
  std::optional<double> frequency;                    ///< of the bundle, in Hz
  bundle::YamlMap extra;                              ///< other keys of the port
  /// Where it lives, in place for as long as the pipeline lives. Null for kFeedback: ask Pipeline::feedback_input.
  void* data = nullptr;

  /// The tensor that the port holds now.
  [[nodiscard]] TensorView view() const { return {data, dtype, shape}; }
  /// Number of elements.
  [[nodiscard]] std::size_t size() const { return view().size(); }
  /// "[0,3] (LF_KNEE)", or "[0,3]" where nothing is named: of an element by its place in memory. For messages.
  /// REQUIRES: element < size().
  [[nodiscard]] LEAPP_API std::string element_text(std::size_t element) const;
};

/// "policy/q (state/joint/position), policy/v": names and kinds, for messages.
[[nodiscard]] LEAPP_API std::string describe(const std::vector<Port>& ports);

/// The port of that kind. kNotFound when there is none, kInvalidArgument when there are several; both list `ports`.
[[nodiscard]] LEAPP_API Result<Port> port_of_kind(const std::vector<Port>& ports, std::string_view kind);

/// How often the bundle is meant to step, in Hz: `frequency` of `pipeline.configs`. Nothing when it is not there or is
/// no number above zero.
[[nodiscard]] LEAPP_API std::optional<double> frequency_of(const bundle::BundleSpec& spec);

/// What `spec` says of "node/port". kNotFound when there is none. Its memory is not set.
[[nodiscard]] LEAPP_API Result<Port> port_of(const bundle::BundleSpec& spec, std::string_view name, PortRole role);

}  // namespace leapp::runtime
