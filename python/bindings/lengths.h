// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// `install_lengths(shape, number)` and `remove_lengths()`: what `shape`, `size()` and `numel()` of a tensor give in
/// between, if one of its dimensions is as long as the data says; `length` is what `len()` is replaced by.
///
/// `shape(tensor, sizes, dim, source)` gives the sizes that the program gets, `number(tensor, rows, dim, times,
/// source)` the number of rows, times a number. The functions behind torch's attributes are exchanged, not the
/// attributes: libraries compare those with their own.
void bind_lengths(nanobind::module_& m);

}  // namespace leapp::python
