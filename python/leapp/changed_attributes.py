# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes that a node's only call changed: numbers, flags, texts, small arrays, lists of them.

An operator takes them as they are, so a model has those of the first call. A second call shows which of them matter;
after a single one, those of the object whose method opened the node and of modules that ran in it are named. Reading
them runs no code of the program.
"""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import textwrap
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, MemberDescriptorType
from typing import Any

import numpy as np
import torch

from leapp._native import capture
from leapp.frames import members, user_frame
from leapp.interpreter import variables

_SIMPLE = frozenset({int, float, complex, bool, str, bytes, type(None)})
_LISTS = frozenset({list, tuple, set, frozenset, deque})
_MAX_ITEMS = 256
_MAX_BYTES = 1 << 14
_MAX_NAMED = 4

_OPAQUE = object()
_ABSENT = object()

_calls: dict[str, _FirstCall] = {}
_open: list[_FirstCall] = []
_patched: list[tuple[Any, Any]] = []  # torch.nn.Module.__call__, and what stands in its place


def _plain(value: Any, depth: int = 3) -> Any:
    """Something to compare with later, or _OPAQUE. (isinstance would ask the value for its class.)"""
    kind = type(value)
    if kind in _SIMPLE or issubclass(kind, enum.Enum):
        return (kind, repr(value) if kind is float else value)  # nan is no news
    if issubclass(kind, np.generic):
        return (kind, value.tobytes())
    if issubclass(kind, np.ndarray):
        small = value.nbytes <= _MAX_BYTES and not value.dtype.hasobject
        return (value.shape, value.dtype.str, value.tobytes()) if small else _OPAQUE
    if kind is dict:
        value = [part for item in dict(value).items() for part in item]
    elif kind not in _LISTS:
        return _OPAQUE
    if depth == 0 or len(value) > _MAX_ITEMS:
        return _OPAQUE
    items = [_plain(item, depth - 1) for item in list(value)]
    return _OPAQUE if _OPAQUE in items else (kind, items)


class _Owner:
    """The attributes of an object as they were. It keeps neither the object nor what is in it."""

    def __init__(self, owner: Any) -> None:
        self.kind = type(owner)
        self._refer = weakref.ref(owner)
        self._before = {name: _plain(value) for name, value in self._attributes(owner)}

    def changes(self) -> Iterator[tuple[str, str]]:
        """Name, and the values where they are short."""
        owner = self._refer()
        for name, value in self._attributes(owner) if owner is not None else ():
            was, now = self._before.get(name, _ABSENT), _plain(value)
            if now is _OPAQUE or was is _OPAQUE or was == now:
                continue
            # What is kept for the first time is often a result; a number may have been counted from a default.
            if was is not _ABSENT or now[0] in _SIMPLE:
                yield name, _values_text(was, now)

    def _attributes(self, owner: Any) -> list[tuple[str, Any]]:
        ignored = _names_of_every_module() if issubclass(self.kind, torch.nn.Module) else ()
        # A copy is made at once, unlike a list of items: another thread may be adding.
        found = [(name, value) for name, value in dict(members(owner)).items() if name not in ignored]
        for name, member in _slots(self.kind):
            try:
                found.append((name, member.__get__(owner)))
            except AttributeError:  # not set
                continue
        return found


def _values_text(was: Any, now: Any) -> str:
    if was is _ABSENT or was[0] not in _SIMPLE or now[0] not in _SIMPLE:
        return ""
    texts = [value if kind is float else repr(value) for kind, value in (was, now)]
    return f" (was {texts[0][:20]}, is {texts[1][:20]})"


class _FirstCall:
    """The first call of a node."""

    def __init__(self, owner: Any, inputs: Any, place: tuple[str, int] | None) -> None:
        self._place = place
        self.found: dict[str, tuple[type, str, str]] = {}  # "Policy.steps" -> class, attribute, values
        self._owners: dict[int, _Owner] = {}
        self._arrays = frozenset() if _only_tensors(inputs) else frozenset(_memories(inputs))  # theirs is in the graph
        if owner is not None:
            self.add(owner)
        self._own = len(self._owners)

    def add(self, owner: Any) -> None:
        if id(owner) not in self._owners:
            try:
                self._owners[id(owner)] = _Owner(owner)
            except TypeError:  # nothing refers to it weakly
                return

    def look(self, afterwards: bool = False) -> None:
        """When the node has closed; afterwards at the object that opened it, which may count after the outputs."""
        for owner in list(self._owners.values())[: self._own if afterwards else None]:
            for name, values in owner.changes():
                if not self._is_input(owner, name):
                    self.found.setdefault(f"{owner.kind.__name__}.{name}", (owner.kind, name, values))

    def _is_input(self, owner: _Owner, name: str) -> bool:
        value = members(owner._refer()).get(name)
        return bool(self._arrays) and any(memory in self._arrays for memory in _memories(value))

    def report(self) -> tuple[str, str]:
        """The line and the names."""
        names = [name + values for name, (_, _, values) in self.found.items()]
        lines = (_line_of(kind, name) for kind, name, _ in self.found.values())
        opened = f"{self._place[0]}:{self._place[1]}" if self._place else ""
        line = next((found for found in lines if found), opened)
        return line, ", ".join(names[:_MAX_NAMED] + ["more"] * (len(names) > _MAX_NAMED))


def _only_tensors(inputs: Any) -> bool:
    if type(inputs) is not dict:
        return False
    for value in inputs.values():  # noqa: SIM110 (a generator costs more than all it asks)
        if type(value) is not torch.Tensor:
            return False
    return True


def _memories(value: Any) -> Iterator[int]:
    kind = type(value)
    if issubclass(kind, np.ndarray):
        while issubclass(type(value.base), np.ndarray):
            value = value.base
        yield value.ctypes.data
    elif kind is dict or kind in _LISTS:
        for item in list(value.values() if kind is dict else value):
            yield from _memories(item)


@functools.cache
def _names_of_every_module() -> frozenset[str]:
    """What torch keeps in a module."""
    return frozenset(vars(torch.nn.Module())) - {"training"}


_without_slots: dict[int, weakref.ref[type]] = {}  # by id: to look for them costs more than all the rest


def _slots(kind: type) -> list[tuple[str, Any]]:
    """Attributes of a class that are not in its objects' dicts."""
    known = _without_slots.get(id(kind))
    if known is not None and known() is kind:
        return []
    found = [
        (name, member)
        for base in kind.__mro__
        for name, member in vars(base).items()
        if type(member) is MemberDescriptorType and not name.startswith("__")
    ]
    if not found:
        _without_slots[id(kind)] = weakref.ref(kind)
    return found


