// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// `install_indexing(get, set)` and `remove_indexing()`: what `tensor[index]` does in between.
///
/// `get(tensor, index)` and `set(tensor, index, value)` are asked when an index has a tensor without dimensions in it;
/// None and False let torch do what it does. The slots of the types are exchanged, not their attributes: a
/// `__getitem__` written in Python would make sequences of tensors, which torch.tensor and NumPy treat otherwise.
void bind_indexing(nanobind::module_& m);

}  // namespace leapp::python
