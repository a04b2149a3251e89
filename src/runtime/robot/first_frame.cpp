// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/robot/first_frame.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace leapp::runtime {
namespace {

const StatePlan& state_named(const PipelinePlan& plan, const std::string& name) {
  return *std::find_if(plan.states.begin(), plan.states.end(), [&](const StatePlan& one) { return one.name == name; });
}

// The node that writes it; all nodes when none does, which cannot be.
std::size_t runs_until(const PipelinePlan& plan, Place written) {
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    for (const Place& place : plan.nodes[i].outputs) {
      if (place.buffer == written.buffer) return i + 1;
    }
  }
  return plan.nodes.size();
}

}  // namespace

FirstFrame FirstFrame::make(const std::vector<bundle::History>& histories, const PipelinePlan& plan,
                            const Buffers& buffers, std::size_t rows) {
  FirstFrame made;
  for (const bundle::History& history : histories) made.add(history, plan, buffers, rows);
  made.set_levels(histories);
  return made;
}

void FirstFrame::add(const bundle::History& history, const PipelinePlan& plan, const Buffers& buffers,
                     std::size_t rows) {
  const StatePlan& state = state_named(plan, history.name);
  Fill fill{.name = history.name,
            .state = {buffers.at(state.place, 0), buffers.at(state.place, 1)},
            .bytes = buffers.size(state.place.buffer)};
  fill.saved.resize(fill.bytes);
  for (const bundle::HistoryPart& part : history.parts) {
    Place source = state.next;
    if (!part.state.empty()) source = state_named(plan, part.state).next;
    std::vector<Piece> pieces = pieces_of(part, plan.buffers[state.place.buffer]);
    if (!part.input.empty()) {
      const auto input = std::find_if(plan.inputs.begin(), plan.inputs.end(),
                                      [&](const EndPlan& one) { return one.name == part.input; });
      source = input->place;
      std::size_t next = 0;  // the frame is the input, element by element
      for (Piece& piece : pieces) piece.from = std::exchange(next, next + piece.size);
    } else {
      nodes_ = std::max(nodes_, runs_until(plan, source));
    }
    const std::size_t each = pieces.size();
    for (std::size_t row = 1; row < rows; ++row) {
      for (std::size_t i = 0; i < each; ++i) {
        Piece piece = pieces[i];
        piece.from += row * (buffers.size(source.buffer) / rows);
        piece.to += row * (fill.bytes / rows);
        pieces.push_back(piece);
      }
    }
    parts_.push_back({fills_.size(), 0, {buffers.at(source, 0), buffers.at(source, 1)}, std::move(pieces)});
  }
  fills_.push_back(std::move(fill));
}

std::vector<FirstFrame::Piece> FirstFrame::pieces_of(const bundle::HistoryPart& part, const BufferPlan& buffer) {
  const std::size_t width = dtype_size(buffer.dtype);
  std::size_t outer = 1;
  std::size_t inner = width;
  for (std::size_t i = 0; i < buffer.shape.size(); ++i) {
    const auto extent = static_cast<std::size_t>(buffer.shape[i]);
    if (!part.axis || i > *part.axis) inner *= extent;
    if (part.axis && i < *part.axis) outer *= extent;
  }
  if (!part.axis) return {{.from = 0, .to = 0, .size = inner, .frames = 1}};
  const auto extent = static_cast<std::size_t>(buffer.shape[*part.axis]);
  const auto frames = static_cast<std::size_t>(part.frames);
  const auto size = static_cast<std::size_t>(part.size) * inner;
  const std::size_t newest = part.newest_first ? 0 : (frames - 1) * size;
  std::vector<Piece> pieces;
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::int64_t at = part.start; at < part.stop; at += part.frames * part.size) {
      const std::size_t group = (o * extent + static_cast<std::size_t>(at)) * inner;
      pieces.push_back({.from = group + newest, .to = group, .size = size, .frames = frames});
    }
  }
  return pieces;
}

// A frame that is computed comes out right in the run after everything it depends on has been filled.
void FirstFrame::set_levels(const std::vector<bundle::History>& histories) {
  std::map<std::string, std::size_t> levels;
  for (const bundle::History& history : histories) levels[history.name] = 0;
  const auto level_of = [&](const std::string& name) {
    const auto found = levels.find(name);
    return found == levels.end() ? 0 : found->second;
  };
  const auto wanted = [&](const bundle::HistoryPart& part) -> std::size_t {
    if (!part.input.empty()) return 0;
    if (!part.state.empty()) return std::max<std::size_t>(level_of(part.state), 1);
    std::size_t level = 1;
    for (const std::string& name : part.of) level = std::max(level, level_of(name) + 1);
    return level;
  };
  // There are no circles: after as many rounds as there are histories nothing changes.
  for (std::size_t round = 0; round < histories.size(); ++round) {
    for (const bundle::History& history : histories) {
      for (const bundle::HistoryPart& part : history.parts) {
        levels[history.name] = std::max(levels[history.name], wanted(part));
      }
    }
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    fills_[i].level = levels[histories[i].name];
    for (const bundle::HistoryPart& part : histories[i].parts) parts_[next++].level = wanted(part);
  }
}

std::vector<std::string> FirstFrame::names() const {
  std::vector<std::string> names;
  for (const Fill& fill : fills_) names.push_back(fill.name);
  return names;
}

void FirstFrame::arm() noexcept {
  for (Fill& fill : fills_) fill.armed = true;
  armed_ = !fills_.empty();
}

void FirstFrame::disarm() noexcept {
  for (Fill& fill : fills_) fill.armed = false;
  armed_ = false;
}

bool FirstFrame::arm(std::string_view state, bool wanted) noexcept {
  bool before = false;
  for (Fill& fill : fills_) {
    if (fill.name == state) before = std::exchange(fill.armed, wanted);
  }
  armed_ = std::any_of(fills_.begin(), fills_.end(), [](const Fill& fill) { return fill.armed; });
  return before;
}

void FirstFrame::arm_as(const FirstFrame& other) noexcept {
  for (const Fill& fill : other.fills_) arm(fill.name, fill.armed);
}

std::size_t FirstFrame::begin(unsigned parity) noexcept {
  std::size_t levels = 0;
  for (Fill& fill : fills_) {
    if (!fill.armed) continue;
    std::memcpy(fill.saved.data(), fill.state[parity], fill.bytes);
    levels = std::max(levels, fill.level);
  }
  fill(0, parity);
  return levels;
}

void FirstFrame::fill(std::size_t level, unsigned parity) noexcept {
  for (const Part& part : parts_) {
    const Fill& fill = fills_[part.fill];
    if (part.level != level || !fill.armed) continue;
    for (const Piece& piece : part.pieces) {
      std::byte* to = fill.state[parity] + piece.to;
      const std::byte* from = part.source[parity] + piece.from;
      for (std::size_t frame = 0; frame < piece.frames; ++frame) std::memcpy(to + frame * piece.size, from, piece.size);
    }
  }
}

void FirstFrame::end(bool succeeded, unsigned parity) noexcept {
  if (succeeded) return disarm();
  for (const Fill& fill : fills_) {
    if (fill.armed) std::memcpy(fill.state[parity], fill.saved.data(), fill.bytes);
  }
}

}  // namespace leapp::runtime
