// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the paths of a node read that no call of theirs computed, and when calls took them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "capture/trace/record.h"

namespace leapp::capture {

/// An operand of a path that depends on nothing but constants.
struct Read {
  Use use;
  ValuePtr value;
};

/// Where in the program an operand is read: the n-th time that operator runs at that line.
struct CallPoint {
  const OpInfo* op = nullptr;
  LocationId location = 0;
  std::size_t turn = 0;
  std::size_t operand = 0;
  auto operator<=>(const CallPoint&) const = default;
};

/// The reads of the first call of a path.
class PathReads {
 public:
  explicit PathReads(const NodeRecord& path);

  [[nodiscard]] const std::vector<Read>& all() const { return reads_; }
  /// Null: nothing of the kind is read there.
  [[nodiscard]] const Read* at(const CallPoint& point) const;
  /// Null: it is of another path.
  [[nodiscard]] const CallPoint* point_of(const Use& use) const;

 private:
  std::vector<Read> reads_;
  std::map<CallPoint, std::size_t> points_;
  std::map<Use, CallPoint> where_;
};

struct PathHistory {
  /// `paths`: of one node, in the order of their first calls.
  explicit PathHistory(const std::vector<NodeRecord*>& paths);

  /// Whether the node itself left it.
  [[nodiscard]] bool is_own(const Leak& leak) const { return leak.source.node == paths[0]->name; }
  /// The value of the node that the first call of a path, in `pass`, read there.
  [[nodiscard]] std::optional<LeakSource> own_source(const Read& read, std::uint64_t pass) const;
  [[nodiscard]] bool is_own_former(std::size_t path, const Read& read) const;
  /// That value, in the trace of the path that made it. Null: its first call made none.
  [[nodiscard]] ValuePtr value_of(std::size_t path, const LeakSource& source) const;
  [[nodiscard]] std::set<CallPoint> places_of(const std::map<Use, Geometry>& uses) const;

  const std::vector<NodeRecord*>& paths;
  std::vector<PathReads> reads;
  std::map<std::uint64_t, std::size_t> path_in;  ///< by pass
  std::map<std::size_t, std::size_t> path_of_call;
};

/// All that a path computes and that may matter.
std::vector<ValuePtr> roots_of(const NodeRecord& path);

}  // namespace leapp::capture
