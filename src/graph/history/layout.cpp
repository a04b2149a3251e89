// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/layout.h"

#include <algorithm>
#include <numeric>

namespace leapp::graph {
namespace {

using Places = std::vector<std::int64_t>;

std::int64_t product(const Shape& shape, std::size_t from, std::size_t to) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(from),
                         shape.begin() + static_cast<std::ptrdiff_t>(to), std::int64_t{1}, std::multiplies<>());
}

/// What happens to whole rows along `axis`; nothing when their elements do not go together.
std::optional<Places> along(const Shape& shape, std::size_t axis, const Places& next) {
  const std::int64_t extent = shape[axis];
  const std::int64_t inner = product(shape, axis + 1, shape.size());
  Places rows(static_cast<std::size_t>(extent), kOther);
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const std::int64_t row = place / inner % extent;
    std::int64_t from = next[i];
    if (from >= 0) {
      const std::int64_t source = from / inner % extent;
      // Anything but the same element of another row is no shift along this axis.
      if (from - source * inner != place - row * inner) return std::nullopt;
      from = source;
    }
    if (place < extent * inner && place % inner == 0) rows[static_cast<std::size_t>(row)] = from;
    if (rows[static_cast<std::size_t>(row)] != from) return std::nullopt;
  }
  return rows;
}

/// Reads rows from left to right.
class LayoutScanner {
 public:
  LayoutScanner(std::size_t axis, const Places& rows) : axis_(axis), rows_(rows) {}

  std::vector<FrameLayout> run() {
    for (std::int64_t at = 0; at < count();) {
      auto part = older_first(at);
      if (!part) part = newer_first(at);
      if (!part) {
        ++at;
        continue;
      }
      at = part->stop;
      add(*part);
    }
    // What moves on to a place that is in no part would have to be filled too.
    std::erase_if(parts_, [&](const FrameLayout& part) { return leaves(part); });
    return std::move(parts_);
  }

 private:
  [[nodiscard]] bool leaves(const FrameLayout& part) const {
    for (std::int64_t at = 0; at < count(); ++at) {
      const bool inside = at >= part.start && at < part.stop;
      if (!inside && row(at) >= part.start && row(at) < part.stop) return true;
    }
    return false;
  }

  [[nodiscard]] std::int64_t count() const { return std::ssize(rows_); }
  [[nodiscard]] std::int64_t row(std::int64_t at) const {
    return at < count() ? rows_[static_cast<std::size_t>(at)] : kOther;
  }

  // at + size, at + size + 1, ... and then `size` new ones.
  [[nodiscard]] std::optional<FrameLayout> older_first(std::int64_t at) const {
    const std::int64_t size = row(at) - at;
    if (row(at) < 0 || size <= 0) return std::nullopt;
    std::int64_t stop = at;
    while (row(stop) == stop + size) ++stop;
    for (const std::int64_t end = stop + size; stop < end; ++stop) {
      if (row(stop) != kNew) return std::nullopt;
    }
    if ((stop - at) % size != 0) return std::nullopt;
    return FrameLayout{axis_, at, stop, (stop - at) / size, size, false};
  }

  // New ones, and then those from the beginning. Without the latter: one frame.
  [[nodiscard]] std::optional<FrameLayout> newer_first(std::int64_t at) const {
    if (row(at) != kNew) return std::nullopt;
    std::int64_t stop = at;
    while (row(stop) == kNew) ++stop;
    const std::int64_t size = stop - at;
    const std::int64_t first = stop;
    while (row(stop) >= 0 && row(stop) == stop - size) ++stop;
    if ((stop - at) % size != 0) stop = first;
    return FrameLayout{axis_, at, stop, (stop - at) / size, size, stop != first};
  }

  // Equal neighbours are groups of one part.
  void add(const FrameLayout& part) {
    if (!parts_.empty()) {
      FrameLayout& last = parts_.back();
      const bool same = last.frames == part.frames && last.size == part.size && last.newest_first == part.newest_first;
      if (same && last.stop == part.start && part.frames > 1) {
        last.stop = part.stop;
        return;
      }
    }
    parts_.push_back(part);
  }

  std::size_t axis_;
  const Places& rows_;
  std::vector<FrameLayout> parts_;
};

}  // namespace

std::vector<FrameLayout> find_frames(const Shape& shape, const Places& next) {
  if (next.empty()) return {};
  if (std::all_of(next.begin(), next.end(), [](std::int64_t from) { return from == kNew; })) return {FrameLayout{}};
  std::vector<FrameLayout> best;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 2) continue;
    const auto rows = along(shape, axis, next);
    if (!rows) continue;
    std::vector<FrameLayout> found = LayoutScanner(axis, *rows).run();
    const auto shifts = [](const FrameLayout& part) { return part.frames > 1; };
    if (std::any_of(found.begin(), found.end(), shifts)) return found;
    if (best.empty()) best = std::move(found);
  }
  return best;
}

std::vector<std::int64_t> newest_frame(const Shape& shape, const FrameLayout& layout) {
  Places places;
  if (!layout.axis) {
    places.resize(static_cast<std::size_t>(element_count(shape)));
    std::iota(places.begin(), places.end(), 0);
    return places;
  }
  const std::int64_t outer = product(shape, 0, *layout.axis);
  const std::int64_t inner = product(shape, *layout.axis + 1, shape.size());
  const std::int64_t group = layout.frames * layout.size;
  const std::int64_t newest = layout.newest_first ? 0 : (layout.frames - 1) * layout.size;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t at = layout.start; at < layout.stop; at += group) {
      const std::int64_t first = (o * shape[*layout.axis] + at + newest) * inner;
      for (std::int64_t i = 0; i < layout.size * inner; ++i) places.push_back(first + i);
    }
  }
  return places;
}

}  // namespace leapp::graph
