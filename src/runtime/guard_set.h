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

namespace leapp::runtime {

/// Where the values of a guarded port are in a step of either parity.
struct GuardedPlace {
  std::array<const std::byte*, 2> from{};  ///< what the step made, or the caller gave
  std::array<std::byte*, 2> to{};          ///< where the port is read
  std::array<const std::byte*, 2> last{};  ///< what it held before, if the pipeline keeps it: state
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
  // Elements of the port's dtype, one after the other, so that they can be compared as they are.
  std::vector<std::byte> lower;
  std::vector<std::byte> upper;
  std::vector<double> rates;    ///< infinite where there is none
  std::vector<std::byte> rate;  ///< the same in the port's dtype; of floats only
  std::vector<std::byte> last;  ///< of inputs and outputs
  std::vector<std::byte> next;  ///< what is to be written when `dirty`
  bool has_last = false;
  bool dirty = false;
  bool odd = false;  ///< something was passed that is not finite

  [[nodiscard]] const std::byte* last_good(unsigned parity) const noexcept {
    return place.last[parity] != nullptr ? place.last[parity] : last.data();
  }
};

/// Compares and changes what goes into and comes out of a step. Nothing here allocates after it was made, except
/// text().
class GuardSet {
 public:
  /// `places[i]` and `ports[i]` belong to `rules[i]`. kInvalidArgument for what cannot be right.
  static Result<std::unique_ptr<GuardSet>> make(GuardRules rules, std::vector<Port> ports,
                                                const std::vector<GuardedPlace>& places);

  /// A step begins. False: it must not run. Inputs are changed in place.
  [[nodiscard]] bool check_inputs() noexcept;
  /// The models have run; nothing has been copied. False: nothing may be.
  [[nodiscard]] bool check_results(unsigned parity) noexcept;
  /// Everything has been copied.
  void commit(unsigned parity) noexcept;

  [[nodiscard]] const GuardRules& rules() const { return rules_; }
  /// For whoever moves them to another bundle: only places may be changed.
  [[nodiscard]] std::vector<GuardedPort>& ports() noexcept { return ports_; }
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
  GuardSet() = default;
  bool check(std::size_t at, unsigned parity) noexcept;
  [[nodiscard]] double guard(GuardEvent event, const GuardedPort& port, double value, double last) noexcept;
  double apply(GuardEvent event, double last, double nearest) noexcept;

  GuardRules rules_;
  std::vector<GuardedPort> ports_;
  std::vector<std::size_t> inputs_;  ///< in ports_
  std::vector<std::size_t> results_;
  std::array<GuardEvent, kMostGuardEvents> events_;
  std::size_t count_ = 0;
  GuardEvent culprit_;
  bool refused_ = false;
};

}  // namespace leapp::runtime
