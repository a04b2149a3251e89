# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Python values that change while a node runs: numbers, flags, texts, small arrays, lists of them.

An operator takes them as they are, so a model has those of the first call. A second call shows which of them matter.
After a single one there is nothing to compare: what is at hand when the node opens is read again when it closes, and
what belongs to the node's own objects once more when the session ends. The program is searched for objects when the
session starts, so that the first pass only reads what is in them.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, SimpleNamespace
from typing import Any, ParamSpec

from leapp import plain_forms
from leapp._native import capture
from leapp.frames import variables
from leapp.plain_forms import OPAQUE, SIMPLE, plain
from leapp.surroundings import Names, Space, Surroundings, frame_space, program_frames, set_at

P = ParamSpec("P")

_FRAMES_SEARCHED = 10  # when the session starts
_MAX_NAMED = 4


@dataclass
class _Change:
    name: str
    before: Any
    now: Any
    line: str

    def __str__(self) -> str:
        values = [value for value in (self.before, self.now) if value and value[0] in SIMPLE - {bytes}]
        texts = [repr(value[1])[:20] for value in values]
        return f"{self.name} (was {texts[0]}, is {texts[1]})" if len(texts) == 2 else self.name


class _Seen:
    """What was in a space. It keeps no object of the program: whoever else has a tensor is counted (leavings)."""

    __slots__ = ("_others", "_simple")

    def __init__(self, values: Names) -> None:
        self._simple: Names = {}
        self._others: Names = {}  # in their plain form, or OPAQUE
        for name, value in values.items():
            if type(value) in SIMPLE:
                self._simple[name] = value
            else:
                self._others[name] = plain(value)

    def changes(self, space: Space) -> Iterator[_Change]:
        simple, others = self._simple, self._others
        for name, value in space.values().items():
            if name in simple:
                if (old := simple[name]) is value:
                    continue
                was = (type(old), old)
            elif name in others:
                was = others[name]
                if was is OPAQUE:
                    continue
            else:
                was = None
            now = plain(value)
            if now is OPAQUE or was == now:
                continue
            # What is kept for the first time is often a result; a number may have been counted from a default.
            if was is not None or (space.may_grow and now[0] in SIMPLE):
                yield _Change(space.prefix + name, was, now, space.line_of(name))


class _Call:
    """The first call of a node."""

    def __init__(
        self, around: Surroundings, function: Callable[..., Any] | None, arguments: tuple[Any, ...], inputs: Any
    ) -> None:
        plain_forms.note_inputs(inputs)
        self.open = True
        self.line = ""
        self.found: dict[str, _Change] = {}
        self._opener: tuple[int, CodeType, int, _Seen] | None = None  # the function that opens the node
        owner = None
        if function is not None:
            around.add_function(function)
            around.add_values(arguments)
            owner = arguments[0] if arguments else None
        for frame in program_frames(1):
            names = variables(frame)
            around.add_scope(frame, names)
            code, line = frame.f_code, frame.f_lineno
            owner = owner if owner is not None or not code.co_argcount else names.get(code.co_varnames[0])
            for name in set_at(frame):  # what the call returns is put there
                names.pop(name, None)
            self.line = f"{code.co_filename}:{line}"
            self._opener = (id(frame), code, line, _Seen(names))
        self._seen = [(space, _Seen(space.values())) for space in around.spaces]
        own = around.of(owner) if owner is not None else None
        self._own = [pair for pair in self._seen if pair[0] is own]

    def close(self) -> None:
        for frame in program_frames(1):
            key, code, line, seen = self._opener or (0, None, 0, None)
            if seen and key == id(frame) and code is frame.f_code:
                self._note([(frame_space(frame, line), seen)])
        self._note(self._seen)
        self.open, self._opener, self._seen = False, None, []

    def end(self) -> None:
        self._note(self._own)

    def _note(self, spaces: Iterable[tuple[Space, _Seen]]) -> None:
        for space, seen in spaces:
            for change in seen.changes(space):
                change.line = change.line or self._line_elsewhere(space, change)
                self.found.setdefault(change.name, change)

    def _line_elsewhere(self, space: Space, change: _Change) -> str:
        """A function of another class sets it."""
        name = change.name.removeprefix(space.prefix)
        others = (other for other, _ in self._seen if other.prefix and space.prefix)
        return next((line for other in others if (line := other.line_of(name))), "")


_calls: dict[str, _Call] = {}
_around: list[Surroundings] = []


def _aside(look: Callable[P, None]) -> Callable[P, None]:
    """A program that cannot be looked at is no reason to stop it."""

    @functools.wraps(look)
    def looked(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            look(*args, **kwargs)
        except Exception as error:
            sys.unraisablehook(
                SimpleNamespace(
                    exc_type=type(error),
                    exc_value=error,
                    exc_traceback=error.__traceback__,
                    err_msg="looking for Python values that change",
                    object=look,
                )
            )

    return looked


@_aside
def prepare() -> None:
    """When a session starts: look at what there is."""
    forget()
    around = Surroundings()
    for frame in program_frames(_FRAMES_SEARCHED):
        around.add_scope(frame, variables(frame))
    around.make_room()
    _around.append(around)


@_aside
def begin(node: str, inputs: Any, function: Callable[..., Any] | None = None, arguments: tuple[Any, ...] = ()) -> None:
    """Before a node opens with these inputs; where it is a function, with that and its arguments."""
    if _around and isinstance(node, str) and node not in _calls:
        _calls[node] = _Call(_around[0], function, arguments, inputs)


@_aside
def end(node: str) -> None:
    """After a node has closed. Only its first call counts."""
    if node in _calls and _calls[node].open:
        _calls[node].close()


def abandon(node: str) -> None:
    """After a call that will not be finished: the next is the first, unless there was one."""
    if node in _calls and _calls[node].open:
        del _calls[node]


@_aside
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
    _calls.clear()
    _around.clear()
    plain_forms.forget()
