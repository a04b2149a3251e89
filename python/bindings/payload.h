// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What Python programs hand to an annotation: dicts, lists, tuples, arrays and TensorSemantics.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "leapp/capture.h"

namespace leapp::python {

/// One entry of a payload, as Python gave it.
struct PyPort {
  std::string name;
  nanobind::handle value;
  nanobind::handle semantics;  ///< a TensorSemantics, or null
};

/// What comes back in the place of an array.
enum class Arrays {
  kRecorded,  ///< one whose functions are recorded
  kPlain,     ///< an ordinary one, whose copies are known to be copies
};

/// Which leaves are accepted beside tensors and arrays.
enum class Leaves {
  kSimple,  ///< numbers, strings, None: with a warning. Anything else is a TypeError
  kAny,     ///< anything, without a word
};

/// The entries of a payload. Raises a TypeError for what is none. `call` is for messages. The handles live as long as
/// `tensors` does.
std::vector<PyPort> ports_of(const char* call, nanobind::handle tensors);

/// Raises the errors that to_payload would raise about types, without converting anything.
void check_values(const char* call, const std::vector<PyPort>& ports);

Payload to_payload(const char* call, const std::vector<PyPort>& ports, Leaves leaves = Leaves::kSimple);

/// The tensor behind a tensor or an array; raises a TypeError for anything else, nested values too.
at::Tensor to_tensor(const char* call, const std::string& name, nanobind::handle value);

/// `value` in the shape of `original`: its containers and its leaves that are no tensors. What is unchanged stays the
/// same object.
nanobind::object rebuilt(nanobind::handle original, const Nested& value, Arrays arrays);

/// One object for one entry, else a tuple.
nanobind::object unpacked(const std::vector<nanobind::object>& values);

bool is_tensor(nanobind::handle value);
bool is_array(nanobind::handle value);
/// Whether a tensor or an array is `value` or somewhere in it.
bool holds_tensor(nanobind::handle value);

}  // namespace leapp::python
