// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/view_match.h"

#include <algorithm>

namespace leapp::graph {
namespace {

using Kind = ViewStep::Kind;

// What becomes of one dimension of the base.
struct Part {
  enum class Role : std::uint8_t { kOneIndex, kRange, kDiagonal };
  Role role = Role::kOneIndex;
  std::int64_t extent = 1;
  std::int64_t start = 0;
  std::int64_t count = 1;
  std::int64_t step = 1;

  [[nodiscard]] bool is_whole() const { return start == 0 && count == extent && step == 1; }
  [[nodiscard]] std::int64_t end() const { return std::min(start + count * step, extent); }
};

struct Diagonal {
  std::size_t dim1 = 0;
  std::size_t dim2 = 0;
};

struct Match {
  std::vector<Part> parts;
  std::vector<Diagonal> diagonals;
};

// A run that crosses a boundary between dimensions of the base falls apart there: 12 elements of rows of 6 are 2 rows.
std::vector<StridedDim> split_at(const std::vector<StridedDim>& dims, const std::vector<std::int64_t>& cuts) {
  std::vector<StridedDim> result;
  for (StridedDim dim : dims) {
    for (std::int64_t cut : cuts) {
      const std::int64_t reach = dim.size * dim.stride;
      if (cut <= dim.stride || cut >= reach || cut % dim.stride != 0 || reach % cut != 0) continue;
      result.push_back({reach / cut, cut});
      dim.size = cut / dim.stride;
    }
    result.push_back(dim);
  }
  return result;
}

// The outermost dimension behind `first` that a stride can be made of; base.size() when there is none.
std::size_t dim_for(const Strided& base, std::size_t first, std::int64_t stride) {
  while (first < base.size.size() && (base.size[first] == 1 || base.stride[first] > stride)) ++first;
  return first;
}

bool claim(Part& part, Part::Role role, std::int64_t count, std::int64_t step) {
  if (part.role != Part::Role::kOneIndex || part.start + (count - 1) * step >= part.extent) return false;
  part.role = role;
  part.count = count;
  part.step = step;
  return true;
}

std::optional<Match> match(const Strided& base, const Strided& target) {
  Match result;
  for (std::size_t i = 0; i < base.size.size(); ++i) {
    Part part;
    part.extent = base.size[i];
    part.start = target.offset / base.stride[i] % base.size[i];
    result.parts.push_back(part);
  }
  for (const StridedDim& dim : split_at(joined_by_stride(target), base.stride)) {
    const std::size_t outer = dim_for(base, 0, dim.stride);
    if (outer == base.size.size()) return std::nullopt;
    const std::int64_t step = dim.stride / base.stride[outer];
    const std::int64_t rest = dim.stride % base.stride[outer];
    if (rest == 0) {
      if (!claim(result.parts[outer], Part::Role::kRange, dim.size, step)) return std::nullopt;
      continue;
    }
    const std::size_t inner = dim_for(base, outer + 1, rest);
    if (inner == base.size.size() || rest % base.stride[inner] != 0) return std::nullopt;
    if (!claim(result.parts[outer], Part::Role::kDiagonal, dim.size, step)) return std::nullopt;
    if (!claim(result.parts[inner], Part::Role::kDiagonal, dim.size, rest / base.stride[inner])) return std::nullopt;
    result.diagonals.push_back({outer, inner});
  }
  return result;
}

ViewStep slice_step(std::int64_t dim, const Part& part) {
  ViewStep step;
  step.kind = Kind::kSlice;
  step.dim = dim;
  step.start = part.start;
  step.end = part.end();
  step.step = part.step;
  return step;
}

// Writes the steps of one match; `alive` maps dimensions of the current value to those of the base.
class StepWriter {
 public:
  StepWriter(const Match& match, const std::vector<bool>& keep) : match_(match), keep_(keep) {}

  std::vector<ViewStep> run() {
    write_selects();
    write_slices();
    for (const Diagonal& diagonal : match_.diagonals) write_diagonal(diagonal);
    return std::move(steps_);
  }

