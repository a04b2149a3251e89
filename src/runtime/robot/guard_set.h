// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/runtime/guards.h"
#include "leapp/runtime/port.h"
#include "runtime/simd/port_simd.h"

namespace leapp::runtime {

/// Where the values of a guarded port are in a step of either parity.
struct GuardedPlace {
  std::array<const std::byte*, 2> from{};  ///< what the step made, or the caller gave
  std::array<std::byte*, 2> to{};          ///< where the port is read
  std::array<const std::byte*, 2> last{};  ///< what it held before, if the pipeline keeps it: state
};

/// Bytes that begin with a line of the cache.
class CacheLines {
 public:
  void resize(std::size_t bytes) { lines_.resize(bytes / sizeof(Line) + 1); }
  [[nodiscard]] static std::size_t round_up(std::size_t bytes) noexcept {
    return (bytes + sizeof(Line) - 1) / sizeof(Line) * sizeof(Line);
  }
  [[nodiscard]] std::byte* data() noexcept { return lines_.data()->bytes.data(); }
  [[nodiscard]] const std::byte* data() const noexcept { return lines_.data()->bytes.data(); }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes{};
  };
  std::vector<Line> lines_;
};

/// One port's rules with every limit worked out: one number for each element.
struct GuardedPort {
  Port port;
  GuardedPlace place;
  GuardAction non_finite = GuardAction::kFail;
  GuardAction bounds = GuardAction::kClamp;
  GuardAction rate_action = GuardAction::kClamp;
  bool keeps = false;    ///< something is compared with, or held at, the last good value
  bool limited = false;  ///< there is a rate
  /// Of the port's dtype, so that they can be compared as they are, each beginning with a line of the cache: the last
  /// good values of inputs and outputs, twice (see GuardSet::turn_), the lower bounds, the upper ones and, of floats,
  /// the rates.
  CacheLines table;
  bool uniform = false;         ///< all elements have the same limits
  std::vector<double> rates;    ///< infinite where there is none
  std::vector<std::byte> next;  ///< what is to be written when `dirty`
  bool has_last = false;
  bool dirty = false;

  [[nodiscard]] std::size_t bytes() const noexcept { return next.size(); }
  [[nodiscard]] std::byte* part(std::size_t at) noexcept { return table.data() + at * CacheLines::round_up(bytes()); }
  [[nodiscard]] const std::byte* part(std::size_t at) const noexcept {
    return table.data() + at * CacheLines::round_up(bytes());
  }
  [[nodiscard]] std::byte* kept(unsigned turn) noexcept { return part(turn); }
  [[nodiscard]] const std::byte* kept(unsigned turn) const noexcept { return part(turn); }
  [[nodiscard]] const std::byte* lower() const noexcept { return part(2); }
  [[nodiscard]] const std::byte* upper() const noexcept { return part(3); }
  [[nodiscard]] const std::byte* rate() const noexcept { return part(4); }
  [[nodiscard]] bool is_state() const noexcept { return place.last[0] != nullptr; }
};

/// Compares and changes what goes into and comes out of a step. Nothing here allocates after it was made, except
/// text().
class GuardSet {
 public:
  /// `places[i]` and `ports[i]` belong to `rules[i]`. kInvalidArgument for what cannot be right.
  static Result<std::unique_ptr<GuardSet>> make(GuardRules rules, std::vector<Port> ports,
                                                const std::vector<GuardedPlace>& places);
  GuardSet(const GuardSet&) = delete;
  GuardSet& operator=(const GuardSet&) = delete;

  /// A step begins. False: it must not run. Inputs are changed in place.
  [[nodiscard]] bool check_inputs() noexcept;
  /// The models have run; nothing has been copied. False: nothing may be.
  [[nodiscard]] bool check_results(unsigned parity) noexcept;
  /// Everything has been copied.
  void commit(unsigned parity) noexcept;

  [[nodiscard]] const GuardRules& rules() const { return rules_; }
  [[nodiscard]] const std::vector<GuardedPort>& ports() const noexcept { return ports_; }
  /// For whoever moves them to another bundle.
  void move_to(std::size_t at, const GuardedPlace& place) noexcept;
  [[nodiscard]] std::span<const GuardEvent> events() const noexcept;
  [[nodiscard]] std::size_t event_count() const noexcept { return count_; }
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  [[nodiscard]] Status error() const;
  [[nodiscard]] std::string text(const GuardEvent& event) const;
  Status set_last_good(std::string_view port, std::span<const double> values);
  void forget() noexcept;

  /// The last good values of inputs and outputs, as bytes: memory_size() of them. To go on with them elsewhere.
  [[nodiscard]] std::size_t memory_size() const noexcept;
  void save_memory(std::byte* to) const noexcept;
  void load_memory(const std::byte* from) noexcept;

 private:
  /// Ports that are looked at together: the inputs, or what the models made. Of floats all are looked at in one go, and
  /// only when something is wrong one after the other.
  struct Group {
    std::vector<std::size_t> ports;   ///< in ports_, in the order of the rules
    std::vector<std::size_t> others;  ///< those that are no floats
    std::vector<simd::Watched<float>> floats;
    std::vector<simd::Watched<double>> doubles;
    bool touched = false;  ///< some port was looked at by itself and may be dirty
  };
  /// Where a port is in its group's vectors.
  struct Entry {
    Group* group = nullptr;
    std::size_t at = 0;
  };

  GuardSet() = default;
  void add(GuardedPort port);
  template <typename Number>
  [[nodiscard]] simd::Watched<Number> watched(GuardedPort& port) const;
  void check(Group& group, unsigned parity) noexcept;
  [[nodiscard]] bool is_clean(std::size_t at, simd::Turn turn) const noexcept;
  void check_elements(std::size_t at, unsigned parity) noexcept;
  void write_dirty(const Group& group, unsigned parity) noexcept;
  [[nodiscard]] double guard(GuardEvent event, const GuardedPort& port, double value, double last) noexcept;
  double apply(GuardEvent event, double last, double nearest) noexcept;

  GuardRules rules_;
  std::vector<GuardedPort> ports_;
  std::vector<Entry> entries_;  ///< of each of ports_
  Group inputs_;
  Group results_;
  simd::AreWithin<float> floats_within_ = simd::floats_within();
  simd::AreWithin<double> doubles_within_ = simd::doubles_within();
  unsigned turn_ = 0;      ///< which half of what each port keeps has the last good values; commit() changes it
  bool all_kept_ = false;  ///< every port that keeps something has it
  std::array<GuardEvent, kMostGuardEvents> events_;
  std::size_t count_ = 0;
  GuardEvent culprit_;
  bool refused_ = false;
};

}  // namespace leapp::runtime
