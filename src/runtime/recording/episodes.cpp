// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/episodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "bundle/files/safetensors_file.h"
#include "leapp/bundle/reader.h"
#include "runtime/pipeline/elements.h"
#include "runtime/recording/step_log_reader.h"

namespace leapp::runtime {
namespace {

constexpr std::uint64_t kLargestRecording = std::uint64_t{1} << 36U;

/// Memory of a port, of one row.
struct Row {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// Most rows are short, and there are many of them: a call for each would take longer than the copy.
void copy_row(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kChunk = 16;
  constexpr std::size_t kMost = 8 * kChunk;
  if (bytes < kChunk || bytes > kMost) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (std::size_t at = 0; at + kChunk <= bytes; at += kChunk) std::memcpy(to + at, from + at, kChunk);
  std::memcpy(to + bytes - kChunk, from + bytes - kChunk, kChunk);
}

std::vector<Row> rows_of(const std::vector<TensorView>& views, std::size_t batch) {
  std::vector<Row> rows;
  for (const TensorView& view : views) {
    rows.push_back({static_cast<std::byte*>(view.data), view.size() * dtype_size(view.dtype) / batch});
  }
  return rows;
}

class Stepping {
 public:
  Stepping(Pipeline& pipeline, std::span<const Episode> episodes) : pipeline_(pipeline), episodes_(episodes) {
    std::vector<TensorView> inputs;
    std::vector<TensorView> outputs;
    for (const std::string& name : pipeline.inputs()) inputs.push_back(pipeline.input(name).value());
    for (const std::string& name : pipeline.outputs()) outputs.push_back(std::as_const(pipeline).output(name).value());
    inputs_ = rows_of(inputs, pipeline.batch());
    outputs_ = rows_of(outputs, pipeline.batch());
    for (const Episode& episode : episodes) longest_ = std::max(longest_, episode.steps);
    next_reset_.resize(episodes.size());
  }

  std::optional<EpisodeFailure> run(ResetMode mode) {
    if (Status reset = pipeline_.reset(mode); !reset.ok()) return EpisodeFailure{0, std::move(reset)};
    for (std::size_t step = 0; step < longest_; ++step) {
      for (std::size_t row = 0; row < pipeline_.batch(); ++row) feed(row, step);
      if (Status reset = reset_rows(step, mode); !reset.ok()) return EpisodeFailure{step, std::move(reset)};
      if (pipeline_.step() != StepResult::kOk) return EpisodeFailure{step, pipeline_.error()};
      for (std::size_t row = 0; row < episodes_.size(); ++row) keep(row, step);
    }
    return std::nullopt;
  }

 private:
  void feed(std::size_t row, std::size_t step) {
    const bool active = row < episodes_.size() && step < episodes_[row].steps;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      std::byte* to = inputs_[i].data + row * inputs_[i].bytes;
      if (!active) {
        std::memset(to, 0, inputs_[i].bytes);
        continue;
      }
      const EpisodeInput& input = episodes_[row].inputs[i];
      copy_row(to, input.data + (input.held ? 0 : step * inputs_[i].bytes), inputs_[i].bytes);
    }
  }

  Status reset_rows(std::size_t step, ResetMode mode) {
    for (std::size_t row = 0; row < episodes_.size(); ++row) {
      const std::vector<std::size_t>& resets = episodes_[row].resets;
      std::size_t& next = next_reset_[row];
      if (next >= resets.size() || resets[next] != step) continue;
      ++next;
      if (step > 0) LEAPP_RETURN_IF_ERROR(pipeline_.reset_row(row, mode));
    }
    return {};
  }

  void keep(std::size_t row, std::size_t step) {
    if (step >= episodes_[row].steps) return;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      copy_row(episodes_[row].outputs[i] + step * outputs_[i].bytes, outputs_[i].data + row * outputs_[i].bytes,
               outputs_[i].bytes);
    }
  }

  Pipeline& pipeline_;
  std::span<const Episode> episodes_;
  std::vector<Row> inputs_;
  std::vector<Row> outputs_;
  std::vector<std::size_t> next_reset_;
  std::size_t longest_ = 0;
};

/// |a - b|, also of integers that a double cannot tell apart.
template <typename Element>
double distance_of(const Element& a, const Element& b) {
  if constexpr (std::is_same_v<Element, std::int64_t>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return static_cast<double>(a > b ? x - y : y - x);
  } else {
    return std::fabs(to_number(a) - to_number(b));
  }
}

EpisodeColumn column_of(const StepLogReader::Port& port) { return {port.name, port.dtype, port.shape, {}}; }

void append(const std::vector<std::vector<std::byte>>& values, std::size_t first, std::vector<EpisodeColumn>& columns) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<std::byte>& bytes = columns[first + i].bytes;
    bytes.insert(bytes.end(), values[i].begin(), values[i].end());
  }
}

