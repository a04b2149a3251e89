# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Index tensors without dimensions: ``buffer[i]``.

torch turns such an index into a number before any operator runs. From start to stop, indexing looks for them, in C++,
and asks here for a view that is recorded as depending on the index. The program gets the view that torch would give.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import torch

from leapp import _capture
from leapp.capture.followed_numbers import FollowedInt
from leapp.capture.patches import at_removal, replace

__all__ = ["install"]

_INTEGERS = frozenset((torch.int64, torch.int32, torch.int16, torch.int8))


def install() -> None:
    """Until patches are removed."""
    at_removal(_capture.remove_indexing)
    _capture.install_indexing(_get, _set)
    for owner in (torch.Tensor, torch):
        for name, make in (("select", _select), ("narrow", _narrow)):
            original = getattr(owner, name)
            replace(owner, name, functools.wraps(original)(make(original)))


def _is_index(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() == 0 and value.dtype in _INTEGERS


def _is_span(value: Any) -> bool:
    """Whether torch would take the bounds of a slice for numbers."""
    return (
        type(value) is slice
        and _is_index(value.start)
        and _is_index(value.stop)
        and (value.step is None or (type(value.step) is int and value.step == 1))
    )


@dataclass
class _Steps:
    """An index, taken apart: what takes a plain view, what looks at tensors, what picks elements in the end."""

    plain: list[Any] = field(default_factory=list)
    looks: list[tuple[int, Any]] = field(default_factory=list)  # dimension of the plain view, index or slice
    picks: dict[int, Any] = field(default_factory=dict)  # likewise


def _consumed(item: Any) -> int | None:
    """How many dimensions an index takes; None: it is for torch to say."""
    if item is None:
        return 0
    if type(item) is int or type(item) is slice or _is_index(item):
        return 1
    if isinstance(item, torch.Tensor) and item.dim() > 0:
        return item.dim() if item.dtype in (torch.bool, torch.uint8) else 1
    if type(item) is list and item and all(type(inner) is int for inner in item):
        return 1
    return None


def _steps(index: tuple[Any, ...], dims: int) -> _Steps | None:
    counts = [0 if item is Ellipsis else _consumed(item) for item in index]
    if None in counts or sum(item is Ellipsis for item in index) > 1:
        return None
    steps, at = _Steps(), 0
    for item, count in zip(index, counts, strict=True):
        assert count is not None
        if item is Ellipsis:
            at += dims - sum(each for each in counts if each is not None)
            steps.plain.append(item)
        elif _is_index(item) or _is_span(item):
            steps.looks.append((at, item))
            steps.plain.append(slice(None))
            at += 1
        elif isinstance(item, (torch.Tensor, list)):
            steps.picks[at] = item
            steps.plain += [slice(None)] * count
            at += count
        else:
            steps.plain.append(item)
            at += type(item) is not int
    return steps


def _as_index(item: Any) -> Any:
    """The tensor that a number is from (followed_numbers.py) in the place of the number."""
    if type(item) is slice and isinstance(item.start, FollowedInt) and isinstance(item.stop, FollowedInt):
        return slice(item.start.as_index(), item.stop.as_index(), item.step)
    return item.as_index() if isinstance(item, FollowedInt) else item


def _look(base: torch.Tensor, index: Any) -> tuple[torch.Tensor, tuple[Any, ...] | None] | None:
    """The view that an index leads to, and the elements that are picked from it. None: do what torch does."""
    items = index if type(index) is tuple else (index,)
    steps = _steps(tuple(_as_index(item) for item in items), base.dim())
    if steps is None or not steps.looks:
        return None
    view = base
    if any(item is not Ellipsis and item != slice(None) for item in steps.plain):
        view = base[tuple(steps.plain)]
    removed = []
    for dim, item in reversed(steps.looks):
        start, stop = (item.start, item.stop) if type(item) is slice else (item, None)
        found = _capture.view_at(view, dim, start, stop)
        if found is None:
            return None
        view = found
        if stop is None:
            removed.append(dim)
    if not steps.picks:
        return view, None
    picks = {dim - sum(gone < dim for gone in removed): item for dim, item in steps.picks.items()}
    return view, _picking(picks, view.dim())


def _picking(picks: dict[int, Any], dims: int) -> tuple[Any, ...]:
    index: list[Any] = []
    for dim in range(dims):
        if dim in picks:
            index.append(picks[dim])
        elif not any(at < dim < at + (_consumed(item) or 1) for at, item in picks.items()):
            index.append(slice(None))
    return tuple(index)


def _get(tensor: torch.Tensor, index: Any) -> torch.Tensor | None:
    found = _look(tensor, index)
    if found is None:
        return None
    view, picks = found
    return view if picks is None else view[picks]


def _set(tensor: torch.Tensor, index: Any, value: Any) -> bool:
    found = _look(tensor, index)
    if found is None:
        return False
    view, picks = found
    view[... if picks is None else picks] = value
    return True


def _select(original: Any) -> Any:
    def select(self: torch.Tensor, dim: Any, *args: Any, **kwargs: Any) -> Any:
        index = kwargs.get("index", args[0] if args else None)
        view = _capture.view_at(self, dim, index) if _is_index(index) and type(dim) is int else None
        return original(self, dim, *args, **kwargs) if view is None else view

    return select


def _narrow(original: Any) -> Any:
    def narrow(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(("dim", "start", "length"), args, strict=False), **kwargs)
        dim: Any = given.get("dim")
        start: Any = given.get("start")
        length: Any = given.get("length")
        follows = type(dim) is int and _is_index(start) and type(length) is int
        view = _capture.view_at(self, dim, start, None, length) if follows else None
        return original(self, *args, **kwargs) if view is None else view

    return narrow
