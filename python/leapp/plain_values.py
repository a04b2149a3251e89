# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Python values that change while a node runs: numbers, flags, texts, small arrays, lists of them.

An operator takes them as they are, so a model has those of the first call. A second call shows which of them matter.
After a single one there is nothing to compare: what is at hand when the node opens is read again when it closes, and
what belongs to the node's own objects once more when the session ends. Nothing here runs code of the program.
"""

from __future__ import annotations

import collections
import dis
import enum
import functools
import itertools
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from leapp._native import capture
from leapp.frames import members, user_frames, variables

Names = dict[str, Any]

_MAX_FRAMES = 10
_MAX_SPACES = 3000
_MAX_DEPTH = 6
_MAX_ITEMS = 4096  # of a container
_MAX_BYTES = 1 << 16  # of an array
_MAX_NAMED = 4

_SIMPLE = (int, float, complex, bool, str, bytes, type(None))
_SEQUENCES = (list, tuple, collections.deque, set, frozenset)
_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_HOLDERS_IN_THE_LIBRARY = ("types",)  # types.SimpleNamespace
_TOOLS = frozenset({"leapp", "numpy", "nanobind", "torch"})
_TEST_TOOLS = frozenset({"_pytest", "coverage", "execnet", "hypothesis", "pluggy", "pytest", "xdist"})

_OPAQUE = object()


@dataclass
class _Space:
    """Names and values: the attributes of an object, the globals of a module, what a function has enclosed."""

    prefix: str  # "Policy." of an attribute, nothing of a variable
    read: Callable[[], Names]
    codes: Callable[[], Iterable[CodeType]]  # that may change it
    may_grow: bool = False  # a number under a name that was not there counts as a change
    begun: tuple[CodeType, int] | None = None  # what stands above this line of it has been done
    names: frozenset[str] = frozenset()
    before: Names = field(default_factory=dict)

    def remember(self) -> list[Any]:
        """The values that cannot be compared, to look into them."""
        values = self.read()
        self.names = frozenset(values)
        further = []
        for name, value in values.items():
            if (kept := _plain(value)) is _OPAQUE:
                further.append(value)
            else:
                self.before[name] = kept
        return further

    def changes(self) -> Iterator[_Change]:
        for name, value in self.read().items():
            now = _plain(value)
            if now is _OPAQUE:
                continue
            # What is kept for the first time is often a result; a number may have been counted from a default.
            new = self.may_grow and name not in self.names and now[0] in _SIMPLE
            if new or self.before.get(name, now) != now:
                yield _Change(self.prefix + name, self.before.get(name), now, self.line_of(name))

    def line_of(self, name: str) -> str:
        """Where it is set, or else where it is asked for, but not where it is made; or nothing."""
        attribute = bool(self.prefix)
        asked = ""
        for code in self.codes():
            if code.co_filename.startswith("<"):  # generated
                continue
            first = self.begun[1] if self.begun and self.begun[0] is code else 0
            for kind, line in _uses(code, name, attribute):
                place = f"{code.co_filename}:{line}"
                if kind == "STORE" and line >= first:
                    return place
                if kind == "LOAD" and line >= first:
                    asked = asked or place
        return asked


@dataclass
class _Change:
    name: str
    before: Any
    now: Any
    line: str

    def __str__(self) -> str:
        texts = [repr(value[1])[:20] for value in (self.before, self.now) if value and value[0] in _SIMPLE]
        return f"{self.name} (was {texts[0]}, is {texts[1]})" if len(texts) == 2 else self.name


class _Call:
    """The first call of a node."""

    def __init__(self, function: Callable[..., Any] | None, arguments: Iterable[Any], inputs: Any) -> None:
        _note_memory(inputs)
        frames = list(_frames())
        scopes = [(frame, variables(frame)) for frame in frames]
        self.line = f"{frames[0].f_code.co_filename}:{frames[0].f_lineno}" if frames else ""
        self.found: dict[str, _Change] = {}
        self._scopes = {id(frame): (frame.f_code, _frame_space(frame, names)) for frame, names in scopes}
        for frame in frames[:1]:  # puts what the call returns into variables
            for name in _set_at(frame.f_code, frame.f_lineno):
                self._scopes[id(frame)][1].before.pop(name, None)
        arguments = list(arguments)
        around = _Surroundings()
        around.add_generators()
        around.add_function(function)
        around.add_values(arguments)
        for frame, names in scopes:
            around.add_values(names.values())
            around.add_globals(frame)
        self._spaces = around.spaces
        owners = [*arguments[:1], *(_first_argument(*scope) for scope in scopes[:1])]
        self._own = [space for owner in owners if (space := around.of(owner))]

    def close(self) -> None:
        for frame in _frames():
            code, space = self._scopes.get(id(frame), (None, None))
            if space and code is frame.f_code:
                space.read = functools.partial(variables, frame)
                self._note([space])
        self._note(self._spaces)
        self._scopes, self._spaces = {}, []

    def end(self) -> None:
        self._note(self._own)

    def _note(self, spaces: Iterable[_Space]) -> None:
        for space in spaces:
            for change in space.changes():
                if not change.line:  # a class of other functions sets it
                    name = change.name.removeprefix(space.prefix)
                    lines = (other.line_of(name) for other in self._spaces if bool(other.prefix) == bool(space.prefix))
                    change.line = next(filter(None, lines), "")
                self.found.setdefault(change.name, change)


class _Surroundings:
    """What can be reached from what is at hand, the nearest first, as far as the limits go."""

    def __init__(self) -> None:
        self.spaces: list[_Space] = []
        self._by_id: dict[int, tuple[Any, _Space | None]] = {}  # with the object, so that no other gets its id

    def of(self, owner: Any) -> _Space | None:
        return self._by_id.get(id(owner), (None, None))[1]

    def add_values(self, values: Iterable[Any]) -> None:
        level = list(values)
        for _ in range(_MAX_DEPTH):
            level = [inner for value in level for inner in self._enter(value)]

    def add_function(self, function: Callable[..., Any] | None) -> None:
        inner = getattr(function, "__wrapped__", function)
        if isinstance(inner, FunctionType):
            self.add_values([inner])
            self._add_names(inner.__globals__, functools.partial(_codes_in_module, inner.__globals__))

    def add_globals(self, frame: FrameType) -> None:
        self._add_names(frame.f_globals, functools.partial(_codes_in_module, frame.f_globals, frame.f_code))

    def add_generators(self) -> None:
        """Those that the functions of `random` and `numpy.random` draw from."""
        shared = {"random": random.random.__self__, "numpy.random": np.random.random.__self__}  # type: ignore[attr-defined]
        self._add(shared, _Space("", lambda: shared, lambda: []))

    def _add_names(self, names: Names, codes: Callable[[], Iterable[CodeType]]) -> None:
        if id(names) not in self._by_id:
            self.add_values(self._add(names, _Space("", lambda: dict(names), codes)))

    def _add(self, owner: Any, space: _Space) -> Iterable[Any]:
        if id(owner) in self._by_id or len(self.spaces) >= _MAX_SPACES:
            return ()
        self._by_id[id(owner)] = (owner, space)
        self.spaces.append(space)
        return space.remember()

    def _enter(self, value: Any) -> Iterable[Any]:
        """Remembers what is in a value; what is in that can be entered next."""
        kind = type(value)
        enter = _entrances.get(kind)
        if enter is None:
            enter = _entrances[kind] = _entrance(kind)
        return () if enter is _no_entrance or id(value) in self._by_id else enter(self, value)

    def enter_container(self, items: Iterable[Any], value: Any) -> Iterator[Any]:
        self._by_id[id(value)] = (value, None)
        for item in itertools.islice(items, _MAX_ITEMS):
            yield from self._enter(item)

    def enter_function(self, function: FunctionType) -> Iterable[Any]:
        return self._add(function, _closure_space(function)) if function.__closure__ else ()

    def enter_method(self, method: MethodType) -> Iterator[Any]:
        yield from self._enter(method.__self__)
        yield from self._enter(method.__func__)

    def enter_class(self, kind: type) -> Iterable[Any]:
        return () if _is_tool(kind) else self._add(kind, _class_space(kind))

    def enter_object(self, value: Any) -> Iterable[Any]:
        return [type(value), *self._add(value, _object_space(value))]

    def enter_layer(self, layer: Any) -> Iterable[Any]:
        """A module of torch's own: nothing in it but other modules."""
        self._by_id[id(layer)] = (layer, None)
        inner = list(members(layer).get("_modules", {}).values())
        return itertools.chain.from_iterable(map(self._enter, inner))


