// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/engine.h"

namespace leapp::python {

/// Runs `pt2` models through torch in Python (leapp.pt2). May be called, used and dropped without Python's lock.
Result<std::unique_ptr<engine::Engine>> open_pt2_engine();

}  // namespace leapp::python
