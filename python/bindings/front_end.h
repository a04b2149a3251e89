// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/session/front_end.h"

namespace leapp::python {

/// What Python knows about the program that runs in it.
std::shared_ptr<capture::FrontEnd> python_front_end();

}  // namespace leapp::python
