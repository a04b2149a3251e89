# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""How a port was in an episode, and over all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leapp import _runtime
from leapp.fleet.options import ReplayOptions
from leapp.runtime.ports import Port

__all__ = ["EDGES", "Difference", "PortStatistics", "WorstStep", "describe", "element_text", "quantile"]

# Differences are counted by size, so that those of many episodes add up: four classes for a power of ten. The last is
# that of steps in which only one of both is a number.
EDGES: list[float] = [0.0, *(float(10 ** (exponent / 4)) for exponent in range(-48, 17)), math.inf]


@dataclass(frozen=True)
class WorstStep:
    """A step and the element in which it differs most."""

    step: int
    element: int
    place: str
    difference: float
    found: float
    expected: float


@dataclass
class PortStatistics:
    """What an output was like in an episode. Without a reference all that is of differences is None or empty."""

    port: str
    least: float | None
    most: float | None
    mean: float | None
    not_finite: int
    compared: int = 0
    mean_difference: float | None = None
    rms_difference: float | None = None
    largest_difference: float | None = None
    steps_outside: int | None = None
    first_outside: int | None = None
    worst: list[WorstStep] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """As JSON has it. ``dataclasses.asdict`` takes longer than stepping a short episode."""
        return vars(self) | {"worst": [dict(vars(one)) for one in self.worst]}


@dataclass(frozen=True)
class Difference:
    """Of every step: the largest difference, and how many elements are outside the tolerance."""

    worst: np.ndarray[Any, np.dtype[np.float64]]
    outside: np.ndarray[Any, np.dtype[np.int64]]


def element_text(port: Port, element: int) -> str:
    """ "[0,3] (LF_KNEE)": an element by its place in memory."""
    places: list[str] = []
    names: list[str] = []
    for axis in reversed(range(len(port.shape))):
        element, at = divmod(element, port.shape[axis])
        places.insert(0, str(at))
        known = port.element_names[axis] if axis < len(port.element_names) else None
        if known:
            names.insert(0, known[at])
    return f"[{','.join(places)}]" + (f" ({'/'.join(names)})" if names else "")


def _number(values: np.ndarray[Any, Any], at: int, dtype: str) -> float:
    if dtype == "bfloat16":
        return float((values.reshape(-1)[at : at + 1].astype(np.uint32) << 16).view(np.float32)[0])
    return float(values.reshape(-1)[at])


def describe(
    port: Port, ours: Any, theirs: Any | None, options: ReplayOptions
) -> tuple[PortStatistics, Difference | None]:
    """Statistics of an episode's values, and of how they differ from others."""
    least, most, total, finite, not_finite = _runtime.range_of(ours, port.dtype)
    found = PortStatistics(
        port.name, least if finite else None, most if finite else None, total / finite if finite else None, not_finite
    )
    if theirs is None:
        return found, None
    steps = len(ours)
    worst, element, outside, total, squares, compared, _ = _runtime.compare_series(
        ours, theirs, port.dtype, steps, options.rtol, options.atol
    )
    difference = Difference(np.asarray(worst, np.float64), np.asarray(outside, np.int64))
    found.compared = compared
    found.mean_difference = total / compared if compared else None
    found.rms_difference = math.sqrt(squares / compared) if compared else None
    found.largest_difference = float(difference.worst.max())
    places = np.flatnonzero(difference.outside)
    found.steps_outside = len(places)
    found.first_outside = int(places[0]) if len(places) else None
    found.counts = np.bincount(
        np.searchsorted(EDGES, difference.worst, side="right") - 1, minlength=len(EDGES)
    ).tolist()
    each = ours.size // steps
    for step in np.argsort(-difference.worst, kind="stable")[: options.worst].tolist():
        at = int(element[step])
        pair = [_number(values, step * each + at, port.dtype) for values in (ours, theirs)] if each else [0.0, 0.0]
        found.worst.append(WorstStep(step, at, element_text(port, at), float(worst[step]), pair[0], pair[1]))
    return found, difference


def quantile(counts: list[int], part: float) -> float:
    """The upper edge of the class in which that part of all steps ends; 0 when they do not differ."""
    total, seen = sum(counts), 0
    for i, count in enumerate(counts):
        seen += count
        if count and seen >= part * total:
            return 0.0 if i == 0 else EDGES[i + 1] if i + 1 < len(EDGES) else math.inf
    return 0.0
