# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a number that leaves the graph is only looked at by a branch of a library that raises.

torch.distributions looks at its arguments with ``if not valid.all(): raise ValueError``. Such a branch selects no
computation: leaving it out of the model changes nothing but who complains. So the bytecode of the library's function is
asked where the value goes. Branches of the user's own functions are never asked about.
"""

from __future__ import annotations

import bisect
import dis
import enum
import functools
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from types import CodeType, FrameType

from leapp import _capture

__all__ = ["install", "is_only_checked"]

_OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class Fate(enum.Enum):
    """Where a value goes."""

    CHECKED = 1  # to branches that raise
    RETURNED = 2  # to what the function gives back, and nowhere else
    MATTERS = 3


def install() -> None:
    _capture.install_check_finder(is_only_checked)


def is_only_checked() -> bool:
    """Of the value that the innermost function is about to read from a tensor."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    while frame is not None:
        file = frame.f_code.co_filename
        ours = file.startswith(_OURS)  # the call of a module hands on what it gets
        if not ours and not _is_installed(file):
            return False
        fate = Fate.RETURNED if ours else _fate(frame.f_code, frame.f_lasti)
        if fate is not Fate.RETURNED:
            return fate is Fate.CHECKED
        frame = frame.f_back
    return False


@functools.cache
def _folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    found = {paths["stdlib"], paths["purelib"], paths["platlib"], *site.getsitepackages(), site.getusersitepackages()}
    for package in ("torch", "numpy"):
        file = getattr(sys.modules.get(package), "__file__", None)
        if file:
            found.add(os.path.dirname(os.path.abspath(file)))
    return tuple(os.path.join(folder, "") for folder in found)


@functools.cache
def _is_installed(file: str) -> bool:
    return file.startswith(_folders())


@functools.lru_cache(maxsize=4096)
def _fate(code: CodeType, offset: int) -> Fate:
    try:
        function = _Function(code)
        return function.fate_of_instruction(function.position(offset))
    except (KeyError, IndexError, ValueError, RecursionError):  # bytecode that this does not know
        return Fate.MATTERS


_OPAQUE = ("STORE_", "DELETE_", "YIELD_", "SEND", "SETUP_", "BEFORE_", "IMPORT_", "UNPACK_", "FOR_ITER", "SWAP", "ROT_")
_OUTSIDE = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "STORE_SLICE", "DELETE_", "YIELD_", "SEND")
_JUMPS = ("JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")


