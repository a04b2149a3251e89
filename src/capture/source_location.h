// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace leapp::capture {

/// A line of the user's program, interned for the life of the process. 0: unknown.
using LocationId = std::uint32_t;

/// Says where the calling thread's user code stands. Registered by a language front end (the Python module);
/// must not take any lock of ours. Null: locations are unknown unless set_current_location was called.
using LocationProvider = LocationId (*)();
void set_location_provider(LocationProvider provider);

/// Location of the code that runs on this thread right now. Called without any lock held.
LocationId current_location();

/// Gives names (leapp::name_tensor) to the parameters of the module that is being called, if it has not done so
/// before; false: nothing is new. Called without any lock of ours.
using ModuleNamer = bool (*)();
void set_module_namer(ModuleNamer namer);
bool ask_for_names();

/// Whether the number that the running code is about to read from a tensor is only looked at by checks of a library,
/// which raise and select no computation. Called without any lock of ours.
using CheckFinder = bool (*)();
void set_check_finder(CheckFinder finder);
bool is_only_checked();

/// The name of the variable or attribute that holds `tensor`, or nothing. Called without any lock of ours.
using HolderNamer = std::string (*)(const at::Tensor& tensor);
void set_holder_namer(HolderNamer namer);
std::string holder_name(const at::Tensor& tensor);

/// Who has a tensor when nothing of the pipeline runs.
struct Holder {
  enum class Kind : std::uint8_t { kUnknown, kNobody, kVariable, kAttribute };
  Kind kind = Kind::kUnknown;  ///< kUnknown: there is no front end to ask
  std::string name;
};
/// Of each of `tensors`. Called without any lock of ours.
using HolderFinder = std::vector<Holder> (*)(const std::vector<at::Tensor>& tensors);
void set_holder_finder(HolderFinder finder);
std::vector<Holder> find_holders(const std::vector<at::Tensor>& tensors);

/// Thread-safe. Equal places get equal ids.
LocationId intern_location(const std::string& file, int line, const std::string& function);
graph::SourceLocation location(LocationId id);

/// "policy.py:12"; empty when unknown.
std::string location_text(LocationId id);
/// "policy.py:12: ", for the beginning of a message; empty when unknown.
std::string line_prefix(LocationId id);
/// " at policy.py:12", after what stands there; empty when unknown.
std::string at_line(LocationId id);

}  // namespace leapp::capture
