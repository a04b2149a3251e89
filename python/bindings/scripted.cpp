// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The one place that knows torch's own bindings (pybind11): scripted functions are objects of theirs.
#include "scripted.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "capture/hook/hook.h"
#include "capture/scripted/scripted_run.h"
#include "common/released.h"

namespace nb = nanobind;
namespace jit = torch::jit;

namespace leapp::python {
namespace {

/// A function with what it is called on.
struct Callee {
  jit::Function* function = nullptr;
  std::optional<c10::IValue> self;
  std::shared_ptr<jit::CompilationUnit> unit;
};

std::optional<Callee> callee_of(py::handle object) {
  if (py::isinstance<jit::StrongFunctionPtr>(object)) {
    const auto function = py::cast<jit::StrongFunctionPtr>(object);
    return Callee{function.function_, std::nullopt, function.cu_};
  }
  if (!py::isinstance<jit::Method>(object)) return std::nullopt;
  const auto method = py::cast<jit::Method>(object);
  const auto owner = method.owner()._ivalue();
  return Callee{&method.function(), c10::IValue(owner), owner->compilation_unit()};
}

/// The code of functions that were called, while they are there. Guarded by Python's lock.
const capture::ScriptedCode* code_of(const Callee& callee) {
  struct Known {
    std::weak_ptr<jit::Graph> graph;
    std::unique_ptr<capture::ScriptedCode> code;
  };
  static auto* const known = new std::unordered_map<const jit::Function*, Known>();
  if (jit::tryToGraphFunction(*callee.function) == nullptr) return nullptr;
  const std::shared_ptr<jit::Graph> graph = jit::toGraphFunction(*callee.function).graph();
  Known& entry = (*known)[callee.function];
  if (!entry.code || entry.graph.lock() != graph) {
    entry = {graph, std::make_unique<capture::ScriptedCode>(*graph)};
  }
  return entry.code.get();
}

/// Autocast changes what operators do inside of torch's interpreter in its own way.
bool is_usual_mode() {
  return !at::autocast::is_autocast_enabled(at::kCPU) && !at::autocast::is_autocast_enabled(at::kCUDA) &&
         capture::recorder_of_thread() != nullptr;
}

py::object run(const Callee& callee, const capture::ScriptedCode& code, const py::args& args,
               const py::kwargs& kwargs) {
  jit::Stack stack =
      jit::createStackForSchema(callee.function->getSchema(), jit::tuple_slice(args), kwargs, callee.self);
  {
    const Released others_may_run;
    capture::run_scripted(code, stack);
  }
  return jit::toPyObject(std::move(stack.back()));
}

nb::object call(const nb::object& function, const nb::tuple& args, const nb::dict& kwargs) {
  if (!is_usual_mode()) return nb::none();
  const auto callee = callee_of(py::handle(function.ptr()));
  const capture::ScriptedCode* code = callee ? code_of(*callee) : nullptr;
  if (code == nullptr || !code->is_followed()) return nb::none();
  try {
    const py::object result = run(*callee, *code, py::reinterpret_borrow<py::args>(args.ptr()),
                                  py::reinterpret_borrow<py::kwargs>(kwargs.ptr()));
    return nb::make_tuple(nb::borrow(result.ptr()));
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (...) {
    torch::translate_exception_to_python(std::current_exception());
  }
  throw nb::python_error();
}

}  // namespace

void bind_scripted(nb::module_& m) { m.def("call_scripted", &call); }

}  // namespace leapp::python
