// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Ports are looked at all at once, and singly only when something is wrong. Here what comes of that is compared with
// the rules taken literally, one element after the other.
#include "runtime/robot/guard_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace leapp::runtime {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A port of some dtype on memory of its own; of an output `from` is what the model wrote.
struct Memory {
  std::vector<std::byte> from;
  std::vector<std::byte> to;
};

struct Element {
  double value = 0;
  std::optional<double> last;
};

/// One element's rules, with numbers that float32 has.
struct Expected {
  double value = 0;
  bool fails = false;
  std::vector<GuardCause> causes;
};

Expected expect(const PortGuard& rule, double value, std::optional<double> last) {
  Expected found{value, false, {}};
  const auto act = [&](GuardCause cause, GuardAction action, double nearest) {
    found.causes.push_back(cause);
    if (action == GuardAction::kHold && !last) action = GuardAction::kFail;
    if (action == GuardAction::kFail) found.fails = true;
    if (action == GuardAction::kHold) found.value = *last;
    if (action == GuardAction::kClamp) found.value = nearest;
  };
  if (!std::isfinite(value)) {
    act(GuardCause::kNonFinite, rule.non_finite, value);
    return found;
  }
  const double lower = rule.all.lower.value_or(-kInfinity);
  const double upper = rule.all.upper.value_or(kInfinity);
  if (value < lower) act(GuardCause::kBelow, rule.bounds, lower);
  if (value > upper) act(GuardCause::kAbove, rule.bounds, upper);
  const double rate = rule.all.per_step.value_or(kInfinity);
  if (last && std::abs(found.value - *last) > rate) {
    act(GuardCause::kRate, rule.rate, *last + std::copysign(rate, found.value - *last));
  }
  return found;
}