def _no_entrance(around: _Surroundings, value: Any) -> Iterable[Any]:
    return ()


def _entrance(kind: type) -> Callable[[_Surroundings, Any], Iterable[Any]]:
    """How to look into values of a kind."""
    if kind in _SIMPLE or issubclass(kind, (ModuleType, np.ndarray)):
        return _no_entrance
    if kind in _MAPPINGS:
        return lambda around, value: around.enter_container(list(value.values()), value)
    if kind in _SEQUENCES or issubclass(kind, tuple):
        return lambda around, value: around.enter_container(list(value), value)
    if kind is MethodType:
        return _Surroundings.enter_method
    if kind is FunctionType:
        return _Surroundings.enter_function
    if issubclass(kind, type):
        return _Surroundings.enter_class
    if _is_layer(kind):
        return _Surroundings.enter_layer
    return _no_entrance if _is_tool(kind) else _Surroundings.enter_object


# By kind; the kinds of a program are few, its values many.
_entrances: dict[type, Callable[[_Surroundings, Any], Iterable[Any]]] = {}
_forms: dict[type, Callable[[Any], Any]] = {}

_announced: set[int] = set()  # memory of arrays that are inputs: what is done to it is recorded
_calls: dict[str, _Call] = {}


def begin(node: str, inputs: Any, function: Callable[..., Any] | None = None, arguments: Iterable[Any] = ()) -> None:
    """Before a node opens with these inputs; where it is a function, with that and its arguments."""
    if isinstance(node, str) and node not in _calls:
        _calls[node] = _Call(function, arguments, inputs)