class _Function:
    """The instructions of a function, by position."""

    def __init__(self, code: CodeType) -> None:
        bytecode = dis.Bytecode(code)
        self.steps = [step for step in bytecode if step.opname not in ("CACHE", "EXTENDED_ARG")]
        self.at = {step.offset: i for i, step in enumerate(self.steps)}
        self._handlers = getattr(bytecode, "exception_entries", ())
        self._followed: set[int] = set()

    def position(self, offset: int) -> int:
        """Of the instruction there, or whose caches are there: a function that calls another may stand on them."""
        return bisect.bisect_right(self.steps, offset, key=lambda step: step.offset) - 1

    # ---- where a value goes ----

    def fate_of_instruction(self, position: int) -> Fate:
        """Of the truth value that it takes, or of the result that it leaves on the stack."""
        step = self.steps[position]
        if _is_branch(step):
            return self._fate_of_branch(position)
        if step.opname.startswith((*_OPAQUE, "POP_", "RETURN_", "RAISE_")):
            return Fate.MATTERS
        return self._follow(position + 1, called="CALL" in step.opname)

    def _follow(self, position: int, called: bool = False, height: int = 1) -> Fate:
        """Of what lies on the stack, `height` from its top."""
        while True:
            step = self.steps[position]
            name = step.opname
            if name in _JUMPS:
                position = self._target(step)
                continue
            if _is_branch(step):
                copied = self._is_copied(position)
                if name.endswith("_OR_POP") or (copied and height == 2):  # `a or b`: one of them is the value
                    return self._follow(self._target(step), called) if height <= 2 else Fate.MATTERS
                return self._fate_of_branch(position) if height == 1 else Fate.MATTERS
            if height == 1:
                if name.startswith("STORE_FAST"):
                    return self._fate_of_variable(position, _names(step)[0])
                if name == "RETURN_VALUE":
                    return Fate.RETURNED
                if name == "POP_TOP":
                    return Fate.MATTERS if called else Fate.CHECKED
            if name == "RAISE_VARARGS":
                return Fate.CHECKED
            if name.startswith((*_OPAQUE, "RETURN_", "RERAISE", "LIST_APPEND", "SET_ADD", "MAP_ADD")):
                return Fate.MATTERS
            height += _stack_effect(step)
            called = called or (height < 1 and "CALL" in name)
            height = max(height, 1)
            position += 1

    def _fate_of_variable(self, store: int, name: str) -> Fate:
        if store in self._followed:
            return Fate.CHECKED  # on the way already
        self._followed.add(store)
        fate = Fate.CHECKED
        for load, height in self._loads(store, name):
            if self._always_raises(load):
                continue
            found = self._follow(load + 1, height=height)
            if found is Fate.MATTERS:
                return found
            fate = found if found is Fate.RETURNED else fate
        return fate

    def _loads(self, store: int, name: str) -> Iterator[tuple[int, int]]:
        """Positions that read the variable before it is set again, and how far from the top of the stack it is then."""
        if self.steps[store].opname == "STORE_FAST_LOAD_FAST" and _names(self.steps[store])[1] == name:
            yield store, 1
        for position in self._reachable(store + 1, until=name):
            step = self.steps[position]
            names = _names(step)
            if step.opname.startswith("LOAD_FAST"):  # of one, or of two
                yield from ((position, len(names) - i) for i, each in enumerate(names) if each == name)

    # ---- branches ----

    def _fate_of_branch(self, position: int) -> Fate:
        sides = (position + 1, self._target(self.steps[position]))
        if any(self._always_raises(side) for side in sides):
            return Fate.CHECKED
        if any(self._joins(side, other) for side, other in (sides, sides[::-1])):
            return Fate.CHECKED
        writes = any(step.opname.startswith(_OUTSIDE) for step in self.steps)
        return Fate.MATTERS if writes else Fate.RETURNED

    def _joins(self, position: int, other: int) -> bool:
        """Whether it gets to `other` having done nothing but further tests that raise, or a warning."""
        warns = self._is_warning(position)
        while position != other and not (self._gives_nothing(position) and self._gives_nothing(other)):
            step = self.steps[position]
            if step.opname in _JUMPS:
                position = self._target(step)
                continue
            if _is_branch(step):
                sides = (position + 1, self._target(step))
                return all(self._always_raises(side) or self._joins(side, other) for side in sides)
            if step.opname.startswith((*_OPAQUE, "RETURN_", "RAISE_", "RERAISE")):
                return False
            if step.opname == "POP_TOP" and not warns:
                return False
            position += 1
        return True

    def _gives_nothing(self, position: int) -> bool:
        """The end of a function, of which each side of a branch may have its own."""
        step = self.steps[position]
        following = self.steps[position + 1].opname if position + 1 < len(self.steps) else ""
        constant = step.opname == "RETURN_CONST" or (step.opname == "LOAD_CONST" and following == "RETURN_VALUE")
        return constant and step.argval is None

    def _is_warning(self, position: int) -> bool:
        loads = [step.argval for step in self.steps[position : position + 4] if step.opname.startswith("LOAD_")]
        return loads[:2] == ["warnings", "warn"]

    def _always_raises(self, position: int) -> bool:
        ends = [self.steps[i] for i in self._reachable(position)]
        if any(step.opname.startswith(("RETURN_", "YIELD_", "SEND")) for step in ends):
            return False
        raises = [step for step in ends if step.opname == "RAISE_VARARGS"]
        return bool(raises) and not any(self._is_caught(step.offset) for step in raises)

    def _is_caught(self, offset: int) -> bool:
        """By an ``except`` of the same function."""
        for entry in self._handlers:
            if not entry.start <= offset < entry.end:
                continue
            handler = [self.steps[i].opname for i in self._reachable(self.at[entry.target])]
            if "CHECK_EXC_MATCH" in handler or "RERAISE" not in handler:
                return True
        return False

    # ---- the ways through a function ----

    def _reachable(self, position: int, until: str | None = None) -> Iterator[int]:
        pending, seen = [position], set()
        while pending:
            i = pending.pop()
            if i in seen or i >= len(self.steps):
                continue
            seen.add(i)
            step = self.steps[i]
            yield i
            if step.opname.startswith("STORE_FAST") and _names(step)[0] == until:
                continue
            if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
                pending.append(self._target(step))
                if step.opname in _JUMPS:
                    continue
            if not step.opname.startswith(("RETURN_", "RAISE_", "RERAISE")):
                pending.append(i + 1)

    def _target(self, step: dis.Instruction) -> int:
        offset = step.argval
        while offset not in self.at:  # a cache, or an argument that was too long for one instruction
            offset += 2
            if offset > self.steps[-1].offset:
                raise IndexError(offset)
        return self.at[offset]

    def _is_copied(self, branch: int) -> bool:
        before = [step for step in self.steps[max(0, branch - 2) : branch] if step.opname != "TO_BOOL"]
        return bool(before) and before[-1].opname in ("COPY", "DUP_TOP")


def _is_branch(step: dis.Instruction) -> bool:
    return "JUMP" in step.opname and "_IF_" in step.opname


def _names(step: dis.Instruction) -> tuple[str, ...]:
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _stack_effect(step: dis.Instruction) -> int:
    return dis.stack_effect(step.opcode, step.arg, jump=False)
