// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leapp::emit {

/// Finds each constant a place in a tree of modules, so that keys of the loaded module's state_dict() are the names of
/// the constants: "actor.0.weight" is tensor "weight" of module "0" of module "actor". A part that TorchScript cannot
/// spell is changed to one it can, one that is taken gets a number. The same wishes in the same order give the same
/// places. Not thread-safe.
class ParameterNames {
 public:
  /// The modules from the root down, then the tensor.
  [[nodiscard]] std::vector<std::string> place(std::string_view wish);

 private:
  enum class Kind { kModule, kTensor };
  std::string take(const std::string& parent, std::string_view part, Kind kind);

  std::map<std::string, Kind> taken_;  // by dotted path
};

}  // namespace leapp::emit