 private:
  void write_selects() {
    for (std::size_t i = match_.parts.size(); i-- > 0;) {
      if (match_.parts[i].role != Part::Role::kOneIndex || keep_[i]) {
        alive_.insert(alive_.begin(), i);
        continue;
      }
      ViewStep step;
      step.kind = Kind::kSelect;
      step.dim = static_cast<std::int64_t>(i);
      step.start = match_.parts[i].start;
      steps_.push_back(step);
    }
  }

  void write_slices() {
    for (std::size_t at = 0; at < alive_.size(); ++at) {
      const Part& part = match_.parts[alive_[at]];
      if (part.role == Part::Role::kDiagonal || part.is_whole()) continue;
      steps_.push_back(slice_step(static_cast<std::int64_t>(at), part));
    }
  }

  void write_diagonal(const Diagonal& diagonal) {
    Part one = match_.parts[diagonal.dim1];
    Part two = match_.parts[diagonal.dim2];
    const auto at1 = std::find(alive_.begin(), alive_.end(), diagonal.dim1) - alive_.begin();
    const auto at2 = std::find(alive_.begin(), alive_.end(), diagonal.dim2) - alive_.begin();
    const std::int64_t count = one.count;
    if (one.step != 1 || two.step != 1) {
      steps_.push_back(slice_step(at1, one));
      steps_.push_back(slice_step(at2, two));
      one = two = Part{Part::Role::kDiagonal, count, 0, count, 1};
    }
    ViewStep step;
    step.kind = Kind::kDiagonal;
    step.dim = at1;
    step.dim2 = at2;
    step.start = two.start - one.start;
    steps_.push_back(step);
    alive_.erase(alive_.begin() + std::max(at1, at2));
    alive_.erase(alive_.begin() + std::min(at1, at2));
    alive_.push_back(diagonal.dim1);
    Part range;
    range.start = std::min(one.start, two.start);
    range.count = count;
    range.extent = std::min(one.extent - one.start, two.extent - two.start) + range.start;
    if (!range.is_whole()) steps_.push_back(slice_step(std::ssize(alive_) - 1, range));
  }

  const Match& match_;
  const std::vector<bool>& keep_;
  std::vector<std::size_t> alive_;
  std::vector<ViewStep> steps_;
};

}  // namespace

std::vector<StridedDim> joined_by_stride(const Strided& view) {
  std::vector<StridedDim> dims;
  for (std::size_t i = 0; i < view.size.size(); ++i) {
    if (view.size[i] > 1) dims.push_back({view.size[i], view.stride[i]});
  }
  std::stable_sort(dims.begin(), dims.end(), [](const auto& a, const auto& b) { return a.stride > b.stride; });
  std::vector<StridedDim> joined;
  for (const StridedDim& dim : dims) {
    if (!joined.empty() && joined.back().stride == dim.size * dim.stride) {
      joined.back() = {joined.back().size * dim.size, dim.stride};
    } else {
      joined.push_back(dim);
    }
  }
  return joined;
}

std::vector<std::vector<ViewStep>> narrow(const Shape& base, const Strided& target) {
  const auto found = match(row_major(base), target);
  if (!found) return {};
  std::vector<std::size_t> single;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (found->parts[i].role == Part::Role::kOneIndex) single.push_back(i);
  }
  // All combinations while they are few, else all selected and all kept.
  constexpr std::size_t kMaxSingle = 5;
  const std::size_t last = (std::size_t{1} << std::min(single.size(), kMaxSingle)) - 1;
  std::vector<std::vector<ViewStep>> alternatives;
  for (std::size_t mask = 0; mask <= last; mask += single.size() > kMaxSingle ? last : 1) {
    std::vector<bool> keep(base.size(), false);
    for (std::size_t i = 0; i < single.size(); ++i) keep[single[i]] = (mask >> std::min(i, kMaxSingle - 1) & 1U) != 0;
    alternatives.push_back(StepWriter(*found, keep).run());
  }
  return alternatives;
}

}  // namespace leapp::graph
