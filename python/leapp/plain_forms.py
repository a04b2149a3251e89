# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Values of Python in a form that can be kept and compared: numbers, texts, small arrays, containers of these."""

from __future__ import annotations

import _random
import collections
import ctypes
import enum
import functools
import itertools
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_ITEMS = 1024  # of a container
_MAX_NESTED = 16  # of a container in a container
_MAX_BYTES = 1 << 16  # of an array
_MAX_KINDS = 1000  # remembered from session to session

SIMPLE = frozenset({int, float, complex, bool, str, bytes, type(None)})
SEQUENCES = frozenset({list, tuple, collections.deque, set, frozenset})
MAPPINGS = frozenset({dict, collections.OrderedDict, collections.defaultdict, collections.Counter})
_GENERATORS = frozenset({random.Random, np.random.RandomState, np.random.Generator})

# In CPython an index and the words follow the header of a generator; in NumPy they are its state.
_WORDS = 4 + 624 * 4
_KNOWN_LAYOUT = (
    sys.implementation.name == "cpython"
    and 0 <= _random.Random.__basicsize__ - object.__basicsize__ - _WORDS < ctypes.sizeof(ctypes.c_void_p)
)

OPAQUE = object()

_forms: dict[type, Callable[[Any], Any]] = {}  # by kind: the kinds of a program are few, its values many
_recorded: set[int] = set()  # memory of arrays that are inputs: what is done to it is in the graph


def plain(value: Any) -> Any:
    """Something to compare with later, or OPAQUE. The first item is the kind, the second of simple ones the value."""
    kind = type(value)
    form = _forms.get(kind)
    if form is None:
        form = _forms[kind] = _form(kind)
    return form(value)


def is_container(kind: type) -> bool:
    return kind in SEQUENCES or kind in MAPPINGS or issubclass(kind, tuple)


def note_inputs(inputs: Any) -> None:
    """Arrays of a node's inputs are not to be compared."""
    kind = type(inputs)
    if issubclass(kind, np.ndarray):
        _recorded.add(_memory(inputs))
    elif is_container(kind):
        for item in list(inputs.values() if kind in MAPPINGS else inputs):
            note_inputs(item)


def forget() -> None:
    _recorded.clear()
    if len(_forms) > _MAX_KINDS:
        _forms.clear()


def _form(kind: type) -> Callable[[Any], Any]:
    # isinstance would ask a value for its class, and so run code of the program.
    if kind in SIMPLE or issubclass(kind, enum.Enum):
        return lambda value: (kind, value)
    if kind in MAPPINGS:
        return lambda value: _plain_items(list(itertools.chain.from_iterable(dict(value).items())))
    if kind in SEQUENCES or issubclass(kind, tuple):
        return _plain_items
    if issubclass(kind, np.generic):
        return lambda value: (kind, value.tobytes())
    if issubclass(kind, np.ndarray):
        return _plain_array
    if kind is itertools.count:
        return lambda value: (kind, repr(value))
    return _plain_generator if kind in _GENERATORS else lambda value: OPAQUE


def _plain_items(value: Any) -> Any:
    if len(value) > MAX_ITEMS:
        return OPAQUE
    found = []
    for item in list(value):
        if is_container(type(item)) and len(item) > _MAX_NESTED:
            return OPAQUE
        if (kept := plain(item)) is OPAQUE:
            return OPAQUE
        found.append(kept)
    return (list, found)


def _plain_array(value: np.ndarray[Any, Any]) -> Any:
    if value.nbytes > _MAX_BYTES or value.dtype.hasobject or _memory(value) in _recorded:
        return OPAQUE
    return (np.ndarray, value.shape, value.dtype.str, value.tobytes())


def _memory(array: np.ndarray[Any, Any]) -> int:
    while issubclass(type(array.base), np.ndarray):
        array = array.base  # type: ignore[assignment]
    return array.ctypes.data


def _plain_generator(value: Any) -> Any:
    return (type(value), state_reader(value)())


def state_reader(generator: Any) -> Callable[[], Any]:
    """What tells whether a random generator was drawn from. Asking it would make 625 numbers or a copy."""
    if type(generator) is random.Random:
        if not _KNOWN_LAYOUT:
            return generator.getstate
        return functools.partial(ctypes.string_at, id(generator) + object.__basicsize__, _WORDS)
    bits = getattr(generator, "_bit_generator", None) or generator.bit_generator
    if type(bits) is np.random.MT19937:
        return functools.partial(ctypes.string_at, bits.ctypes.state_address, _WORDS)
    return lambda: repr(bits.state)
