// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "python_location.h"

#include <Python.h>
#include <frameobject.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "console.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

using capture::LocationId;

struct CodeInfo {
  bool skip = false;
  bool may_be_method = false;
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

// A function with a first argument that is called self, or that stands in a class.
bool may_be_method(PyCodeObject* code) {
  if (code->co_argcount == 0) return false;
#if PY_VERSION_HEX >= 0x030B0000
  const nb::object names = nb::steal(PyCode_GetVarnames(code));
  if (!names.is_valid()) {
    PyErr_Clear();
    return false;
  }
  if (text(PyTuple_GET_ITEM(names.ptr(), 0)) == "self") return true;
  const std::string name = text(code->co_qualname);
  const std::size_t within = name.rfind('.');
  return within != std::string::npos && !std::string_view(name).substr(0, within).ends_with("<locals>");
#else
  return true;                          // nobody knows where it stands
#endif
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
  info.may_be_method = may_be_method(code);
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

struct LetGo {
  void operator()(PyFrameObject* frame) const { Py_DECREF(frame); }
};
using Frame = std::unique_ptr<PyFrameObject, LetGo>;

// The innermost frame that is the user's; null: there is none.
Frame innermost(CodeInfo*& found) {
  Frame frame(PyThreadState_GetFrame(PyThreadState_Get()));
  while (frame) {
    const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame.get())));
    found = &code_info(reinterpret_cast<PyCodeObject*>(code.ptr()));
    if (!found->skip) break;
    frame.reset(PyFrame_GetBack(frame.get()));
  }
  return frame;
}

}  // namespace

LocationId python_location() {
  if (!g_skipped.load(std::memory_order_relaxed) || !python_runs()) return 0;
  const nb::gil_scoped_acquire python;  // given back also when memory runs out
  CodeInfo* info = nullptr;
  const Frame frame = innermost(info);
  return frame ? of_frame(frame.get(), *info) : 0;
}

UsersFrame users_frame() {
  if (!g_skipped.load(std::memory_order_relaxed)) return {};
  CodeInfo* info = nullptr;
  Frame frame = innermost(info);
  if (!frame) return {};
  const LocationId location = of_frame(frame.get(), *info);
  return {nb::steal(reinterpret_cast<PyObject*>(frame.release())), location, info->may_be_method};
}

bool is_users_code(nb::handle code) {
  return !g_skipped.load(std::memory_order_relaxed) || !code_info(reinterpret_cast<PyCodeObject*>(code.ptr())).skip;
}

// Few calls in the life of a process, and another thread may look at the last one's.
void skip_folders(std::vector<std::string> skipped) {
  g_skipped.store(new std::vector<std::string>(std::move(skipped)));
}

}  // namespace leapp::python
