// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "attributes.h"

#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <utility>

#include "tensor_caster.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

PyTypeObject* type_of(nb::handle kind) { return reinterpret_cast<PyTypeObject*>(kind.ptr()); }

/// Whether a class may have attributes that are not in its objects' dicts. To look for them takes as long as all the
/// rest.
bool may_have_slots(PyTypeObject* kind) {
  PyObject* const order = kind->tp_mro;
  for (Py_ssize_t i = 0; order && i < PyTuple_GET_SIZE(order); ++i) {
    auto* const base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(order, i));
    const bool made_in_python = (base->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
    const bool any = made_in_python ? Py_SIZE(base) > 0 : base->tp_members && base->tp_members->name;
    if (any) return true;
  }
  return false;
}

/// The dict of an object, without running any code of its class; null: it has none.
nb::object dict_of(nb::handle owner) {
  static PyObject* const name = PyUnicode_InternFromString("__dict__");
  nb::object found = nb::steal(PyObject_GenericGetAttr(owner.ptr(), name));
  if (!found.is_valid()) PyErr_Clear();
  return found.is_valid() && PyDict_Check(found.ptr()) ? std::move(found) : nb::object();
}

/// Tensors have a trace of their own.
nb::object plain(nb::handle value, const AttributeReaders& readers) {
  return THPVariable_Check(value.ptr()) ? nb::none() : readers.plain(value);
}

bool are_equal(nb::handle a, nb::handle b) {
  const int equal = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
  if (equal < 0) nb::raise_python_error();
  return equal != 0;
}

}  // namespace

bool is_immutable(nb::handle value) {
  PyObject* const object = value.ptr();
  return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
         PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) || PyComplex_CheckExact(object);
}

ObjectAttributes::ObjectAttributes(nb::handle owner, const AttributeReaders& readers)
    : kind_(nb::borrow(owner.type())), owner_(nb::steal(PyWeakref_NewRef(owner.ptr(), nullptr))) {
  if (!owner_.is_valid()) nb::raise_python_error();
  for (Named& one : attributes(owner, readers)) {
    const bool itself = is_immutable(one.value);
    before_.push_back({std::move(one.name), itself ? std::move(one.value) : plain(one.value, readers), itself});
  }
}

std::vector<ObjectAttributes::Named> ObjectAttributes::attributes(nb::handle owner,
                                                                  const AttributeReaders& readers) const {
  std::vector<Named> found;
  const bool is_module = PyType_IsSubtype(type_of(kind_), type_of(readers.module)) != 0;
  if (const nb::object dict = dict_of(owner); dict.is_valid()) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at = 0;
    // Nothing here runs code of Python's, so that no other thread may add meanwhile.
    while (PyDict_Next(dict.ptr(), &at, &key, &value)) {
      if (!PyUnicode_CheckExact(key)) continue;
      if (is_module && PySet_Contains(readers.ignored.ptr(), key) == 1) continue;
      found.push_back({nb::borrow(key), nb::borrow(value)});
    }
  }
  if (!may_have_slots(type_of(kind_))) return found;
  for (const nb::handle slot : readers.slots(kind_)) {
    nb::object value = nb::steal(PyObject_CallMethod(slot[1].ptr(), "__get__", "O", owner.ptr()));
    if (value.is_valid()) {
      found.push_back({nb::borrow(slot[0]), std::move(value)});
    } else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
      PyErr_Clear();  // not set
    } else {
      nb::raise_python_error();
    }
  }
  return found;
}

/// As good as always at the same place.
const ObjectAttributes::Kept* ObjectAttributes::find(nb::handle name, std::size_t hint) {
  if (hint < before_.size() && before_[hint].name.is(name)) return &before_[hint];
  if (positions_.empty()) {
    for (std::size_t i = 0; i < before_.size(); ++i) positions_[before_[i].name] = i;
  }
  PyObject* const found = PyDict_GetItemWithError(positions_.ptr(), name.ptr());
  if (!found && PyErr_Occurred()) nb::raise_python_error();
  return found ? &before_[PyLong_AsSize_t(found)] : nullptr;
}

std::vector<AttributeChange> ObjectAttributes::changes(const AttributeReaders& readers) {
  std::vector<AttributeChange> found;
  const nb::object owner = owner_();
  if (owner.is_none()) return found;
  std::vector<Named> now = attributes(owner, readers);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Kept* const before = find(now[i].name, i);
    const bool immutable = is_immutable(now[i].value);
    if (before && before->itself && before->value.is(now[i].value)) continue;
    if (before && !before->itself && before->value.is_none()) continue;
    // What is kept for the first time is often a result; a number may have been counted from a default.
    if (!before && !immutable) continue;
    nb::object is = plain(now[i].value, readers);
    if (is.is_none()) continue;
    nb::object was = !before ? nb::none() : before->itself ? readers.plain(before->value) : before->value;
    if (are_equal(was, is)) continue;
    found.push_back({std::move(now[i].name), std::move(was), std::move(is), std::move(now[i].value)});
  }
  return found;
}

}  // namespace leapp::python
