// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exceptions.h"

#include "capture/source_location.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

const char* exception_name(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kDataLoss:
      return "LeappValueError";
    case StatusCode::kWrongType:
      return "LeappTypeError";
    case StatusCode::kNotFound:
      return "LeappKeyError";
    case StatusCode::kIo:
      return "LeappOSError";
    case StatusCode::kUnimplemented:
      return "LeappNotImplementedError";
    default:
      return "LeappRuntimeError";
  }
}

}  // namespace

void raise(const Status& status, const char* type) {
  const nb::object exception = nb::module_::import_("leapp.errors").attr(type ? type : exception_name(status.code()));
  PyErr_SetString(exception.ptr(), status.message().c_str());
  throw nb::python_error();
}

void raise_type_error(const std::string& message) {
  const capture::LocationId here = capture::current_location();
  raise(wrong_type(here == 0 ? message : message + " (" + capture::location_text(here) + ")"));
}

std::string type_text(nb::handle value) {
  return value.is_none() ? "None" : nb::str(value.type().attr("__name__")).c_str();
}

}  // namespace leapp::python
