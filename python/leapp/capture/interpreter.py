# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What is not the same in every CPython from 3.10 on: variables of frames, counts of references, bytecode.

Nothing else in the package knows a version of Python; tests/interpreters/test_interpreter.py says what is relied on.
"""

from __future__ import annotations

import bisect
import dis
import functools
import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

__all__ = ["Bytecode", "Handler", "references", "variables"]


# ---- frames ----


def variables(frame: FrameType) -> dict[str, Any]:
    """A copy that leaves nothing behind in the frame.

    Before Python 3.13 a frame keeps the dict it hands out, and with it every tensor that is in a variable now; since
    then it hands out a view that keeps nothing.
    """
    names = frame.f_locals
    found = dict(names)
    kept = isinstance(names, dict) and frame.f_code.co_flags & inspect.CO_OPTIMIZED
    # With one more, the program has asked for its locals() and keeps them.
    if kept and sys.getrefcount(names) <= _references_to_kept_locals():
        names.clear()
    return found


@functools.cache
def _references_to_kept_locals() -> int:
    """As counted in `variables` when nobody but the frame and that function has them."""
    names = sys._getframe().f_locals
    return sys.getrefcount(names)


# ---- counts of references ----


def references(values: Sequence[object]) -> list[int]:
    """To each of the values, besides that of the sequence; 0 for what is nowhere else."""
    return [count - _references_of_counting() for count in _counts(values)]


def _counts(values: Sequence[object]) -> list[int]:
    return [sys.getrefcount(value) for value in values]


@functools.cache
def _references_of_counting() -> int:
    return _counts([object()])[0]


# ---- bytecode ----

_JUMPS = ("JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
# What takes a value off the stack to where it is not followed.
_OPAQUE = ("STORE_", "DELETE_", "YIELD_", "SEND", "SETUP_", "BEFORE_", "IMPORT_", "UNPACK_", "FOR_ITER", "SWAP", "ROT_")
# What others than the function see.
_OUTSIDE = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "STORE_SLICE", "DELETE_", "YIELD_", "SEND")
_CATCHES = ("CHECK_EXC_MATCH", "JUMP_IF_NOT_EXC_MATCH")  # `except E:`, from 3.11 on and before


@dataclass(frozen=True)
class Handler:
    """Instructions whose exceptions go to `target`; positions, not offsets."""

    covered: frozenset[int]
    target: int


class Bytecode:
    """The instructions of a function by position, without those that only make room or lengthen an argument."""

    def __init__(self, code: CodeType) -> None:
        bytecode = dis.Bytecode(code)
        self.steps = [step for step in bytecode if step.opname not in ("CACHE", "EXTENDED_ARG")]
        self._at = {step.offset: i for i, step in enumerate(self.steps)}
        entries = getattr(bytecode, "exception_entries", None)
        self.handlers = self._blocks() if entries is None else [self._handler(entry) for entry in entries]

    def __len__(self) -> int:
        return len(self.steps)

    def position(self, offset: int) -> int:
        """Of the instruction there, or whose caches are there: a function that calls another may stand on them."""
        return bisect.bisect_right(self.steps, offset, key=lambda step: step.offset) - 1

    def target(self, position: int) -> int:
        """Of a jump. IndexError: there is none."""
        offset = self.steps[position].argval
        while offset not in self._at:  # a cache, or an argument that was too long for one instruction
            offset += 2
            if offset > self.steps[-1].offset:
                raise IndexError(offset)
        return self._at[offset]

    def goes_on(self, position: int) -> Iterator[int]:
        """The instructions that may come next, of which `position + 1` may be none."""
        step = self.steps[position]
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            yield self.target(position)
            if step.opname in _JUMPS:
                return
        if not step.opname.startswith(("RETURN_", "RAISE_", "RERAISE")):
            yield position + 1

    def name(self, position: int) -> str:
        return self.steps[position].opname

    def names(self, position: int) -> tuple[str, ...]:
        """Of the variables that it loads or stores: an instruction may do so with two."""
        value = self.steps[position].argval
        return value if isinstance(value, tuple) else (value,)

    def stack_effect(self, position: int) -> int:
        step = self.steps[position]
        return dis.stack_effect(step.opcode, step.arg, jump=False)

    # ---- kinds of instructions ----

    def is_jump(self, position: int) -> bool:
        return self.name(position) in _JUMPS

    def is_branch(self, position: int) -> bool:
        return "JUMP" in self.name(position) and "_IF_" in self.name(position)

    def is_opaque(self, position: int) -> bool:
        return self.name(position).startswith(_OPAQUE)

    def writes_outside(self, position: int) -> bool:
        return self.name(position).startswith(_OUTSIDE)

    def keeps_a_copy(self, branch: int) -> bool:
        """Whether what the branch looks at is on the stack twice, as in ``a or b``."""
        before = [step for step in self.steps[max(0, branch - 2) : branch] if step.opname != "TO_BOOL"]
        return bool(before) and before[-1].opname in ("COPY", "DUP_TOP")

    def returns_none(self, position: int) -> bool:
        """The end of a function, of which each side of a branch may have its own."""
        step = self.steps[position]
        following = self.name(position + 1) if position + 1 < len(self) else ""
        constant = step.opname == "RETURN_CONST" or (step.opname == "LOAD_CONST" and following == "RETURN_VALUE")
        return constant and step.argval is None

    def catches(self, positions: Iterator[int]) -> bool:
        """Whether a handler with these instructions may end an exception."""
        names = {self.name(position) for position in positions}
        return not names.isdisjoint(_CATCHES) or "RERAISE" not in names

    # ---- who handles exceptions ----

    def _handler(self, entry: Any) -> Handler:
        covered = (i for i, step in enumerate(self.steps) if entry.start <= step.offset < entry.end)
        return Handler(frozenset(covered), self._at[entry.target])

    def _blocks(self) -> list[Handler]:
        """Before Python 3.11 there is no table: a block is what runs between SETUP_FINALLY and POP_BLOCK."""
        covered: dict[int, set[int]] = {}
        pending: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        seen: set[int] = set()
        while pending:
            position, open_blocks = pending.pop()
            if position in seen or position >= len(self):
                continue
            seen.add(position)
            for handler in open_blocks:
                covered.setdefault(handler, set()).add(position)
            name = self.name(position)
            if name.startswith("SETUP_"):
                handler = self.target(position)
                pending += [(position + 1, (*open_blocks, handler)), (handler, open_blocks)]
                continue
            inside = open_blocks[:-1] if name == "POP_BLOCK" else open_blocks
            pending += [(following, inside) for following in self.goes_on(position)]
        return [Handler(frozenset(positions), target) for target, positions in covered.items()]
