// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "python_location.h"

#include <Python.h>
#include <frameobject.h>

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "console.h"

namespace leapp::python {
namespace {

using capture::LocationId;

struct CodeInfo {
  bool skip = false;
  std::string file;
  std::string function;
  std::unordered_map<int, LocationId> places;  // by instruction
};

// Null until Python has told. Guarded by Python's lock.
std::atomic<std::vector<std::string>*> g_skipped{nullptr};

std::string text(PyObject* object) {
  const char* utf8 = PyUnicode_AsUTF8(object);
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "";
}

// Keyed by code object, which is kept alive: one look at the file name per function, not per operator. Guarded by
// Python's lock.
CodeInfo& code_info(PyCodeObject* code) {
  static auto* known = new std::unordered_map<PyCodeObject*, CodeInfo>();
  const auto found = known->find(code);
  if (found != known->end()) return found->second;
  Py_INCREF(code);
  CodeInfo info;
  info.file = text(code->co_filename);
  info.function = text(code->co_name);
  const auto inside = [&](const std::string& folder) { return info.file.rfind(folder, 0) == 0; };
  info.skip =
      info.file.rfind("<frozen", 0) == 0 || std::any_of(g_skipped.load()->begin(), g_skipped.load()->end(), inside);
  return known->emplace(code, std::move(info)).first->second;
}

// To find the line of an instruction, Python goes through all that are before it.
int instruction_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return PyFrame_GetLineNumber(frame);  // as good a key
#endif
}

LocationId of_frame(PyFrameObject* frame, CodeInfo& info) {
  LocationId& id = info.places[instruction_of(frame)];
  if (id == 0) id = capture::intern_location(info.file, PyFrame_GetLineNumber(frame), info.function);
  return id;
}

}  // namespace

LocationId python_location() {
  if (!g_skipped.load(std::memory_order_relaxed) || !python_runs()) return 0;
  const PyGILState_STATE state = PyGILState_Ensure();
  LocationId found = 0;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame && found == 0) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    CodeInfo& info = code_info(code);
    Py_DECREF(code);
    if (!info.skip) found = of_frame(frame, info);
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  Py_XDECREF(frame);
  PyGILState_Release(state);
  return found;
}

// Few calls in the life of a process, and another thread may look at the last one's.
void skip_folders(std::vector<std::string> skipped) {
  g_skipped.store(new std::vector<std::string>(std::move(skipped)));
}

}  // namespace leapp::python
