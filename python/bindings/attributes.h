// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

namespace leapp::python {

/// Values that cannot change: exactly int, float, complex, bool, str, bytes or None.
bool is_immutable(nanobind::handle value);

/// What only Python can tell of values and classes.
struct AttributeReaders {
  nanobind::object plain;    ///< plain(value): something to compare with later, or None: nothing to tell about it
  nanobind::object slots;    ///< slots(class): name and descriptor of attributes that are in no dict
  nanobind::object module;   ///< torch.nn.Module
  nanobind::object ignored;  ///< names of what torch keeps in a module
};

/// An attribute that is not what it was. `was` is None where there was none.
struct AttributeChange {
  nanobind::object name;
  nanobind::object was;    ///< plain
  nanobind::object is;     ///< plain
  nanobind::object value;  ///< as the object has it now
};

/// The attributes of an object as they were. Keeps neither the object nor what is in it, and runs no code of its class.
/// Guarded by Python's lock.
class ObjectAttributes {
 public:
  /// Throws a TypeError of Python's for an object that nothing can refer to weakly.
  ObjectAttributes(nanobind::handle owner, const AttributeReaders& readers);

  [[nodiscard]] nanobind::handle kind() const { return kind_; }
  /// Empty when the object is gone.
  [[nodiscard]] std::vector<AttributeChange> changes(const AttributeReaders& readers);

 private:
  struct Named {
    nanobind::object name;
    nanobind::object value;
  };
  struct Kept {
    nanobind::object name;
    nanobind::object value;  // itself where it is immutable, else plain
    bool itself = false;
  };
  [[nodiscard]] std::vector<Named> attributes(nanobind::handle owner, const AttributeReaders& readers) const;
  [[nodiscard]] const Kept* find(nanobind::handle name, std::size_t hint);

  nanobind::object kind_;
  nanobind::object owner_;  // a weak reference
  std::vector<Kept> before_;
  nanobind::dict positions_;  // in before_, by name; made when they are asked for
};

}  // namespace leapp::python
