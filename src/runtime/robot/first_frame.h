// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/bundle/history.h"
#include "runtime/pipeline/buffers.h"
#include "runtime/pipeline/plan.h"

namespace leapp::runtime {

/// Fills histories with the first frame, in the step after a reset that asked for it.
///
/// What is an input as it is, is copied from there. Anything else is in what the models make of the state's next value:
/// they are run on the inputs of the step, the newest frame is copied to all places of the state, and the step begins
/// anew. A frame that depends on other histories is right when those have been filled: histories have levels, and there
/// is one such run for each level above 0. After it was made, nothing allocates.
class FirstFrame {
 public:
  /// REQUIRES: `plan` is that of the bundle that has `histories`, fused or not; the buffers do not move. They hold
  /// `rows` values of the plan's shapes, one after the other.
  static FirstFrame make(const std::vector<bundle::History>& histories, const PipelinePlan& plan,
                         const Buffers& buffers, std::size_t rows = 1);

  [[nodiscard]] bool empty() const noexcept { return fills_.empty(); }
  /// "node/port" of the histories.
  [[nodiscard]] std::vector<std::string> names() const;

  void arm() noexcept;
  void disarm() noexcept;
  /// Whether this state is to be filled. Not when somebody has set it. Returns what was before.
  bool arm(std::string_view state, bool wanted) noexcept;
  /// As another has them: for a bundle that goes on with another's state.
  void arm_as(const FirstFrame& other) noexcept;
  [[nodiscard]] bool armed() const noexcept { return armed_; }

  /// Remembers what the histories hold, and fills those that need no run. Returns how many levels are left.
  std::size_t begin(unsigned parity) noexcept;
  /// The models have run: level 1, 2, ...
  void fill(std::size_t level, unsigned parity) noexcept;
  /// How many of the plan's nodes, in their order, have to run for that.
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
  /// The step succeeded, or the histories get back what they held.
  void end(bool succeeded, unsigned parity) noexcept;

 private:
  /// `frames` copies of a piece, one after the other.
  struct Piece {
    std::size_t from = 0;  ///< bytes from the beginning of the source
    std::size_t to = 0;    ///< of the state
    std::size_t size = 0;
    std::size_t frames = 1;
  };
  struct Fill {
    std::string name;
    std::size_t level = 0;
    std::array<std::byte*, 2> state{};
    std::size_t bytes = 0;
    std::vector<std::byte> saved;
    bool armed = false;
  };
  /// One part of a history.
  struct Part {
    std::size_t fill = 0;
    std::size_t level = 0;
    std::array<const std::byte*, 2> source{};
    std::vector<Piece> pieces;
  };

  void add(const bundle::History& history, const PipelinePlan& plan, const Buffers& buffers, std::size_t rows);
  static std::vector<Piece> pieces_of(const bundle::HistoryPart& part, const BufferPlan& buffer);
  void set_levels(const std::vector<bundle::History>& histories);

  std::vector<Fill> fills_;
  std::vector<Part> parts_;
  std::size_t nodes_ = 0;
  bool armed_ = false;
};

}  // namespace leapp::runtime
