// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "capture/session/front_end.h"

namespace leapp::python {

// See capture::FrontEnd. Nothing until install_namers was called.
bool name_parameters();
std::string holder_name(const at::Tensor& tensor);
std::vector<capture::Holder> holders(const std::vector<at::Tensor>& tensors);

/// Adds install_namers, named_modules and forget_modules: how tensors get the names of the attributes that hold them.
void bind_naming(nanobind::module_& m);

}  // namespace leapp::python
