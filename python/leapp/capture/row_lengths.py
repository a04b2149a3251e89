# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Lengths that depend on data: ``len(ids)``, ``ids.shape[0]``, ``x[mask].numel()``, ``for row in rows``.

From start to stop, the length of such a tensor is an int that remembers what it counts (`FollowedLength`). A program
that compares it branches on data, and capture sees that branch. A program that uses it as a size finds an ordinary int.
"""

from __future__ import annotations

import builtins
import dis
import functools
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

import torch

from leapp import _capture
from leapp.capture.followed_numbers import FollowedLength
from leapp.capture.patches import at_removal, replace

__all__ = ["install"]

_MOST_ROUNDS = 16  # of a loop over rows that are guards; longer ones differ in what they compute


def install() -> None:
    """Until patches are removed."""
    at_removal(_capture.remove_lengths)
    _capture.install_lengths(_shape, _number)
    replace(builtins, "len", _capture.length)
    original = torch.Tensor.__iter__
    replace(torch.Tensor, "__iter__", functools.wraps(original)(_iterating(original)))


def _shape(tensor: torch.Tensor, sizes: torch.Size, dim: int, source: int) -> torch.Size:
    return torch.Size([*sizes[:dim], _length(tensor, sizes[dim], dim, source), *sizes[dim + 1 :]])


def _number(tensor: torch.Tensor, rows: int, dim: int, times: int, source: int) -> int:
    if times == 0:
        return 0
    length = _length(tensor, rows, dim, source)
    return length if times == 1 else length * times


def _length(tensor: torch.Tensor, number: int, dim: int, source: int) -> int:
    made = FollowedLength.of(number, tensor, source, lambda: _count(tensor, dim))
    if _is_in_range(sys._getframe(1)):
        _ask_each_round(made)
    return made


def _count(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """How many rows, computed from the tensor: every element is equal to itself, or it is no number."""
    for other in reversed(range(tensor.dim())):
        if other != dim:
            tensor = tensor.select(other, 0)
    return ((tensor == tensor) | (tensor != tensor)).sum()


def _ask_each_round(length: FollowedLength) -> None:
    """A loop goes on as long as there are more rows."""
    for done in range(min(int(length), _MOST_ROUNDS) + 1):
        length.ask(functools.partial(_has_more, length, done), loop=True)


def _has_more(length: FollowedLength, done: int) -> bool:
    return bool(length._tensor > done)


def _iterating(original: Any) -> Any:
    def iterate(self: torch.Tensor) -> Iterator[torch.Tensor]:
        found = _capture.rows(self)
        if found is not None and found[0] == 0:
            length = len(self)
            if isinstance(length, FollowedLength):
                _ask_each_round(length)
        return original(self)  # type: ignore[no-any-return]

    return iterate


# ---- range(len(ids)), which looks at numbers in C ----


def _is_in_range(frame: Any) -> bool:
    """Whether the number that the user's function is about to get goes to range()."""
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if frame is None:
        return False
    inside, variables = _ranges(frame.f_code)
    return frame.f_lasti in inside or _stored_in(frame.f_code).get(frame.f_lasti) in variables


@functools.lru_cache(maxsize=4096)
def _ranges(code: CodeType) -> tuple[frozenset[int], frozenset[str]]:
    """Instructions between ``range`` and the loop, and variables that are read there."""
    inside: set[int] = set()
    variables: set[str] = set()
    within = False
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval == "range":
            within = True
        elif step.opname.startswith(("GET_ITER", "STORE_", "RETURN_", "POP_")):
            within = False
        elif within:
            inside.add(step.offset)
            if step.opname.startswith(("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF")):
                variables.add(str(step.argval))
    return frozenset(inside), frozenset(variables)


@functools.lru_cache(maxsize=4096)
def _stored_in(code: CodeType) -> dict[int, str]:
    """By instruction: the variable that its result is stored in, as it is or as an element of it."""
    stored: dict[int, str] = {}
    pending: list[int] = []
    for step in dis.get_instructions(code):
        if step.opname.startswith("STORE_"):
            stored.update(dict.fromkeys(pending, str(step.argval)))
            pending = []
        elif step.opname.startswith(("LOAD_CONST", "LOAD_SMALL_INT", "BINARY_SUBSCR", "BINARY_OP", "PRECALL", "CALL")):
            pending.append(step.offset)
        else:
            pending = [step.offset]
    return stored
