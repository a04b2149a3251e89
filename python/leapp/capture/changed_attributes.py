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
import inspect
import textwrap
from collections import deque
from collections.abc import Iterator
from types import FrameType, MemberDescriptorType
from typing import Any

import numpy as np
import torch

from leapp.capture._native import capture
from leapp.capture.interpreter import variables

_SIMPLE = frozenset({int, float, complex, bool, str, bytes, type(None)})
_LISTS = frozenset({list, tuple, set, frozenset, deque})
_MAX_ITEMS = 256
_MAX_BYTES = 1 << 14
_MAX_NAMED = 4

_patched: list[tuple[Any, Any]] = []  # torch.nn.Module.__call__, and what stands in its place


def _plain(value: Any, depth: int = 3) -> Any:
    """Something to compare with later, or None. (isinstance would ask the value for its class.)"""
    kind = type(value)
    if kind in _SIMPLE or issubclass(kind, enum.Enum):
        return (kind, repr(value) if kind is float else value)  # nan is no news
    if issubclass(kind, np.generic):
        return (kind, value.tobytes())
    if issubclass(kind, np.ndarray):
        small = value.nbytes <= _MAX_BYTES and not value.dtype.hasobject
        return (value.shape, value.dtype.str, value.tobytes()) if small else None
    if kind is dict:
        value = [part for item in dict(value).items() for part in item]
    elif kind not in _LISTS:
        return None
    if depth == 0 or len(value) > _MAX_ITEMS:
        return None
    items = [_plain(item, depth - 1) for item in list(value)]
    return None if None in items else (kind, items)


def _is_simple(plain: Any) -> bool:
    return plain[0] in _SIMPLE


def _values_text(was: Any, now: Any) -> str:
    """Where they are short."""
    if was is None or not _is_simple(was) or not _is_simple(now):
        return ""
    texts = [value if kind is float else repr(value) for kind, value in (was, now)]
    return f" (was {texts[0][:20]}, is {texts[1][:20]})"


def _memories(value: Any) -> Iterator[int]:
    kind = type(value)
    if issubclass(kind, np.ndarray):
        while issubclass(type(value.base), np.ndarray):
            value = value.base
        yield value.ctypes.data
    elif kind is dict or kind in _LISTS:
        for item in list(value.values() if kind is dict else value):
            yield from _memories(item)


def _slots(kind: type) -> list[tuple[str, Any]]:
    """Attributes of a class that are not in its objects' dicts."""
    return [
        (name, member)
        for base in kind.__mro__
        for name, member in vars(base).items()
        if type(member) is MemberDescriptorType and not name.startswith("__")
    ]


def _owner_of(frame: FrameType) -> Any:
    """The object whose method runs in a frame: of a function with arguments, as far as its name tells."""
    code = frame.f_code
    owner = variables(frame).get(code.co_varnames[0])
    return owner if any(code.co_name in vars(base) for base in type(owner).__mro__) else None


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
    _patched.append((original, replacement))  # before there is anything to undo: Ctrl-C may come between the two
    torch.nn.Module.__call__ = replacement
    capture.watch_first_calls()


def report() -> None:
    """Before the session ends."""
    capture.note_changed_values([(node, *_told(place, found)) for node, place, found in capture.changed_attributes()])


def _told(opened: str, found: list[tuple[type, str, Any, Any]]) -> tuple[str, str]:
    """The line and the names."""
    names = [f"{kind.__name__}.{name}{_values_text(was, now)}" for kind, name, was, now in found]
    lines = (_line_of(kind, name) for kind, name, _, _ in found)
    line = next((line for line in lines if line), opened)
    return line, ", ".join(names[:_MAX_NAMED] + ["more"] * (len(names) > _MAX_NAMED))


def forget() -> None:
    capture.forget_first_calls()
    while _patched:
        original, replacement = _patched[-1]
        if torch.nn.Module.__call__ is replacement:  # else it is somebody else's by now
            torch.nn.Module.__call__ = original
        _patched.pop()


def _install() -> None:
    ignored = frozenset(vars(torch.nn.Module())) - {"training"}  # what torch keeps in a module
    capture.install_first_calls(_plain, _slots, torch.nn.Module, ignored, _owner_of, _memories)


_install()
