// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

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

/// Thread-safe. Equal places get equal ids.
LocationId intern_location(const std::string& file, int line, const std::string& function);
graph::SourceLocation location(LocationId id);

/// "policy.py:12", or "an unknown line"
std::string location_text(LocationId id);

}  // namespace leapp::capture