Result<EpisodeFile> read_steps(StepLogReader& recording, bool accept_cut) {
  EpisodeFile file;
  for (const auto* ports : {&recording.inputs(), &recording.outputs()}) {
    for (const StepLogReader::Port& port : *ports) file.columns.push_back(column_of(port));
  }
  RecordedStep step;
  std::size_t steps = 0;
  for (;;) {
    LEAPP_ASSIGN_OR_RETURN(const bool there, recording.next(step));
    if (!there) break;
    if (step.info.result != static_cast<std::uint64_t>(StepResult::kOk)) continue;
    if (!step.starts.empty() && steps > 0) file.resets.push_back(steps);
    append(step.inputs, 0, file.columns);
    append(step.outputs, recording.inputs().size(), file.columns);
    ++steps;
  }
  for (EpisodeColumn& column : file.columns) {
    column.shape.insert(column.shape.begin(), static_cast<std::int64_t>(steps));
  }
  if (recording.cut_off()) {
    file.note = fmt::format("the recording was cut off: it has {} whole steps", steps);
    if (!accept_cut) return data_loss(file.note);
  }
  return file;
}

}  // namespace

std::optional<EpisodeFailure> step_episodes(Pipeline& pipeline, std::span<const Episode> episodes, ResetMode mode) {
  return Stepping(pipeline, episodes).run(mode);
}

SeriesDifference compare_series(const SeriesPair& pair, double rtol, double atol) {
  SeriesDifference found;
  found.worst.resize(pair.steps);
  found.element.resize(pair.steps);
  found.outside.resize(pair.steps);
  with_element(pair.dtype, [&](auto* type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    const auto* ours = reinterpret_cast<const Element*>(pair.found);
    const auto* theirs = reinterpret_cast<const Element*>(pair.expected);
    for (std::size_t step = 0; step < pair.steps; ++step) {
      for (std::size_t i = 0; i < pair.elements; ++i) {
        const double a = to_number(ours[step * pair.elements + i]);
        const double b = to_number(theirs[step * pair.elements + i]);
        double distance = distance_of(ours[step * pair.elements + i], theirs[step * pair.elements + i]);
        if (std::isfinite(a) && std::isfinite(b)) {
          found.sum += distance;
          found.sum_squares += distance * distance;
          ++found.compared;
        } else {
          ++found.not_finite;
          const bool same = a == b || (std::isnan(a) && std::isnan(b));
          distance = same ? 0 : std::numeric_limits<double>::infinity();
        }
        if (distance > found.worst[step]) {
          found.worst[step] = distance;
          found.element[step] = static_cast<std::int64_t>(i);
        }
        if (distance > 0 && !(distance <= atol + rtol * std::fabs(b))) ++found.outside[step];
      }
    }
  });
  return found;
}

SeriesRange range_of(const std::byte* data, DType dtype, std::size_t elements) {
  SeriesRange range;
  with_element(dtype, [&](auto* type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    const auto* values = reinterpret_cast<const Element*>(data);
    for (std::size_t i = 0; i < elements; ++i) {
      const double value = to_number(values[i]);
      if (!std::isfinite(value)) {
        ++range.not_finite;
        continue;
      }
      range.least = range.finite == 0 ? value : std::min(range.least, value);
      range.most = range.finite == 0 ? value : std::max(range.most, value);
      range.sum += value;
      ++range.finite;
    }
  });
  return range;
}

Result<EpisodeFile> read_safetensors_episode(const std::filesystem::path& file) {
  LEAPP_ASSIGN_OR_RETURN(const bundle::SafetensorsFile opened, bundle::SafetensorsFile::open(file));
  EpisodeFile episode;
  for (const bundle::TensorRange& tensor : opened.tensors()) {
    LEAPP_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, opened.read(tensor));
    episode.columns.push_back({tensor.name, tensor.dtype, tensor.shape, std::move(bytes)});
  }
  return episode;
}

Result<EpisodeFile> read_recorded_episode(const std::filesystem::path& file, bool accept_cut) {
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, bundle::read_file(file, kLargestRecording));
  LEAPP_ASSIGN_OR_RETURN(StepLogReader recording,
                         StepLogReader::open({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return read_steps(recording, accept_cut);
}

}  // namespace leapp::runtime
