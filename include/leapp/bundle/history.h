// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/spec.h"

/// State that is a history of observations, as a bundle says it: a key of the feedback input.
namespace leapp::bundle {

/// On a feedback input: a list of HistoryPart, each a map with the names of the fields. Those that are not said are
/// what they are here; `stop` is the end of the axis then.
inline constexpr const char* kHistoryKey = "leapp_history";

/// Frames along one axis: between `start` and `stop` groups of `frames` frames that take `size` places each. Without
/// an axis the state is one frame.
struct HistoryPart {
  std::optional<std::size_t> axis;
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::int64_t frames = 1;
  std::int64_t size = 1;
  // Where the newest frame is found; exactly one of the three.
  std::string input;            ///< an input that the caller gives, "node/port", element by element
  std::string state;            ///< the next value of that state, "node/port"; without an axis only
  std::vector<std::string> of;  ///< its own next value, which depends on these inputs and states, "node/port"
  bool newest_first = false;    ///< `of` with an axis only: `newest: first`, not `last`

  bool operator==(const HistoryPart&) const = default;
};

/// A state that holds the last values of something, and where they are in it.
struct History {
  PortIndex state;   ///< an input
  std::string name;  ///< "node/port"
  std::vector<HistoryPart> parts;
};

/// The histories of a bundle, in its order. All problems in one Status: an unknown key or port, frames that do not fit
/// the axis or the input, parts that overlap, histories that wait for each other. REQUIRES: `wiring` is that of `spec`
/// and has no problems.
LEAPP_API Result<std::vector<History>> histories_of(const BundleSpec& spec, const Wiring& wiring);
LEAPP_API std::vector<Status> find_history_problems(const BundleSpec& spec, const Wiring& wiring);

/// What stands under kHistoryKey. REQUIRES: they are of a port of that shape.
LEAPP_API YamlValue history_value(const std::vector<HistoryPart>& parts, const std::vector<std::int64_t>& shape);

/// "5 frames along axis 1 of policy/obs". For people.
LEAPP_API std::string history_text(const std::vector<HistoryPart>& parts);

/// Every "node/port" in it becomes `name` of it.
void rename_history(History& history, const std::function<std::string(const std::string&)>& name);

/// Takes the key from every port, or puts `parts` there.
void drop_histories(BundleSpec& spec);
void set_history(Port& port, const std::vector<HistoryPart>& parts);

}  // namespace leapp::bundle