def end(node: str) -> None:
    """After a node has closed. Only its first call counts."""
    if node in _calls:
        _calls[node].close()


def abandon(node: str) -> None:
    """After a call that will not be finished: the next is the first, unless there was one."""
    _calls.pop(node, None)


def report() -> None:
    """Before the session ends."""
    changes = []
    for node, call in _calls.items():
        call.end()
        if call.found:
            names = [str(change) for change in itertools.islice(call.found.values(), _MAX_NAMED)]
            names += ["more"] if len(call.found) > _MAX_NAMED else []
            line = next((change.line for change in call.found.values() if change.line), call.line)
            changes.append((node, line, ", ".join(names)))
    capture.note_changed_values(changes)


def forget() -> None:
    for table in (_calls, _entrances, _forms, _announced):
        table.clear()


def _plain(value: Any) -> Any:
    """Something to compare with later, or _OPAQUE."""
    kind = type(value)
    form = _forms.get(kind)
    if form is None:
        form = _forms[kind] = _form(kind)
    return form(value)


def _form(kind: type) -> Callable[[Any], Any]:
    # isinstance would ask the value for its class, and so run code of the program.
    if kind in _SIMPLE or issubclass(kind, enum.Enum):
        return lambda value: (kind, value)
    if kind in _MAPPINGS:
        return lambda value: _plain_items([*value.keys(), *value.values()])
    if kind in _SEQUENCES or issubclass(kind, tuple):
        return _plain_items
    if issubclass(kind, np.generic):
        return lambda value: (kind, value.tobytes())
    if issubclass(kind, np.ndarray):
        return _plain_array
    if kind is itertools.count:
        return lambda value: (kind, repr(value))
    if kind in (random.Random, np.random.RandomState, np.random.Generator):
        return _plain_generator
    return lambda value: _OPAQUE


def _plain_items(value: Any) -> Any:
    if len(value) > _MAX_ITEMS:
        return _OPAQUE
    found = []
    for item in list(value):
        if (plain := _plain(item)) is _OPAQUE:
            return _OPAQUE
        found.append(plain)
    return (list, found)


def _plain_array(value: np.ndarray[Any, Any]) -> Any:
    if value.nbytes > _MAX_BYTES or value.dtype.hasobject or _memory(value) in _announced:
        return _OPAQUE
    return (np.ndarray, value.shape, value.dtype.str, value.tobytes())


def _memory(array: np.ndarray[Any, Any]) -> int:
    while issubclass(type(array.base), np.ndarray):
        array = array.base  # type: ignore[assignment]
    return array.ctypes.data


def _note_memory(inputs: Any) -> None:
    kind = type(inputs)
    if issubclass(kind, np.ndarray):
        _announced.add(_memory(inputs))
    elif kind in _MAPPINGS or kind in _SEQUENCES or issubclass(kind, tuple):
        for item in list(inputs.values() if kind in _MAPPINGS else inputs):
            _note_memory(item)


