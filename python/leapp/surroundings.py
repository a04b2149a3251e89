# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where a program keeps its values: what can be reached from the functions that run. Nothing here runs its code."""

from __future__ import annotations

import dis
import functools
import random
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from leapp.frames import members, variables
from leapp.plain_forms import MAPPINGS, MAX_ITEMS, OPAQUE, SIMPLE, is_container, plain, state_reader

Names = dict[str, Any]

_MAX_SPACES = 3000
_MAX_SPACES_AT_FIRST = 1500
_MAX_DEPTH = 6

_HOLDERS_IN_THE_LIBRARY = ("types",)  # types.SimpleNamespace
_TOOLS = frozenset({"leapp", "numpy", "nanobind", "torch"})
_TEST_TOOLS = frozenset({"_pytest", "coverage", "execnet", "hypothesis", "pluggy", "pytest", "xdist"})

_GONE = object()


@dataclass
class Space:
    """Names and values: the attributes of an object, the globals of a module, what a function has enclosed."""

    prefix: str  # "Policy." of an attribute, nothing of a variable
    values: Callable[[], Names]  # as they are now
    codes: Callable[[], Iterable[CodeType]]  # that may change it
    may_grow: bool = False  # a number under a name that was not there counts as a change
    begun: tuple[CodeType, int] | None = None  # what stands above this line of it has been done

    def line_of(self, name: str) -> str:
        """Where it is set, or else where it is asked for, but not where it is made; or nothing."""
        asked = ""
        for code in self.codes():
            if code.co_filename.startswith("<"):  # generated
                continue
            first = self.begun[1] if self.begun and self.begun[0] is code else 0
            for kind, line in _uses(code, name, attribute=bool(self.prefix)):
                place = f"{code.co_filename}:{line}"
                if kind == "STORE" and line >= first:
                    return place
                if kind == "LOAD" and line >= first:
                    asked = asked or place
        return asked


