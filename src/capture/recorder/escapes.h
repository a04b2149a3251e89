// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/session/notes.h"
#include "capture/trace/trace.h"

namespace leapp::capture {

/// Values that leave the graph: each line is warned about once, and again when a number that left comes back as an
/// argument (it will be the same number for ever in the exported model). Guarded by the session's lock.
class Escapes {
 public:
  using Warn = std::function<void(const std::string&)>;
  explicit Escapes(Warn warn) : warn_(std::move(warn)) {}

  void left(const std::string& node, const std::string& how, LocationId location);
  void number_left(ActivationId activation, const c10::IValue& number, LocationId location);
  /// A number that the front end follows: what the program computes and decides with it is recorded.
  void number_followed(const std::string& node, double number, LocationId location);
  /// Remembered: whether it is worth a warning shows when it is known who needs the result.
  void data_dependent_shape(const std::string& node, const OpInfo& op, LocationId location);

  /// An operator whose result has a length that depends on data.
  struct Length {
    std::string node;
    std::string op;
    LocationId location = 0;
    bool operator==(const Length&) const = default;
  };
  [[nodiscard]] const std::vector<Length>& lengths() const { return lengths_; }
  /// Guards follow what the program does with it.
  void length_followed(const Length& length);
  /// No operator of the node needs the result: all the program can have used is how long it is.
  void length_left(const Length& length);

  /// Looks for numbers that left among the arguments of `op`, an operator of `node`.
  void check_arguments(ActivationId activation, const std::string& node, const TraceOp& op);

  void close(ActivationId activation) { numbers_.erase(activation); }

  /// What was warned about, each line once. Now it is known which numbers never changed: nobody can tell whether
  /// something was done with these that was not followed.
  std::vector<Note> take_notes();

 private:
  bool warn_once(const std::string& kind, LocationId location, const std::string& text);
  void check_number(ActivationId activation, const std::string& node, const TraceOp& op, double number);

  struct Followed {
    std::string node;
    double number = 0;
    bool varied = false;
  };

  Warn warn_;
  std::map<LocationId, Followed> followed_;
  std::set<std::pair<std::string, LocationId>> warned_;
  std::vector<Length> lengths_;
  std::vector<Length> followed_lengths_;
  std::map<ActivationId, std::map<double, LocationId>> numbers_;
  std::vector<Note> notes_;
};

}  // namespace leapp::capture
