// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/ring.h"

#include <algorithm>

namespace leapp::graph {
namespace {

Shape without_ones(const Shape& shape) {
  Shape result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result), [](std::int64_t extent) { return extent != 1; });
  return result;
}

/// The index_put that makes the state's next value, if that is what makes it.
const Node* writer_of(PipelineOrigins& origins, StagePort output) {
  const PipelineElements& next = origins.of(output);
  if (next.empty() || next.front().value == nullptr) return nullptr;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const bool same = next[i].value == next.front().value && next[i].index == static_cast<std::int64_t>(i);
    if (!same || next[i].stage != output.stage) return nullptr;
  }
  const Node* node = next.front().value->producer();
  return node != nullptr && node->op() == "aten::index_put" ? node : nullptr;
}

const Value* read_input(const Node& node, const char* name) {
  const Attribute* found = node.find(name);
  const auto* value = found == nullptr ? nullptr : std::get_if<Value*>(found);
  return value == nullptr ? nullptr : *value;
}

/// The input of the stage that `value` is, element by element.
std::optional<StagePort> whole_input(PipelineOrigins& origins, std::size_t stage, const Value* value) {
  std::optional<StagePort> found;
  const Elements& elements = origins.origins(stage).of(value);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto at = origins.input_of({.stage = stage, .value = elements[i].value, .index = elements[i].index});
    if (!at || elements[i].index != static_cast<std::int64_t>(i) || (found && *found != *at)) return std::nullopt;
    found = at;
  }
  return found;
}

/// The axis of the one index there is, if it names one row.
std::optional<std::size_t> row_axis(const Node& node) {
  const auto* indices = std::get_if<std::vector<Value*>>(node.find("indices"));
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; indices != nullptr && i < indices->size(); ++i) {
    if ((*indices)[i] == nullptr) continue;
    if (axis || element_count((*indices)[i]->shape()) != 1 || (*indices)[i]->dtype() == DType::kBool) {
      return std::nullopt;
    }
    axis = i;
  }
  return axis;
}

}  // namespace

std::optional<FoundPart> find_ring(const Stages& stages, PipelineOrigins& origins, StagePort state) {
  const StageInput& port = stages[state.stage].inputs[state.port];
  const Node* node = writer_of(origins, port.source);
  if (node == nullptr || port.source.stage != state.stage) return std::nullopt;
  const Value* self = read_input(*node, "self");
  const Value* values = read_input(*node, "values");
  const Attribute* adds = node->find("accumulate");
  const auto axis = row_axis(*node);
  const bool replaces = adds != nullptr && std::get_if<bool>(adds) != nullptr && !std::get<bool>(*adds);
  if (self == nullptr || values == nullptr || !axis || !replaces) return std::nullopt;
  if (element_count(values->shape()) > Origins::kMost) return std::nullopt;
  const auto source = whole_input(origins, state.stage, values);
  if (whole_input(origins, state.stage, self) != state || !source) return std::nullopt;
  const StageInput& given = stages[source->stage].inputs[source->port];
  const std::int64_t extent = port.type.shape[*axis];
  const bool fits = given.from == StageInput::From::kCaller && given.type.dtype == port.type.dtype &&
                    element_count(given.type.shape) * extent == element_count(port.type.shape);
  if (!fits) return std::nullopt;
  const FrameLayout layout{.axis = axis, .start = 0, .stop = extent, .frames = extent, .size = 1};
  return FoundPart{.layout = layout, .from = FoundPart::From::kInput, .source = *source, .made = {}};
}

std::vector<FrameLayout> frames_like(const TensorType& state, const TensorType& frame) {
  std::vector<FrameLayout> found;
  if (state.dtype != frame.dtype) return found;
  const Shape wanted = without_ones(frame.shape);
  if (element_count(state.shape) == element_count(frame.shape)) {
    if (without_ones(state.shape) == wanted) found.push_back({});
    return found;
  }
  for (std::size_t axis = 0; axis < state.shape.size(); ++axis) {
    const std::int64_t extent = state.shape[axis];
    Shape rest = state.shape;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    if (extent > 1 && without_ones(rest) == wanted) {
      found.push_back({.axis = axis, .start = 0, .stop = extent, .frames = extent, .size = 1});
    }
  }
  if (!found.empty() || frame.shape.size() != state.shape.size()) return found;
  for (std::size_t axis = 0; axis < state.shape.size(); ++axis) {
    Shape single = state.shape;
    single[axis] = frame.shape[axis];
    const std::int64_t size = frame.shape[axis];
    if (single != frame.shape || size < 1 || state.shape[axis] % size != 0 || state.shape[axis] == size) continue;
    const std::int64_t extent = state.shape[axis];
    found.push_back({.axis = axis, .start = 0, .stop = extent, .frames = extent / size, .size = size});
  }
  return found;
}

}  // namespace leapp::graph
