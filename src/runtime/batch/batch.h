// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"
#include "leapp/runtime/port.h"

/// Many rows at once: a model that takes all of them, or one that is run for each.
namespace leapp::runtime {

/// More rows than anybody has a use for.
inline constexpr std::size_t kMostRows = 1 << 16U;

struct BatchedModel {
  std::unique_ptr<engine::EngineModel> model;  ///< its ports have the rows in front
  Status widened;                              ///< ok when one run does all rows; else why there is one for each
};

struct BatchRequest {
  engine::Engine& engine;
  const engine::ModelSource& source;  ///< for one row
  const bundle::Model& node;          ///< likewise
  bool onnx = true;                   ///< others are never widened
  std::size_t rows = 1;
};

/// Loads the model, and widens it if its operators keep rows apart (widen.h) and it then gives every row what the
/// original gives it, to rounding, on two sets of made-up inputs. Otherwise it is run once for each row.
Result<BatchedModel> load_batched(const BatchRequest& request);

/// The bundle with `rows` in front of every port; as it is for one row.
[[nodiscard]] bundle::BundleSpec widened_ports(bundle::BundleSpec spec, std::size_t rows);

/// As many copies one after the other.
void repeat_rows(std::vector<std::byte>& value, std::size_t rows);

/// What a port says of its axes, with `rows` in front.
[[nodiscard]] Port widened_port(Port port, std::size_t rows);

}  // namespace leapp::runtime
