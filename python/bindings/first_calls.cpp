// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "first_calls.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attributes.h"
#include "module_calls.h"
#include "python_location.h"
#include "tensor_caster.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

struct Found {
  nb::object kind;
  AttributeChange change;
};

struct FirstCall {
  capture::LocationId place = 0;
  nb::object memories;                  // where input arrays lie; null: there are none
  std::deque<ObjectAttributes> owners;  // one may be added while another is looked at
  std::unordered_set<PyObject*> known;  // addresses of the owners
  std::size_t own = 0;                  // of the owners, those of the program's own method
  bool is_open = true;
  std::vector<Found> found;
};

/// Never destroyed: it holds Python objects, which may not outlive Python.
struct FirstCalls {
  AttributeReaders readers;
  nb::object owner_of;  // owner_of(frame): the object whose method runs in it, or None
  nb::object memories;  // memories(value): addresses of the arrays in it
  bool watching = false;
  std::unordered_map<std::string, std::shared_ptr<FirstCall>> calls;
  std::vector<std::string> order;
  std::vector<std::shared_ptr<FirstCall>> open;
};

FirstCalls& first_calls() {
  static auto* held = new FirstCalls();
  return *held;
}

bool holds_only_tensors(nb::handle inputs) {
  if (!PyDict_CheckExact(inputs.ptr())) return false;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(inputs.ptr(), &at, &key, &value)) {
    if (!THPVariable_Check(value)) return false;
  }
  return true;
}

void add_owner(FirstCall& call, nb::handle owner) {
  if (!call.known.insert(owner.ptr()).second) return;
  try {
    call.owners.emplace_back(owner, first_calls().readers);
  } catch (nb::python_error& failure) {
    if (!failure.matches(PyExc_TypeError)) throw;  // else nothing can refer to it weakly
  }
}

void note_module(nb::handle module) {
  const auto open = first_calls().open;  // to look at it may run Python
  for (const auto& call : open) add_owner(*call, module);
}

bool is_input(const FirstCall& call, nb::handle value) {
  if (!call.memories.is_valid()) return false;
  for (const nb::handle memory : first_calls().memories(value)) {
    if (PySet_Contains(call.memories.ptr(), memory.ptr()) == 1) return true;
  }
  return false;
}

bool is_found(const FirstCall& call, nb::handle kind, nb::handle name) {
  return std::any_of(call.found.begin(), call.found.end(), [&](const Found& found) {
    return found.kind.is(kind) && PyUnicode_Compare(found.change.name.ptr(), name.ptr()) == 0;
  });
}

void look_at(FirstCall& call, std::size_t owners) {
  for (std::size_t i = 0; i < owners; ++i) {
    const nb::object kind = nb::borrow(call.owners[i].kind());
    for (AttributeChange& change : call.owners[i].changes(first_calls().readers)) {
      if (is_found(call, kind, change.name) || is_input(call, change.value)) continue;
      change.value = nb::object();  // nothing of the program is kept
      call.found.push_back({kind, std::move(change)});
    }
  }
}

void close_call(const std::shared_ptr<FirstCall>& call) {
  FirstCalls& held = first_calls();
  call->is_open = false;
  std::erase(held.open, call);
  if (held.open.empty()) watch_module_calls(nullptr);
}

bool is_first(const std::string& node) { return first_calls().watching && !first_calls().calls.contains(node); }

void begin(const std::string& node, const UsersFrame& frame, nb::handle owner, nb::handle inputs) {
  FirstCalls& held = first_calls();
  auto call = std::make_shared<FirstCall>();
  call->place = frame.location;
  if (!holds_only_tensors(inputs)) call->memories = nb::steal(PyFrozenSet_New(held.memories(inputs).ptr()));
  if (!owner.is_none()) add_owner(*call, owner);
  call->own = call->owners.size();
  held.calls.emplace(node, call);
  held.order.push_back(node);
  held.open.push_back(std::move(call));
  watch_module_calls(&note_module);
}

/// Of a node that is a function.
void begin_function(const std::string& node, nb::handle owner, nb::handle inputs) {
  if (is_first(node)) begin(node, users_frame(), owner, inputs);
}

void abandon_first_call(const std::string& node) {
  FirstCalls& held = first_calls();
  const auto call = held.calls.find(node);
  if (call == held.calls.end() || !call->second->is_open) return;
  close_call(call->second);
  held.calls.erase(call);
  std::erase(held.order, node);
}

/// Of each node with changes its name, where it was opened, and class, name, was and is of each attribute.
nb::list changed_attributes() {
  nb::list nodes;
  FirstCalls& held = first_calls();
  const std::vector<std::string> order = held.order;
  for (const std::string& node : order) {
    const auto at = held.calls.find(node);
    if (at == held.calls.end()) continue;
    const std::shared_ptr<FirstCall> call = at->second;
    look_at(*call, call->own);  // it may count after the outputs
    if (call->found.empty()) continue;
    nb::list changes;
    for (const Found& found : call->found)
      changes.append(nb::make_tuple(found.kind, found.change.name, found.change.was, found.change.is));
    nodes.append(nb::make_tuple(node, capture::location_text(call->place), changes));
  }
  return nodes;
}

void forget_first_calls() {
  FirstCalls& held = first_calls();
  held.watching = false;
  const auto calls = std::exchange(held.calls, {});  // their ends may run code of the program
  const auto open = std::exchange(held.open, {});
  held.order.clear();
  forget_module_calls();
}

void install_first_calls(nb::object plain, nb::object slots, nb::object module, nb::object ignored, nb::object owner_of,
                         nb::object memories) {
  FirstCalls& held = first_calls();
  held.readers = {std::move(plain), std::move(slots), std::move(module), std::move(ignored)};
  held.owner_of = std::move(owner_of);
  held.memories = std::move(memories);
}

}  // namespace

void begin_first_call(const std::string& node, nb::handle inputs) {
  if (!is_first(node)) return;
  const UsersFrame frame = users_frame();
  begin(node, frame, frame.may_be_method ? first_calls().owner_of(frame.frame) : nb::none(), inputs);
}

void end_first_call(const std::string& node) {
  const auto found = first_calls().calls.find(node);
  if (found == first_calls().calls.end() || !found->second->is_open) return;
  const std::shared_ptr<FirstCall> call = found->second;
  close_call(call);
  look_at(*call, call->owners.size());
}

void bind_first_calls(nb::module_& m) {
  m.def("install_first_calls", &install_first_calls, nb::arg("plain"), nb::arg("slots"), nb::arg("module"),
        nb::arg("ignored"), nb::arg("owner_of"), nb::arg("memories"));
  m.def("watch_first_calls", [] { first_calls().watching = true; });
  m.def("begin_first_call", &begin_function, nb::arg("node"), nb::arg("owner").none(), nb::arg("inputs"));
  m.def("abandon_first_call", &abandon_first_call);
  m.def("changed_attributes", &changed_attributes);
  m.def("forget_first_calls", &forget_first_calls);
}

}  // namespace leapp::python
