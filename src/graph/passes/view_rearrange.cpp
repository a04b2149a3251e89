// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>

#include "graph/passes/view_match.h"

namespace leapp::graph {
namespace {

using Kind = ViewStep::Kind;
using Dims = std::vector<std::int64_t>;

ViewStep reshape_step(Shape shape) {
  ViewStep step;
  step.kind = Kind::kReshape;
  step.list = std::move(shape);
  return step;
}

ViewStep permute_step(Dims order) {
  ViewStep step;
  step.kind = Kind::kPermute;
  step.list = std::move(order);
  return step;
}

bool reaches(const Strided& from, const std::vector<ViewStep>& steps, const Strided& to) {
  std::optional<Strided> view = from;
  for (const ViewStep& step : steps) {
    if (view) view = apply(*view, step);
  }
  return view && same_elements(*view, to);
}

// Each dimension of `to` is one of `from`; where the extents of 1 do not pair up a reshape adds or drops them.
std::optional<std::vector<ViewStep>> by_permute(const Strided& from, const Strided& to) {
  std::vector<bool> taken(from.size.size(), false);
  Dims order;
  for (std::size_t i = 0; i < to.size.size(); ++i) {
    for (std::size_t j = 0; j < from.size.size(); ++j) {
      const bool alike = from.size[j] == to.size[i] && (to.size[i] == 1 || from.stride[j] == to.stride[i]);
      if (taken[j] || !alike) continue;
      taken[j] = true;
      order.push_back(static_cast<std::int64_t>(j));
      break;
    }
  }
  for (std::size_t j = 0; j < taken.size(); ++j) {
    if (!taken[j]) order.push_back(static_cast<std::int64_t>(j));
  }
  std::vector<ViewStep> steps = {permute_step(std::move(order))};
  if (reaches(from, steps, to)) return steps;
  steps.push_back(reshape_step(to.size));
  if (reaches(from, steps, to)) return steps;
  return std::nullopt;
}

struct Atom {
  StridedDim dim;
  std::size_t owner = 0;  // the dimension it is part of
};

std::vector<Atom> atoms_of(const Strided& view, const Strided& other) {
  Dims cuts;
  for (std::size_t i = 0; i < other.size.size(); ++i) {
    if (other.size[i] <= 1) continue;
    cuts.push_back(other.stride[i]);
    cuts.push_back(other.stride[i] * other.size[i]);
  }
  std::sort(cuts.begin(), cuts.end(), std::greater<>());
  std::vector<Atom> atoms;
  for (std::size_t i = 0; i < view.size.size(); ++i) {
    if (view.size[i] <= 1) continue;
    StridedDim dim{view.size[i], view.stride[i]};
    for (std::int64_t cut : cuts) {
      const std::int64_t reach = dim.size * dim.stride;
      if (cut <= dim.stride || cut >= reach || cut % dim.stride != 0 || reach % cut != 0) continue;
      atoms.push_back({{reach / cut, cut}, i});
      dim.size = cut / dim.stride;
    }
    atoms.push_back({dim, i});
  }
  return atoms;
}

// Atoms that stay neighbours on the way.
struct Block {
  std::size_t first = 0;  // its first atom in the source
  std::int64_t size = 1;
  std::size_t owner = 0;  // the dimension of the target it is part of
};

// The target's blocks in its order; nothing when source and target have no common parts.
std::optional<std::vector<Block>> blocks_of(const std::vector<Atom>& source, const std::vector<Atom>& wanted) {
  if (source.size() != wanted.size()) return std::nullopt;
  std::vector<Block> blocks;
  std::size_t previous = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const StridedDim& dim = wanted[i].dim;
    const auto same = [&](const Atom& other) { return other.dim.size == dim.size && other.dim.stride == dim.stride; };
    const auto found = std::find_if(source.begin(), source.end(), same);
    if (found == source.end()) return std::nullopt;
    const auto place = static_cast<std::size_t>(found - source.begin());
    const bool joins = i > 0 && place == previous + 1 && wanted[i].owner == wanted[i - 1].owner &&
                       wanted[i - 1].dim.stride == dim.size * dim.stride;
    if (!joins) blocks.push_back({place, 1, wanted[i].owner});
    blocks.back().size *= dim.size;
    previous = place;
  }
  return blocks;
}

// Splits both sides into the parts they have in common, joins what stays together, and permutes those.
std::optional<std::vector<ViewStep>> by_parts(const Strided& from, const Strided& to) {
  const auto blocks = blocks_of(atoms_of(from, to), atoms_of(to, from));
  if (!blocks) return std::nullopt;
  std::vector<Block> in_source = *blocks;
  std::sort(in_source.begin(), in_source.end(), [](const Block& a, const Block& b) { return a.first < b.first; });
  Shape shape;
  for (const Block& block : in_source) shape.push_back(block.size);
  Dims order;
  for (std::size_t dim = 0; dim < to.size.size(); ++dim) {
    if (to.size[dim] == 1) {
      order.push_back(std::ssize(shape));
      shape.push_back(1);
      continue;
    }
    for (const Block& block : *blocks) {
      const auto same = [&](const Block& other) { return other.first == block.first; };
      if (block.owner == dim)
        order.push_back(std::find_if(in_source.begin(), in_source.end(), same) - in_source.begin());
    }
  }
  std::vector<ViewStep> steps = {reshape_step(std::move(shape)), permute_step(std::move(order))};
  if (reaches(from, steps, to)) return steps;
  steps.push_back(reshape_step(to.size));
  if (reaches(from, steps, to)) return steps;
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<ViewStep>> rearrange(const Strided& from, const Strided& to) {
  if (same_elements(from, to)) return std::vector<ViewStep>();
  const std::vector<ViewStep> reshape_only = {reshape_step(to.size)};
  if (reaches(from, reshape_only, to)) return reshape_only;
  auto permuted = by_permute(from, to);
  if (permuted && permuted->size() == 1) return permuted;
  auto parts = by_parts(from, to);
  if (!permuted || (parts && parts->size() < permuted->size())) return parts;
  return permuted;
}

}  // namespace leapp::graph
