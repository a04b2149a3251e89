// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What may go into a policy, and what may come out of it to a motor.
//
//   auto rules = read_guards("limits.yaml").value();           // or guards_of(pipeline.spec()), or written in code
//   Status status = pipeline.set_guards(rules);                // names, limits, rates: all checked here
//   if (pipeline.step() == StepResult::kRefused) brake(pipeline.error().message());
//   for (const GuardEvent& event : pipeline.guard_events()) log(pipeline.guard_text(event));
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"
#include "leapp/runtime/port.h"

namespace leapp::runtime {

/// What is done with an element that is not as it should be.
enum class GuardAction : std::uint8_t {
  kPass,   ///< nothing; it is told
  kClamp,  ///< it becomes the nearest number that is allowed
  kHold,   ///< it keeps its last good value; fails when there has been none
  kFail,   ///< the step is refused: outputs and state are what they were
};

/// What was wrong with it.
enum class GuardCause : std::uint8_t {
  kNonFinite,  ///< NaN or infinite
  kBelow,      ///< under the lower bound
  kAbove,      ///< over the upper bound
  kRate,       ///< too far from its last good value
};

/// Of an element; what is absent is not limited.
struct Limits {
  std::optional<double> lower;
  std::optional<double> upper;
  std::optional<double> per_step;    ///< the largest change from one step to the next
  std::optional<double> per_second;  ///< the same by time: needs the bundle's frequency

  bool operator==(const Limits&) const = default;
};

/// The rules of one port. Of an element the checks are done in this order: finite, bounds, rate; each sees what the one
/// before has made of it.
struct PortGuard {
  std::string port;              ///< "node/port": an input, an output or a feedback input
  std::optional<PortRole> role;  ///< which of these, where a node has an input and an output of that name
  GuardAction non_finite = GuardAction::kFail;  ///< not kClamp: NaN is near to nothing
  GuardAction bounds = GuardAction::kClamp;
  GuardAction rate = GuardAction::kClamp;
  Limits all;  ///< of every element that `elements` says nothing else of
  /// By element name: of all elements with that name along some axis; or by place, "[0,3]". What is given here takes
  /// the place of what `all` says.
  std::vector<std::pair<std::string, Limits>> elements;

  bool operator==(const PortGuard&) const = default;
};

/// For the ports of a pipeline, each at most once.
using GuardRules = std::vector<PortGuard>;

/// One element of the last step that was not as it should be. Pipeline::guard_text makes a sentence of it.
struct GuardEvent {
  std::uint32_t port = 0;     ///< in the rules
  std::uint32_t element = 0;  ///< by its place in memory
  GuardCause cause = GuardCause::kNonFinite;
  GuardAction action = GuardAction::kPass;
  double found = 0;
  double limit = 0;   ///< the bound, or the largest change
  double became = 0;  ///< what the port holds now
};

/// How many of a step's events are kept; all are counted.
inline constexpr std::size_t kMostGuardEvents = 64;

/// Rules from a YAML or JSON text:
///
///   guards:
///     policy/action:
///       side: output              # input, output or feedback; only where the name stands for several
///       non_finite: hold          # pass, hold or fail (the default)
///       bounds: clamp             # pass, clamp (the default), hold or fail
///       rate: clamp               # the same
///       lower: -1.0
///       upper: 1.0
///       per_second: 8.0           # or per_step
///       elements:
///         LF_KNEE: {lower: -0.5, upper: 0.5}
///
/// Read like a bundle: an unknown key, a wrong value, an anchor, a key that is there twice are errors with line and
/// place. Whether the ports exist is looked at by Pipeline::set_guards. Any thread may call these.
LEAPP_API Result<GuardRules> parse_guards(std::string_view text);
LEAPP_API Result<GuardRules> read_guards(const std::filesystem::path& file);

/// The key of a port in a bundle that has what stands under the port's name in such a file:
/// `TensorSemantics("action", action, extra={"leapp_guard": {"lower": -1, "upper": 1}})` writes it.
inline constexpr const char* kGuardKey = "leapp_guard";

/// Rules from the bundle's semantics: of every port that has the key.
LEAPP_API Result<GuardRules> guards_of(const bundle::BundleSpec& spec);

}  // namespace leapp::runtime