def _owner_of(frame: FrameType) -> Any:
    """The object whose method runs in a frame."""
    code = frame.f_code
    if not code.co_argcount or not _may_be_method(code):
        return None
    owner = variables(frame).get(code.co_varnames[0])
    return owner if any(code.co_name in vars(base) for base in type(owner).__mro__) else None


def _may_be_method(code: CodeType) -> bool:
    """To ask a frame for its variables takes as long as all the rest."""
    qualified = getattr(code, "co_qualname", "C.f")  # since Python 3.11
    within = qualified.rpartition(".")[0]
    return code.co_varnames[0] == "self" or not (within == "" or within.endswith("<locals>"))


def _line_of(kind: type, name: str) -> str:
    """Where methods of a class set an attribute, or else ask for it; or nothing."""
    asked = ""
    for base in kind.__mro__:
        try:
            lines, first = inspect.getsourcelines(base)
            tree = ast.parse(textwrap.dedent("".join(lines)))
            file = inspect.getsourcefile(base)
        except (OSError, TypeError, SyntaxError):  # built in, or made at run time
            continue
        for attribute in _attributes_in(tree, name):
            place = f"{file}:{first + attribute.lineno - 1}"
            if isinstance(attribute.ctx, ast.Store):
                return place
            asked = asked or place
    return asked


def _attributes_in(tree: ast.AST, name: str) -> Iterator[ast.Attribute]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            continue
        if isinstance(node, ast.Attribute) and node.attr == name:
            yield node
        yield from _attributes_in(node, name)


def prepare() -> None:
    """When a session starts."""
    forget()
    original = torch.nn.Module.__call__
    # Instead of a hook for all modules, with which torch calls each of them the long way.
    replacement = capture.module_call(original)
    torch.nn.Module.__call__ = replacement
    _patched.append((original, replacement))


def begin(node: str, inputs: Any, function: Callable[..., Any] | None = None, arguments: tuple[Any, ...] = ()) -> None:
    """Before a node opens with these inputs; where it is a function, with that and its arguments."""
    if not isinstance(node, str) or node in _calls or not _patched:
        return
    frame = user_frame()
    if function is not None:
        name = getattr(function, "__name__", "")
        first = arguments[0] if arguments else None
        owner = first if any(name in vars(base) for base in type(first).__mro__) else None
    else:
        owner = _owner_of(frame) if frame else None
    place = (frame.f_code.co_filename, frame.f_lineno) if frame else None
    _calls[node] = call = _FirstCall(owner, inputs, place)
    _open.append(call)
    capture.watch_module_calls(_add)


def end(node: str) -> None:
    """After a node has closed. Only its first call counts."""
    call = _calls.get(node)
    if call in _open:
        _close(call)
        call.look()


def abandon(node: str) -> None:
    """After a call that will not be finished: the next is the first, unless there was one."""
    if _calls.get(node) in _open:
        _close(_calls.pop(node))


def _close(call: _FirstCall) -> None:
    _open.remove(call)
    if not _open:
        capture.watch_module_calls(None)


def _add(module: torch.nn.Module) -> None:
    for call in list(_open):
        call.add(module)


def report() -> None:
    """Before the session ends."""
    changes = []
    for node, call in _calls.items():
        call.look(afterwards=True)
        if call.found:
            changes.append((node, *call.report()))
    capture.note_changed_values(changes)


def forget() -> None:
    _calls.clear()
    _open.clear()
    capture.forget_module_calls()
    while _patched:
        original, replacement = _patched.pop()
        if torch.nn.Module.__call__ is replacement:  # else it is somebody else's by now
            torch.nn.Module.__call__ = original
