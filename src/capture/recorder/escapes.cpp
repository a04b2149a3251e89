// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/escapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

// Counters, flags and dimensions come back all the time without having left through an escape.
bool is_small_integer(double number) { return std::abs(number) <= 16 && number == std::floor(number); }

std::optional<double> as_number(const c10::IValue& value) {
  if (value.isDouble()) return value.toDouble();
  if (value.isInt()) return static_cast<double>(value.toInt());
  return std::nullopt;
}

}  // namespace

bool Escapes::warn_once(const std::string& kind, LocationId location, const std::string& text) {
  const bool first = warned_.emplace(kind, location).second;
  if (first) warn_(text);
  return first;
}

void Escapes::left(const std::string& node, const std::string& how, LocationId location) {
  const bool first =
      warn_once("left", location,
                fmt::format("{}a value of node '{}' leaves the graph through {}. What the program does with it is "
                            "not exported: a number is baked in as it is now, a branch as it was taken",
                            line_prefix(location), node, how));
  if (first) notes_.push_back({.kind = Note::Kind::kLeft, .node = node, .op = how, .location = location});
}

void Escapes::data_dependent_shape(const std::string& node, const OpInfo& op, LocationId location) {
  Length length{node, op.qualified_name(), location};
  if (std::find(lengths_.begin(), lengths_.end(), length) == lengths_.end()) lengths_.push_back(std::move(length));
}

void Escapes::length_followed(const Length& length) {
  const bool known = std::find(followed_lengths_.begin(), followed_lengths_.end(), length) != followed_lengths_.end();
  if (!known) followed_lengths_.push_back(length);
}

void Escapes::length_left(const Length& length) {
  if (std::find(followed_lengths_.begin(), followed_lengths_.end(), length) != followed_lengths_.end()) return;
  const bool first = warn_once(
      "left", length.location,
      fmt::format("{}the shape of the result of {} in node '{}' depends on data, and nothing of the node needs "
                  "the result. What the program does with its length is not exported: a number is baked in "
                  "as it is now, a branch as it was taken",
                  line_prefix(length.location), length.op, length.node));
  if (first) {
    notes_.push_back({.kind = Note::Kind::kLeft,
                      .node = length.node,
                      .op = "the length of " + length.op,
                      .location = length.location});
  }
}

void Escapes::number_left(ActivationId activation, const c10::IValue& value, LocationId location) {
  const auto number = as_number(value);
  if (number && !is_small_integer(*number)) numbers_[activation].try_emplace(*number, location);
}

void Escapes::number_followed(const std::string& node, double number, LocationId location) {
  const auto [at, added] = followed_.try_emplace(location, Followed{node, number});
  if (!added && at->second.number != number) at->second.varied = true;
}

std::vector<Note> Escapes::take_notes() {
  for (const auto& [location, followed] : std::exchange(followed_, {})) {
    if (followed.varied) continue;
    const bool first = warn_once(
        "left", location,
        fmt::format(
            "{}a number of node '{}' was {} in every call. Sums, products and comparisons with it are exported; "
            "whatever else the program does with it (range, math, an index) is as it was. Run a pass in which "
            "it is another one to have that checked",
            line_prefix(location), followed.node, followed.number));
    if (first) notes_.push_back({.kind = Note::Kind::kLeft, .node = followed.node, .op = "item", .location = location});
  }
  return std::move(notes_);
}

void Escapes::check_number(ActivationId activation, const std::string& node, const TraceOp& op, double number) {
  const auto& numbers = numbers_[activation];
  const auto found = numbers.find(number);
  if (found == numbers.end()) return;
  const bool first =
      warn_once("baked", op.location,
                fmt::format("{}{} in node '{}' uses the number {}, which was read from a tensor{}. It is baked "
                            "into the exported model; keep it a tensor to have it computed",
                            line_prefix(op.location), op.info->qualified_name(), node, number, at_line(found->second)));
  if (!first) return;
  notes_.push_back({.kind = Note::Kind::kBakedNumber,
                    .node = node,
                    .op = op.info->qualified_name(),
                    .number = fmt::format("{}", number),
                    .location = op.location,
                    .left_at = found->second});
}

void Escapes::check_arguments(ActivationId activation, const std::string& node, const TraceOp& op) {
  if (!numbers_.contains(activation)) return;
  for (const TraceArgument& argument : op.arguments) {
    if (argument.kind != TraceArgument::Kind::kAttribute) continue;
    const c10::IValue& value = argument.attribute;
    if (const auto number = as_number(value)) check_number(activation, node, op, *number);
    if (value.isIntList()) {
      for (const std::int64_t number : value.toIntVector())
        check_number(activation, node, op, static_cast<double>(number));
    }
    if (value.isDoubleList()) {
      for (const double number : value.toDoubleVector()) check_number(activation, node, op, number);
    }
  }
}

}  // namespace leapp::capture
