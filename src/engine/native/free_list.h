// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace leapp::native {

/// A stretch of memory from which pieces are taken and to which they are given back, each in the time that a search
/// among the gaps takes. A piece comes from the smallest gap that holds it, else from the end.
class FreeList {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    if (bytes == 0) return 0;
    const auto fitting = by_size_.lower_bound({bytes, 0});
    if (fitting == by_size_.end()) {
      const std::uint64_t at = end_;
      end_ += bytes;
      return at;
    }
    const auto [size, at] = *fitting;
    remove(at, size);
    if (size > bytes) add(at + bytes, size - bytes);
    return at;
  }

  /// What take() gave.
  void give_back(std::uint64_t at, std::uint64_t bytes) {
    if (bytes == 0) return;
    const auto after = by_place_.lower_bound(at);
    if (after != by_place_.begin()) {
      const auto [place, size] = *std::prev(after);
      if (place + size == at) {
        remove(place, size);
        at = place;
        bytes += size;
      }
    }
    if (const auto next = by_place_.find(at + bytes); next != by_place_.end()) {
      const auto [place, size] = *next;
      remove(place, size);
      bytes += size;
    }
    if (at + bytes == end_) {
      end_ = at;
    } else {
      add(at, bytes);
    }
  }

 private:
  void add(std::uint64_t at, std::uint64_t size) {
    by_place_.emplace(at, size);
    by_size_.emplace(size, at);
  }
  void remove(std::uint64_t at, std::uint64_t size) {
    by_place_.erase(at);
    by_size_.erase({size, at});
  }

  std::map<std::uint64_t, std::uint64_t> by_place_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  ///< size, place
  std::uint64_t end_ = 0;
};

}  // namespace leapp::native