/// Ports with rules drawn at random, a set of guards on them, and what should come of them.
class Scene {
 public:
  explicit Scene(unsigned seed) : random_(seed) {
    for (std::size_t i = 0; i < 5; ++i) add(i);
    std::vector<GuardedPlace> places;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      GuardedPlace place;
      place.from = {memory_[i].from.data(), memory_[i].from.data()};
      place.to = {memory_[i].to.data(), memory_[i].to.data()};
      if (is_input(i)) place.from = {place.to[0], place.to[1]};
      places.push_back(place);
    }
    auto made = GuardSet::make(rules_, ports_, places);
    EXPECT_TRUE(made.ok()) << made.status().message();
    set_ = std::move(made).value();
  }

  void step() {
    if (draw(40) == 0) forget();
    Events events;
    bool fails = false;
    std::vector<std::vector<double>> wanted(ports_.size());
    for (const bool inputs : {true, false}) {
      for (std::size_t i = 0; i < ports_.size(); ++i) {
        if (is_input(i) == inputs) fails = fill(i, wanted[i], events) || fails;
      }
      if (!(inputs ? set_->check_inputs() : set_->check_results(0))) {
        ASSERT_TRUE(fails);
        expect_events(events);
        return;
      }
      ASSERT_FALSE(fails);
    }
    expect_events(events);
    if (draw(10) == 0) return;  // a model failed: nothing is committed
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (!is_input(i)) memory_[i].to = memory_[i].from;
    }
    set_->commit(0);
    for (std::size_t i = 0; i < ports_.size(); ++i) expect_port(i, wanted[i]);
  }

 private:
  using Events = std::vector<std::pair<GuardEvent, bool>>;

  [[nodiscard]] unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  [[nodiscard]] bool is_input(std::size_t i) const { return ports_[i].role == PortRole::kInput; }
  [[nodiscard]] std::size_t size(std::size_t i) const { return ports_[i].size(); }

  void add(std::size_t i) {
    constexpr std::array kDtypes{DType::kFloat32, DType::kFloat32, DType::kFloat64};
    constexpr std::array kActions{GuardAction::kPass, GuardAction::kClamp, GuardAction::kHold, GuardAction::kFail};
    const auto action = [&] { return kActions[draw(20) == 0 ? 3 : draw(3)]; };
    Port port;
    port.name = "n/" + std::to_string(i);
    port.role = draw(2) == 0 ? PortRole::kInput : PortRole::kOutput;
    port.dtype = kDtypes[draw(3)];
    port.shape = {1, 1 + static_cast<std::int64_t>(draw(20))};
    port.element_names.resize(2);
    PortGuard rule{.port = port.name, .non_finite = action(), .bounds = action(), .rate = action()};
    if (rule.non_finite == GuardAction::kClamp) rule.non_finite = GuardAction::kHold;
    if (draw(3) != 0) rule.all.lower = -1;
    if (draw(3) != 0) rule.all.upper = 1;
    if (draw(3) != 0) rule.all.per_step = 0.5;
    const std::size_t bytes = port.size() * dtype_size(port.dtype);
    memory_.push_back({std::vector<std::byte>(bytes), std::vector<std::byte>(bytes)});
    elements_.emplace_back(port.size());
    ports_.push_back(port);
    rules_.push_back(rule);
  }

  // Multiples of an eighth: nothing is rounded, so that no slack is needed. Mostly nothing is wrong.
  double draw_value(const Element& element) {
    const unsigned kind = draw(60);
    if (kind == 0) return std::array{kNaN, kInfinity, -kInfinity}[draw(3)];
    if (kind < 4) return (static_cast<double>(draw(33)) - 16) / 8;
    const double near = element.last.value_or(0) + (static_cast<double>(draw(9)) - 4) / 8;
    return std::clamp(near, -1.0, 1.0);
  }

  /// The port's new values, and what is wanted of them; whether the step fails by them.
  bool fill(std::size_t i, std::vector<double>& wanted, Events& events) {
    bool fails = false;
    for (std::size_t k = 0; k < size(i); ++k) {
      Element& element = elements_[i][k];
      element.value = draw_value(element);
      put(i, k, element.value);
      const Expected found = expect(rules_[i], element.value, element.last);
      fails = fails || found.fails;
      for (const GuardCause cause : found.causes) {
        GuardEvent event{.port = static_cast<std::uint32_t>(i), .element = static_cast<std::uint32_t>(k)};
        event.cause = cause;
        events.emplace_back(event, is_input(i));
      }
      wanted.push_back(found.value);
    }
    return fails;
  }

  void put(std::size_t i, std::size_t k, double value) {
    std::vector<std::byte>& bytes = is_input(i) ? memory_[i].to : memory_[i].from;
    if (ports_[i].dtype == DType::kFloat32) {
      reinterpret_cast<float*>(bytes.data())[k] = static_cast<float>(value);
    } else {
      reinterpret_cast<double*>(bytes.data())[k] = value;
    }
  }

  [[nodiscard]] double get(std::size_t i, std::size_t k) const {
    const std::byte* bytes = memory_[i].to.data();
    return ports_[i].dtype == DType::kFloat32 ? static_cast<double>(reinterpret_cast<const float*>(bytes)[k])
                                              : reinterpret_cast<const double*>(bytes)[k];
  }

  // Inputs come before what models made; within, the order is that of the rules.
  void expect_events(const Events& events) {
    ASSERT_EQ(set_->event_count(), events.size());
    const auto found = set_->events();
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].port, events[i].first.port);
      ASSERT_EQ(found[i].element, events[i].first.element);
      ASSERT_EQ(found[i].cause, events[i].first.cause);
    }
  }

  void expect_port(std::size_t i, const std::vector<double>& wanted) {
    for (std::size_t k = 0; k < size(i); ++k) {
      const double value = get(i, k);
      ASSERT_TRUE(value == wanted[k] || (std::isnan(value) && std::isnan(wanted[k])))
          << ports_[i].name << "[" << k << "]: " << value << ", expected " << wanted[k];
      if (std::isfinite(value)) elements_[i][k].last = value;
    }
  }

  void forget() {
    set_->forget();
    for (auto& port : elements_) {
      for (Element& element : port) element.last.reset();
    }
  }

  std::mt19937 random_;
  std::vector<Port> ports_;
  GuardRules rules_;
  std::vector<Memory> memory_;
  std::vector<std::vector<Element>> elements_;
  std::unique_ptr<GuardSet> set_;
};

TEST(GuardSet, DoesWhatTheRulesSayElementByElement) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Scene scene(seed);
    for (int i = 0; i < 200; ++i) {
      scene.step();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << i;
    }
  }
}

}  // namespace
}  // namespace leapp::runtime
