// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "common/exceptions.h"

#include <cerrno>
#include <system_error>

#include "base/text.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

// How messages end that the system's errors are put into.
bool is_missing_file(const Status& status) {
  return status.code() == StatusCode::kIo && status.message().ends_with(std::generic_category().message(ENOENT));
}

const char* exception_name(const Status& status) {
  if (is_missing_file(status)) return "LeappFileNotFoundError";
  switch (status.code()) {
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
    case StatusCode::kOutOfMemory:
      return "LeappMemoryError";
    case StatusCode::kTimeout:
      return "LeappTimeoutError";
    default:
      return "LeappRuntimeError";
  }
}

}  // namespace

void raise(const Status& status, const char* type) {
  const nb::object exception = nb::module_::import_("leapp.errors").attr(type ? type : exception_name(status));
  // Parts of it may come from strangers' files: no escapes for a terminal, no bytes that are not UTF-8.
  const nb::object message = safe_text(printable(status.message(), /*keep_lines=*/true));
  PyErr_SetObject(exception.ptr(), message.ptr());
  throw nb::python_error();
}

nb::object safe_text(std::string_view bytes) {
  PyObject* made = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace");
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

std::string text_of(nb::handle value) {
  const nb::object text = nb::steal(PyObject_Str(value.ptr()));
  const nb::object bytes =
      nb::steal(text.is_valid() ? PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace") : nullptr);
  if (bytes.is_valid()) return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
  PyErr_Clear();
  return PyUnicode_Check(value.ptr()) != 0 ? "a string" : type_text(value);  // its str() raises
}

std::string type_text(nb::handle value) {
  if (value.is_none()) return "None";
  const nb::object name = nb::steal(PyObject_GetAttrString(value.type().ptr(), "__name__"));
  if (name.is_valid()) return text_of(name);
  PyErr_Clear();
  return "object";  // a metaclass that hides the name
}

std::string take_exception() {
  const nb::python_error error;  // takes it over
  std::string text = type_text(error.value());
  const std::string message = text_of(error.value());
  // Only the first line: torch goes on with a trace of C++ calls.
  if (!message.empty()) text += ": " + message.substr(0, message.find('\n'));
  // Somebody pressed Ctrl-C: let the next Python code that runs see it.
  if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  return text;
}

}  // namespace leapp::python
