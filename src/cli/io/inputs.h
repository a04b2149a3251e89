// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/io/arrays.h"
#include "cli/measure/array_log.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/mock.h"

namespace leapp::cli {

struct InputOptions {
  std::string file;  ///< empty: mock data
  std::uint64_t seed = 0;
  bool cast = false;
  std::uint64_t memory_limit = 0;  ///< what the file may need; 0: as a bundle may
};

/// What a pipeline is fed with, step by step. Must not outlive the pipeline.
class InputSource {
 public:
  /// In a file, names may be "node/port", "port" when only one input is called that, or those of a trace. An error
  /// names an input that is missing, and a name that is none.
  static Result<InputSource> open(runtime::Pipeline& pipeline, const std::vector<TracedPort>& ports,
                                  const InputOptions& options);

  InputSource(InputSource&&) = default;
  InputSource& operator=(InputSource&&) = default;

  /// How many steps there is data for; nothing when there is no end.
  [[nodiscard]] std::optional<std::size_t> steps() const { return steps_; }

  /// Writes what the pipeline reads in that step. REQUIRES: numbers are asked for in order, from 0.
  void feed(std::size_t step);

 private:
  InputSource() = default;

  struct Fed {
    TensorView view;
    std::optional<Series> series;
    std::optional<runtime::MockSource> mock;
  };

  std::vector<Fed> inputs_;
  std::optional<std::size_t> steps_;
};

}  // namespace leapp::cli
