# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where the result of an instruction goes, read from the bytecode of its function."""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator
from types import CodeType

from leapp.capture.interpreter import Bytecode

__all__ = ["Fate", "fate"]


class Fate(enum.Enum):
    """Where a value goes."""

    CHECKED = 1  # to branches that raise
    RETURNED = 2  # to what the function gives back, and nowhere else
    MATTERS = 3


@functools.lru_cache(maxsize=4096)
def fate(code: CodeType, offset: int) -> Fate:
    """Of the truth value that the instruction there takes, or of the result that it leaves on the stack."""
    try:
        function = _Function(code)
        return function.fate_of_instruction(function.bytecode.position(offset))
    except (KeyError, IndexError, ValueError, RecursionError):  # bytecode that this does not know
        return Fate.MATTERS


class _Function:
    """The ways that values take through a function."""

    def __init__(self, code: CodeType) -> None:
        self.bytecode = Bytecode(code)
        self._followed: set[int] = set()

    # ---- where a value goes ----

    def fate_of_instruction(self, position: int) -> Fate:
        name = self.bytecode.name(position)
        if self.bytecode.is_branch(position):
            return self._fate_of_branch(position)
        if self.bytecode.is_opaque(position) or name.startswith(("POP_", "RETURN_", "RAISE_")):
            return Fate.MATTERS
        return self._follow(position + 1, called="CALL" in name)

    def _follow(self, position: int, called: bool = False, height: int = 1) -> Fate:
        """Of what lies on the stack, `height` from its top."""
        code = self.bytecode
        while True:
            name = code.name(position)
            if code.is_jump(position):
                position = code.target(position)
                continue
            if code.is_branch(position):
                if name.endswith("_OR_POP") or (code.keeps_a_copy(position) and height == 2):  # `a or b`
                    return self._follow(code.target(position), called) if height <= 2 else Fate.MATTERS
                return self._fate_of_branch(position) if height == 1 else Fate.MATTERS
            if height == 1:
                if name.startswith("STORE_FAST"):
                    return self._fate_of_variable(position, code.names(position)[0])
                if name == "RETURN_VALUE":
                    return Fate.RETURNED
                if name == "POP_TOP":
                    return Fate.MATTERS if called else Fate.CHECKED
            if name == "RAISE_VARARGS":
                return Fate.CHECKED
            if code.is_opaque(position) or name.startswith(("RETURN_", "RERAISE", "LIST_APPEND", "SET_ADD", "MAP_ADD")):
                return Fate.MATTERS
            height += code.stack_effect(position)
            called = called or (height < 1 and "CALL" in name)
            height = max(height, 1)
            position += 1

    def _fate_of_variable(self, store: int, name: str) -> Fate:
        if store in self._followed:
            return Fate.CHECKED  # on the way already
        self._followed.add(store)
        result = Fate.CHECKED
        for load, height in self._loads(store, name):
            if self._always_raises(load):
                continue
            found = self._follow(load + 1, height=height)
            if found is Fate.MATTERS:
                return found
            result = found if found is Fate.RETURNED else result
        return result

    def _loads(self, store: int, name: str) -> Iterator[tuple[int, int]]:
        """Positions that read the variable before it is set again, and how far from the top of the stack it is then."""
        if self.bytecode.name(store) == "STORE_FAST_LOAD_FAST" and self.bytecode.names(store)[1] == name:
            yield store, 1
        for position in self._reachable(store + 1, until=name):
            names = self.bytecode.names(position)
            if self.bytecode.name(position).startswith("LOAD_FAST"):  # of one, or of two
                yield from ((position, len(names) - i) for i, each in enumerate(names) if each == name)

    # ---- branches ----

    def _fate_of_branch(self, position: int) -> Fate:
        sides = (position + 1, self.bytecode.target(position))
        if any(self._always_raises(side) for side in sides):
            return Fate.CHECKED
        if any(self._joins(side, other) for side, other in (sides, sides[::-1])):
            return Fate.CHECKED
        writes = any(self.bytecode.writes_outside(i) for i in range(len(self.bytecode)))
        return Fate.MATTERS if writes else Fate.RETURNED

    def _joins(self, position: int, other: int) -> bool:
        """Whether it gets to `other` having done nothing but further tests that raise, or a warning."""
        code = self.bytecode
        warns = self._is_warning(position)
        while position != other and not (code.returns_none(position) and code.returns_none(other)):
            name = code.name(position)
            if code.is_jump(position):
                position = code.target(position)
                continue
            if code.is_branch(position):
                sides = (position + 1, code.target(position))
                return all(self._always_raises(side) or self._joins(side, other) for side in sides)
            if code.is_opaque(position) or name.startswith(("RETURN_", "RAISE_", "RERAISE")):
                return False
            if name == "POP_TOP" and not warns:
                return False
            position += 1
        return True

    def _is_warning(self, position: int) -> bool:
        steps = self.bytecode.steps[position : position + 4]
        loads = [step.argval for step in steps if step.opname.startswith("LOAD_")]
        return loads[:2] == ["warnings", "warn"]

    def _always_raises(self, position: int) -> bool:
        ends = list(self._reachable(position))
        if any(self.bytecode.name(i).startswith(("RETURN_", "YIELD_", "SEND")) for i in ends):
            return False
        raises = [i for i in ends if self.bytecode.name(i) == "RAISE_VARARGS"]
        return bool(raises) and not any(self._is_caught(i) for i in raises)

    def _is_caught(self, position: int) -> bool:
        """By an ``except`` of the same function."""
        return any(
            position in handler.covered and self.bytecode.catches(self._reachable(handler.target))
            for handler in self.bytecode.handlers
        )

    # ---- the ways through a function ----

    def _reachable(self, position: int, until: str | None = None) -> Iterator[int]:
        pending, seen = [position], set()
        while pending:
            i = pending.pop()
            if i in seen or i >= len(self.bytecode):
                continue
            seen.add(i)
            yield i
            if not (self.bytecode.name(i).startswith("STORE_FAST") and self.bytecode.names(i)[0] == until):
                pending.extend(self.bytecode.goes_on(i))