class Surroundings:
    """Spaces, the nearest first, as far as the limits go. Objects are not kept alive."""

    def __init__(self) -> None:
        self.spaces: list[Space] = []
        self._most = _MAX_SPACES_AT_FIRST
        self._known: dict[int, tuple[Callable[[], Any], Space | None]] = {}
        self._entrances: dict[type, Callable[[Any], Iterable[Any]]] = {}
        # Those that the functions of `random` and `numpy.random` draw from.
        python, numpy = state_reader(random.random.__self__), state_reader(np.random.random.__self__)  # type: ignore[attr-defined]
        self.spaces.append(Space("", lambda: {"random": python(), "numpy.random": numpy()}, lambda: []))

    def of(self, owner: Any) -> Space | None:
        refer, space = self._known.get(id(owner), (None, None))
        return space if refer and refer() is owner else None

    def make_room(self) -> None:
        """For what is at hand when nodes open, and was not or too far away before."""
        self._most = _MAX_SPACES

    def add_values(self, values: Iterable[Any]) -> None:
        level = list(values)
        for _ in range(_MAX_DEPTH):
            level = [inner for value in level for inner in self._enter(value)]
            if not level:
                return

    def add_function(self, function: Callable[..., Any] | None) -> None:
        inner = _unwrapped(function)
        if inner is not None:
            self.add_values([inner])
            if id(inner.__globals__) not in self._known:
                self._add_globals(inner.__globals__)

    def _add_globals(self, names: Names, *first: CodeType) -> None:
        codes = functools.partial(_codes_in_module, names, *first)
        self.add_values(self._add_fixed(names, Space("", lambda: names, codes)))

    def add_scope(self, frame: FrameType, names: Names) -> None:
        """Its variables and its globals; mostly they are known."""
        for value in names.values():
            if self._entrances.get(type(value)) is not _no_entrance and not self._is_known(value):
                self.add_values([value])
        if id(frame.f_globals) not in self._known:
            self._add_globals(frame.f_globals, frame.f_code)

    def _is_known(self, value: Any) -> bool:
        known = self._known.get(id(value))
        return known is not None and known[0]() is value

    def _add(self, owner: Any, space: Space) -> Names:
        if len(self.spaces) >= self._most:
            return {}
        self._known[id(owner)] = (_reference(owner), space)
        self.spaces.append(space)
        return space.values()

    def _add_fixed(self, owner: Any, space: Space) -> Iterable[Any]:
        """Of the many names of a module, a class or a closure only those of values that can be compared are read."""
        everything = {name: value for name, value in _items(space.values()) if not name.startswith("__")}
        watched = [name for name, value in everything.items() if plain(value) is not OPAQUE]
        if watched:
            space.values = functools.partial(_some_of, space.values, watched)
            self._add(owner, space)
        else:
            self._known[id(owner)] = (_reference(owner), None)
        return everything.values()

    def _enter(self, value: Any) -> Iterable[Any]:
        """Takes in what is in a value; what is in that can be entered next."""
        kind = type(value)
        enter = self._entrances.get(kind)
        if enter is None:
            enter = self._entrances[kind] = self._entrance(kind)
        return () if enter is _no_entrance or self._is_known(value) else enter(value)

    def _entrance(self, kind: type) -> Callable[[Any], Iterable[Any]]:
        """How to look into values of a kind. (isinstance would ask the value for its class.)"""
        if kind in SIMPLE or issubclass(kind, (ModuleType, np.ndarray)):
            return _no_entrance
        if is_container(kind):
            return self._enter_container
        if kind is MethodType:
            return lambda method: [*self._enter(method.__self__), *self._enter(method.__func__)]
        if kind is FunctionType:
            return lambda function: self._add_fixed(function, _closure_space(function)) if function.__closure__ else ()
        if issubclass(kind, type):
            return lambda inner: () if _is_tool(inner) else self._add_fixed(inner, _class_space(inner))
        if _is_layer(kind):
            return self._enter_layer
        return _no_entrance if _is_tool(kind) else self._enter_object

    def _enter_container(self, value: Any, depth: int = 3) -> Iterator[Any]:
        for item in list(dict(value).values() if type(value) in MAPPINGS else value)[:MAX_ITEMS]:
            if not is_container(type(item)):
                yield from self._enter(item)
            elif depth > 0:
                yield from self._enter_container(item, depth - 1)

    def _enter_object(self, value: Any) -> Iterable[Any]:
        return [type(value), *self._add(value, _object_space(value)).values()]

    def _enter_layer(self, layer: Any) -> Iterable[Any]:
        """A module of torch's own: nothing in it but other modules."""
        self._known[id(layer)] = (_reference(layer), None)
        return [inner for _, part in _items(members(layer).get("_modules", {})) for inner in self._enter(part)]


def program_frames(most: int) -> list[FrameType]:
    """The innermost functions of the program that run."""
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < most:
        if not _is_tools(frame.f_globals.get("__name__")):
            found.append(frame)
        frame = frame.f_back
    return found


def frame_space(frame: FrameType, begun: int) -> Space:
    """Of a function that opened a node in line `begun`."""
    code = frame.f_code
    return Space("", functools.partial(variables, frame), lambda: reversed(list(_nested(code))), begun=(code, begun))


# With the code, so that no other gets its id. (To hash a code object, as a cache would, takes as long as the search.)
_set_at: dict[tuple[int, int], tuple[CodeType, frozenset[str]]] = {}
_MAX_STATEMENTS = 1000


def set_at(frame: FrameType) -> frozenset[str]:
    """Variables that the statement which is running sets."""
    key = (id(frame.f_code), frame.f_lineno)
    if key not in _set_at:
        if len(_set_at) >= _MAX_STATEMENTS:
            _set_at.clear()
        _set_at[key] = (frame.f_code, _find_set_at(frame.f_code, frame.f_lineno))
    return _set_at[key][1]


def _find_set_at(code: CodeType, at: int) -> frozenset[str]:
    line = None
    names = set()
    starts = dict(dis.findlinestarts(code))
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        if line == at and instruction.opname.startswith("STORE_"):
            names.add(instruction.argval)
    return frozenset(names)


