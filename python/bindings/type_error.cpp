// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "type_error.h"

#include "common/exceptions.h"
#include "python_location.h"

namespace leapp::python {

void raise_type_error(const std::string& message) {
  const capture::LocationId here = python_location();
  raise(wrong_type(here == 0 ? message : message + " (" + capture::location_text(here) + ")"));
}

}  // namespace leapp::python
