// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace leapp::graph {

/// `name` as an identifier that Python and TorchScript accept: what is not an ASCII letter, digit or underscore becomes
/// one underscore a character, a leading digit gets one in front, a reserved word one behind. Never empty.
/// Different names may come out the same; see IdentifierNamer.
[[nodiscard]] std::string legal_identifier(std::string_view name);

/// Hands out legal identifiers, each one once. The same wishes in the same order give the same names. Not thread-safe.
class IdentifierNamer {
 public:
  [[nodiscard]] std::string make(std::string_view wish);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::int64_t> next_suffix_;
};

/// True for the names Graph makes up: "12", "constant_3".
[[nodiscard]] bool is_automatic_name(std::string_view name);

}  // namespace leapp::graph
