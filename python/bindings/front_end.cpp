// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "front_end.h"

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "console.h"
#include "naming.h"
#include "python_location.h"
#include "pytorch_exporters.h"

namespace leapp::python {
namespace {

class PythonFrontEnd : public capture::FrontEnd {
 public:
  capture::LocationId location() override { return python_location(); }
  bool name_parameters() override { return python::name_parameters(); }
  bool is_only_checked() override { return python::is_only_checked(); }
  std::string holder_name(const at::Tensor& tensor) override { return python::holder_name(tensor); }
  std::vector<capture::Holder> holders(const std::vector<at::Tensor>& tensors) override {
    return python::holders(tensors);
  }
  // Ctrl-C. Python keeps the exception until the call returns to it.
  bool interrupted() override {
    const nanobind::gil_scoped_acquire guard;
    return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
  }
  const exporter::PytorchExporters* pytorch_exporters() override { return &python_exporters(); }
};

}  // namespace

std::shared_ptr<capture::FrontEnd> python_front_end() { return std::make_shared<PythonFrontEnd>(); }

}  // namespace leapp::python