def _plain_generator(value: Any) -> Any:
    """Of the long states the position, which every draw changes, and a part that changes when it starts anew."""
    if type(value) is random.Random:
        _, state, gauss = value.getstate()
        return (random.Random, state[-1], state[0], gauss)
    found = value.get_state(legacy=False) if type(value) is np.random.RandomState else value.bit_generator.state
    state = found["state"]
    if "key" in state:
        state = (state.get("pos"), state["key"][:2].tobytes(), found.get("gauss"))
    return (np.random.Generator, repr(state))


def _is_layer(kind: type) -> bool:
    return kind.__module__.startswith("torch.nn.") and issubclass(kind, sys.modules["torch"].nn.Module)


@functools.cache
def _names_of_every_module() -> frozenset[str]:
    """What torch keeps in a module."""
    return frozenset(vars(sys.modules["torch"].nn.Module())) - {"_modules", "training"}


def _is_tool(kind: type) -> bool:
    """Nothing that a policy would keep its numbers in."""
    root = _root(getattr(kind, "__module__", None))
    if root == "torch":
        return not issubclass(kind, sys.modules["torch"].nn.Module)
    return _is_tools(root) and root not in _HOLDERS_IN_THE_LIBRARY


def _frames() -> Iterator[FrameType]:
    """Of the program, the innermost."""
    own = (frame for frame in user_frames() if not _is_tools(_root(frame.f_globals.get("__name__"))))
    return itertools.islice(own, _MAX_FRAMES)


def _root(module: object) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""


def _is_tools(package: str) -> bool:
    return package in _TOOLS or package in _TEST_TOOLS or package in sys.stdlib_module_names


def _object_space(owner: Any) -> _Space:
    kind = type(owner)
    slots = [
        (name, member)
        for base in kind.__mro__
        for name, member in vars(base).items()
        if type(member) is MemberDescriptorType and not _is_tool(base)
    ]

    is_module = issubclass(kind, sys.modules["torch"].nn.Module)
    ignored = _names_of_every_module() if is_module else frozenset()

    def read() -> Names:
        names = {name: value for name, value in members(owner).items() if name not in ignored}
        for name, member in slots:
            try:
                names[name] = member.__get__(owner)
            except AttributeError:  # not set
                continue
        return names

    return _Space(f"{kind.__name__}.", read, functools.partial(_codes_of_class, kind), may_grow=True)


def _class_space(kind: type) -> _Space:
    def read() -> Names:
        return {name: value for name, value in vars(kind).items() if not name.startswith("__")}

    return _Space(f"{kind.__name__}.", read, functools.partial(_codes_of_class, kind))


def _closure_space(function: FunctionType) -> _Space:
    def read() -> Names:
        names: Names = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # empty
                continue
        return names

    return _Space("", read, lambda: [function.__code__])


def _frame_space(frame: FrameType, names: Names) -> _Space:
    inner = list(_nested(frame.f_code))
    space = _Space("", lambda: names, lambda: reversed(inner), begun=(frame.f_code, frame.f_lineno))
    space.remember()
    space.read = dict  # the frame's own variables, when it is known to run still
    return space


def _first_argument(frame: FrameType, names: Names) -> Any:
    """`self`, where there is one."""
    return names.get(frame.f_code.co_varnames[0]) if frame.f_code.co_argcount else None


def _codes_of_class(kind: type) -> Iterator[CodeType]:
    for base in kind.__mro__:
        if not _is_tool(base):
            yield from _codes(vars(base).values())


def _codes_in_module(names: Names, *first: CodeType) -> Iterator[CodeType]:
    yield from first
    yield from _codes(value for value in list(names.values()) if getattr(value, "__globals__", None) is names)


def _codes(values: Iterable[Any]) -> Iterator[CodeType]:
    for value in values:
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        function = getattr(function, "__wrapped__", function)
        if isinstance(function, FunctionType) and function.__name__ != "__init__":
            yield from _nested(function.__code__)


@functools.lru_cache(maxsize=64)
def _set_at(code: CodeType, at: int) -> frozenset[str]:
    """Variables that the statement in a line sets."""
    line = None
    names = set()
    starts = dict(dis.findlinestarts(code))
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        if line == at and instruction.opname.startswith("STORE_"):
            names.add(instruction.argval)
    return frozenset(names)


def _uses(code: CodeType, name: str, attribute: bool) -> Iterator[tuple[str, int]]:
    """ "STORE" or "LOAD" and the line, of an attribute or a variable."""
    starts = dict(dis.findlinestarts(code))
    line = 0
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset) or line
        kind, _, what = instruction.opname.partition("_")
        if instruction.argval == name and (what in ("ATTR", "METHOD")) == attribute:
            yield kind, line


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