def _items(names: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Of a copy, which is made at once, unlike a list of them: another thread may be adding."""
    return dict(names).items()


def _some_of(values: Callable[[], Names], wanted: list[str]) -> Names:
    now = values()
    return {name: value for name in wanted if (value := now.get(name, _GONE)) is not _GONE}


def _no_entrance(value: Any) -> Iterable[Any]:
    return ()


def _reference(owner: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(owner)
    except TypeError:  # slots, or a dict of globals
        return lambda: owner


def _object_space(owner: Any) -> Space:
    kind = type(owner)
    refer = _reference(owner)
    slots = [
        (name, member)
        for base in kind.__mro__
        for name, member in vars(base).items()
        if type(member) is MemberDescriptorType and not _is_tool(base)
    ]
    is_module = issubclass(kind, sys.modules["torch"].nn.Module)
    ignored = _names_of_every_module() if is_module else frozenset()

    def values() -> Names:
        here = refer()
        if here is None:
            return {}
        names = {name: value for name, value in _items(members(here)) if name not in ignored}
        for name, member in slots:
            try:
                names[name] = member.__get__(here)
            except AttributeError:  # not set
                continue
        return names

    return Space(f"{kind.__name__}.", values, functools.partial(_codes_of_class, kind), may_grow=True)


def _class_space(kind: type) -> Space:
    refer = weakref.ref(kind)

    def values() -> Names:
        here = refer()
        return {} if here is None else dict(vars(here))

    return Space(f"{kind.__name__}.", values, lambda: _codes_of_class(refer()))


def _closure_space(function: FunctionType) -> Space:
    code = function.__code__
    refer = weakref.ref(function)

    def values() -> Names:
        names: Names = {}
        here = refer()
        cells = (here.__closure__ if here else None) or ()
        for name, cell in zip(code.co_freevars, cells, strict=False):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # empty
                continue
        return names

    return Space("", values, lambda: [code])


def _is_layer(kind: type) -> bool:
    module = getattr(kind, "__module__", None)
    own = isinstance(module, str) and module.startswith("torch.nn.")
    return own and issubclass(kind, sys.modules["torch"].nn.Module)


@functools.cache
def _names_of_every_module() -> frozenset[str]:
    """What torch keeps in a module."""
    return frozenset(vars(sys.modules["torch"].nn.Module())) - {"_modules", "training"}


def _is_tool(kind: type) -> bool:
    """Nothing that a policy would keep its numbers in."""
    module = getattr(kind, "__module__", None)
    if not isinstance(module, str) or module in _HOLDERS_IN_THE_LIBRARY or not _is_tools(module):
        return False
    return not issubclass(kind, sys.modules["torch"].nn.Module)


@functools.cache
def _is_tools(module: object) -> bool:
    package = module.partition(".")[0] if isinstance(module, str) else ""
    return package in _TOOLS or package in _TEST_TOOLS or package in sys.stdlib_module_names


def _codes_of_class(kind: type | None) -> Iterator[CodeType]:
    for base in kind.__mro__ if kind else ():
        if not _is_tool(base):
            yield from _codes(vars(base).values())


def _codes_in_module(names: Mapping[str, Any], *first: CodeType) -> Iterator[CodeType]:
    yield from first
    functions = [value for value in list(names.values()) if type(value) is FunctionType]
    yield from _codes(function for function in functions if function.__globals__ is names)


def _codes(values: Iterable[Any]) -> Iterator[CodeType]:
    for value in list(values):
        function: Any = value.fget if type(value) is property else value
        if type(function) in (staticmethod, classmethod):
            function = function.__func__
        inner = _unwrapped(function)
        if inner is not None and inner.__name__ != "__init__":
            yield from _nested(inner.__code__)


def _unwrapped(function: Any) -> FunctionType | None:
    """Below decorators. Other callables may run code when they are asked for an attribute."""
    while type(function) is FunctionType and "__wrapped__" in vars(function):
        function = vars(function)["__wrapped__"]
    return function if type(function) is FunctionType else None


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _uses(code: CodeType, name: str, attribute: bool) -> Iterator[tuple[str, int]]:
    """ "STORE" or "LOAD" and the line, of an attribute or a variable."""
    starts = dict(dis.findlinestarts(code))
    line = 0
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset) or line
        kind, _, what = instruction.opname.partition("_")
        if instruction.argval == name and (what in ("ATTR", "METHOD")) == attribute:
            yield kind, line
