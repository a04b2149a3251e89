// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "capture/hook/source_location.h"

namespace leapp::python {

/// The innermost Python frame of the calling thread whose file lies in none of the skipped folders; 0 until these are
/// known.
capture::LocationId python_location();

/// The frame that python_location() tells of, for what asks more of it. Null: there is none.
struct UsersFrame {
  nanobind::object frame;
  capture::LocationId location = 0;
  bool may_be_method = false;
};

/// REQUIRES: Python's lock.
UsersFrame users_frame();

/// Whether the file of a code object lies in none of the skipped folders. REQUIRES: Python's lock.
bool is_users_code(nanobind::handle code);

void skip_folders(std::vector<std::string> skipped);

}  // namespace leapp::python
