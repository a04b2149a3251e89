// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole episodes of recorded inputs through a pipeline, and how two series of values compare. For those who replay many
// of them: one call is one episode, or as many as the pipeline has rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/runtime/pipeline.h"

namespace leapp::runtime {

/// What a port is given: a value for each step, one after the other, or one that holds for all.
struct EpisodeInput {
  const std::byte* data = nullptr;
  bool held = false;
};

/// One row's worth of work. Memory is the caller's.
struct Episode {
  std::size_t steps = 0;
  std::vector<EpisodeInput> inputs;  ///< in the order of Pipeline::inputs
  std::vector<std::byte*> outputs;   ///< in the order of Pipeline::outputs: a value for each step
  std::vector<std::size_t> resets;   ///< steps before which the state begins anew, besides the first; in order
};

struct EpisodeFailure {
  std::size_t step = 0;
  Status status;
};

/// Resets the state, then steps all episodes side by side until the longest has ended; rows that have none, or whose
/// episode has ended, are given zeros. Nothing when all went well. A step that fails ends it: outputs of the steps
/// before are there. REQUIRES: as many inputs and outputs as the pipeline has, at most Pipeline::batch() episodes.
LEAPP_API std::optional<EpisodeFailure> step_episodes(Pipeline& pipeline, std::span<const Episode> episodes,
                                                      ResetMode mode);

/// Two series of values of a port: where they differ, and by how much.
struct SeriesDifference {
  // For each step.
  std::vector<double> worst;          ///< largest |found - expected|; infinite where only one is a number
  std::vector<std::int64_t> element;  ///< where that is, in row-major order
  std::vector<std::int64_t> outside;  ///< elements with |found - expected| > atol + rtol |expected|
  // Of all steps.
  double sum = 0;               ///< of |found - expected|, where both are finite
  double sum_squares = 0;       ///< likewise
  std::int64_t compared = 0;    ///< elements where both are finite
  std::int64_t not_finite = 0;  ///< elements where one or both are not
};

struct SeriesPair {
  const std::byte* found = nullptr;
  const std::byte* expected = nullptr;
  DType dtype = DType::kFloat32;
  std::size_t steps = 0;
  std::size_t elements = 0;  ///< of a step
};

[[nodiscard]] LEAPP_API SeriesDifference compare_series(const SeriesPair& pair, double rtol, double atol);

/// What a series is like.
struct SeriesRange {
  double least = 0;
  double most = 0;
  double sum = 0;
  std::int64_t finite = 0;
  std::int64_t not_finite = 0;
};

[[nodiscard]] LEAPP_API SeriesRange range_of(const std::byte* data, DType dtype, std::size_t elements);

/// A tensor of a file.
struct EpisodeColumn {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;  ///< the first axis is the step
  std::vector<std::byte> bytes;
};

struct EpisodeFile {
  std::vector<EpisodeColumn> columns;
  std::vector<std::size_t> resets;  ///< steps before which the state was set to something else
  std::string note;                 ///< what is missing of it; empty: nothing
};

/// Every tensor of a .safetensors file.
LEAPP_API Result<EpisodeFile> read_safetensors_episode(const std::filesystem::path& file);

/// Inputs and outputs of a recording (leapp/runtime/recorder.h), of the steps that succeeded. One that was cut off is
/// kDataLoss, with the number of steps that are whole; `accept_cut`: these steps, and a note.
LEAPP_API Result<EpisodeFile> read_recorded_episode(const std::filesystem::path& file, bool accept_cut);

}  // namespace leapp::runtime
