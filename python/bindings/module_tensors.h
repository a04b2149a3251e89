// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "leapp/capture.h"

namespace leapp::python {

/// The parameters and buffers of a torch.nn.Module and of those in it, each under its first name: "actor.0.weight".
struct ModuleTensors {
  struct Named {
    at::Tensor tensor;
    std::string name;
    bool parameter = false;
  };
  std::vector<Named> tensors;
  std::vector<annotate::Buffer> buffers;  ///< may be asked, copied and dropped without Python's lock
};

/// REQUIRES: Python's lock is held. Throws what Python raises.
ModuleTensors tensors_of_module(nanobind::handle module);

}  // namespace leapp::python
