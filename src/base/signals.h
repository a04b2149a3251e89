// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For handlers of signals that are an error of a few addresses and nobody else's business.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace leapp {

/// Ranges of addresses that a handler may look at while others are added and removed: places that are never given back.
template <std::size_t kMost>
class AddressRanges {
 public:
  /// Its place; nothing when all are taken. Not two threads at a time.
  std::optional<std::size_t> add(std::uintptr_t begin, std::uintptr_t end) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].begin != 0) continue;
      places_[i].end.store(end, std::memory_order_release);
      places_[i].begin.store(begin, std::memory_order_release);
      return i;
    }
    return std::nullopt;
  }
  void remove(std::size_t place) { places_[place].begin = 0; }

  /// Where the range that `at` is in ends; nothing when it is in none.
  [[nodiscard]] std::optional<std::uintptr_t> end_of(std::uintptr_t at) const {
    for (const Place& place : places_) {
      const std::uintptr_t begin = place.begin.load(std::memory_order_acquire);
      const std::uintptr_t end = place.end.load(std::memory_order_acquire);
      if (begin != 0 && at >= begin && at < end) return end;
    }
    return std::nullopt;
  }

 private:
  struct Place {
    std::atomic<std::uintptr_t> begin{0};  // 0: nobody's
    std::atomic<std::uintptr_t> end{0};
  };
  std::array<Place, kMost> places_;
};

using SignalHandler = void (*)(int signal, siginfo_t* info, void* context);

/// Puts `handler` in the place of the present one, and gives that back.
struct ::sigaction install_handler(int signal, SignalHandler handler);

/// In a handler: does with the signal what would have been done `before`. What ended the process does so.
void pass_on(const struct ::sigaction& before, int signal, siginfo_t* info, void* context);

}  // namespace leapp
