// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "runtime/pipeline/elements.h"
#include "runtime/robot/passed.h"

namespace leapp::runtime {
namespace {

using std::chrono::nanoseconds;

constexpr double kNanoseconds = 1e6;  // in a millisecond

Status check_port(const Port& port, const ChunkOptions& options) {
  const std::string where = fmt::format("{} ({})", port.name, type_text(port.dtype, port.shape));
  if (port.role != PortRole::kOutput || port.data == nullptr) {
    return invalid_argument(fmt::format("{}: expected an output of a pipeline to play back", where));
  }
  if (!port.temporal_axis) {
    return invalid_argument(
        fmt::format("{}: expected an axis of moments to play back, found none in the bundle: export it with "
                    "TensorSemantics(element_names=[TemporalAxis(period_ms=...), ...])",
                    where));
  }
  if (port.shape[port.temporal_axis->axis] < 1) {
    return invalid_argument(fmt::format("{}: expected at least one moment, found 0", where));
  }
  if (port.dtype == DType::kBool && options.mode != ChunkMode::kHold) {
    return invalid_argument(fmt::format("{}: expected numbers to interpolate, found bool: use hold", where));
  }
  return {};
}

Status check_overlap(const Port& port, const ChunkOptions& options) {
  const auto rows = static_cast<double>(port.shape[port.temporal_axis->axis]);
  const double longest = (rows - 1) * port.temporal_axis->period_ms;
  const bool blends = options.mode == ChunkMode::kBlend;
  if (!blends && options.overlap_ms == 0) return {};
  if (blends && options.overlap_ms > 0 && options.overlap_ms <= longest) return {};
  return invalid_argument(fmt::format("{}: overlap_ms: expected {}, found {}", port.name,
                                      blends ? fmt::format("more than 0 and at most {}, the length of a chunk of {} "
                                                           "rows {} ms apart",
                                                           longest, rows, port.temporal_axis->period_ms)
                                             : "none, for only blend has one",
                                      options.overlap_ms));
}

/// The port without that axis.
Port without_axis(Port port, std::size_t axis) {
  const auto at = static_cast<long>(axis);
  port.shape.erase(port.shape.begin() + at);
  port.element_names.erase(port.element_names.begin() + at);
  port.temporal_axis.reset();
  if (port.dtype != DType::kFloat32) port.dtype = DType::kFloat64;
  return port;
}

}  // namespace

Result<ChunkPlayer> ChunkPlayer::make(const Port& output, const ChunkOptions& options) {
  LEAPP_RETURN_IF_ERROR(check_port(output, options));
  LEAPP_RETURN_IF_ERROR(check_overlap(output, options));
  ChunkPlayer player;
  const std::size_t axis = output.temporal_axis->axis;
  player.source_ = output;
  player.options_ = options;
  // Longer ones, times the rows, do not fit.
  constexpr double kLongest = 1e12;  // thirty years
  const double length = output.temporal_axis->period_ms * static_cast<double>(output.shape[axis]);
  if (!(length <= kLongest)) {
    return invalid_argument(fmt::format("{}: expected chunks of at most {} ms, found {} rows {} ms apart", output.name,
                                        kLongest, output.shape[axis], output.temporal_axis->period_ms));
  }
  player.period_ = nanoseconds(std::llround(output.temporal_axis->period_ms * kNanoseconds));
  player.overlap_ = nanoseconds(std::llround(options.overlap_ms * kNanoseconds));
  if (player.period_.count() < 1) {
    return invalid_argument(fmt::format("{}: expected a period of at least a nanosecond, found {} ms", output.name,
                                        output.temporal_axis->period_ms));
  }
  player.rows_ = static_cast<std::size_t>(output.shape[axis]);
  for (std::size_t i = axis + 1; i < output.shape.size(); ++i) {
    player.inner_ *= static_cast<std::size_t>(output.shape[i]);
  }
  player.newest_.rows.resize(output.size());
  player.before_.rows.resize(output.size());
  player.port_ = without_axis(output, axis);
  player.memory_.resize(std::max<std::size_t>(player.port_.size(), 1));
  player.port_.data = player.memory_.data();
  return player;
}

void ChunkPlayer::take(Time start) noexcept {
  // A chunk that was never played because another came at the same time or earlier is not what was there before.
  if (!newest_.filled || newest_.start < start) std::swap(newest_, before_);
  newest_.start = start;
  newest_.filled = true;
  const std::size_t width = newest_.rows.size() / rows_;
  for (std::size_t element = 0; element < newest_.rows.size(); ++element) {
    const std::size_t row = element / inner_ % rows_;
    const std::size_t column = element / (inner_ * rows_) * inner_ + element % inner_;
    newest_.rows[row * width + column] = load_element(source_.dtype, source_.data, element);
  }
}

// In rows, from the first to the last.
double ChunkPlayer::place(const Chunk& chunk, Time time) const noexcept {
  const double rows = static_cast<double>(passed_between(chunk.start, time)) / static_cast<double>(period_.count());
  return std::clamp(rows, 0.0, static_cast<double>(rows_ - 1));
}

double ChunkPlayer::value(const Chunk& chunk, double place, std::size_t element) const noexcept {
  const std::size_t width = chunk.rows.size() / rows_;
  const auto row = static_cast<std::size_t>(place);
  const double here = chunk.rows[row * width + element];
  const double part = place - static_cast<double>(row);
  if (options_.mode == ChunkMode::kHold || part == 0) return here;
  const double there = chunk.rows[(row + 1) * width + element];
  return here + (there - here) * part;
}

ChunkResult ChunkPlayer::play(Time time) noexcept {
  if (!newest_.filled) return ChunkResult::kEmpty;
  const bool early = time < newest_.start;
  const nanoseconds since(passed_between(newest_.start, time));
  double share = 1;  // of the newest
  if (before_.filled && options_.mode == ChunkMode::kBlend && since < overlap_) {
    share = static_cast<double>(since.count()) / static_cast<double>(overlap_.count());
  }
  if (before_.filled && early) share = 0;
  const double ours = place(newest_, time);
  const double theirs = before_.filled ? place(before_, time) : 0;
  const std::size_t width = newest_.rows.size() / rows_;
  for (std::size_t i = 0; i < width; ++i) {
    double number = share > 0 ? value(newest_, ours, i) : 0;
    if (share < 1) number = share * number + (1 - share) * value(before_, theirs, i);
    store_element(port_.dtype, port_.data, i, number);
  }
  if (early) return ChunkResult::kBefore;
  // A held row is heard for a whole period, the last one too.
  const bool over = options_.mode == ChunkMode::kHold ? since >= length() + period_ : since > length();
  return over ? ChunkResult::kEnded : ChunkResult::kPlaying;
}

}  // namespace leapp::runtime
