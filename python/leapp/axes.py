# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What runs along the axes of a tensor, and in which frame its numbers are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from leapp.errors import LeappError, LeappTypeError, LeappValueError

__all__ = ["Axis", "AxisKind", "ExpressionFrame", "check_axes", "check_positive", "frame_entry"]


class AxisKind(Enum):
    """What the places along an axis are."""

    ROBOT = "robot"
    ELEMENT = "element"
    COMPONENT = "component"
    TIME = "time"


class ExpressionFrame(Enum):
    """The frame of a quantity's numbers, where it has no name of its own."""

    SELF = "self"  # the element's own
    REFERENCE = "reference"  # the one that `reference` names


@dataclass(frozen=True)
class Axis:
    """One axis of a tensor: what its places are, their names, and for an axis of moments how far these are apart.

    >>> TensorSemantics("q", q, axes=[Axis(AxisKind.ROBOT), Axis(AxisKind.ELEMENT, names=["hip", "knee"])])
    """

    kind: AxisKind | str | None = None
    names: Sequence[str] | None = None
    period_ms: float | None = None

    def __post_init__(self) -> None:
        """Check the fields against each other."""
        if self.kind is not None and not isinstance(self.kind, (AxisKind, str)):
            raise LeappTypeError(f"Axis: kind must be an AxisKind or a string, found {type(self.kind).__name__}")
        if self.names is not None and not _are_strings(self.names):
            raise LeappTypeError(f"Axis: names must be a list of strings, found {self.names!r}")
        if self.is_time and self.period_ms is None:
            raise LeappValueError("Axis: a time axis requires period_ms, the milliseconds between its moments")
        if not self.is_time and self.period_ms is not None:
            raise LeappValueError(f"Axis: period_ms is only valid for a time axis, found kind {self.kind!r}")
        if self.period_ms is not None:
            check_positive("Axis: period_ms", self.period_ms, "milliseconds", LeappValueError)

    @property
    def is_time(self) -> bool:
        """Whether its places are moments."""
        return self.kind in (AxisKind.TIME, AxisKind.TIME.value)

    def to_dict(self) -> dict[str, Any]:
        """What is written to the YAML."""
        entry: dict[str, Any] = {}
        if self.kind is not None:
            entry["kind"] = self.kind.value if isinstance(self.kind, Enum) else self.kind
        if self.names is not None:
            entry["names"] = list(self.names)
        if self.period_ms is not None:
            entry["period_ms"] = self.period_ms
        return entry


def check_axes(where: str, axes: Any, shape: Sequence[int] | None) -> None:
    """Refuse axes that cannot be those of a tensor of that shape; without one, only their form is looked at."""
    if not isinstance(axes, (list, tuple)):
        raise LeappTypeError(f"{where}: axes must be a list with an entry per dimension, found {type(axes).__name__}")
    for i, axis in enumerate(axes):
        if axis is not None and not isinstance(axis, Axis):
            raise LeappTypeError(f"{where}: entry {i} of axes must be an Axis or None, found {type(axis).__name__}")
    if sum(axis is not None and axis.is_time for axis in axes) > 1:
        raise LeappValueError(f"{where}: axes has more than one time axis")
    if shape is None:
        return
    if len(axes) != len(shape):
        raise LeappValueError(
            f"{where}: axes must have an entry per dimension: expected {len(shape)}, found {len(axes)}"
        )
    for i, axis in enumerate(axes):
        if axis is not None and axis.names is not None and len(axis.names) != shape[i]:
            raise LeappValueError(f"{where}: axis {i} has {shape[i]} places and {len(axis.names)} names")


def frame_entry(frame: ExpressionFrame | str) -> dict[str, str]:
    """How a frame is written: a name of the user's is never taken for a selector."""
    return {"selector": frame.value} if isinstance(frame, ExpressionFrame) else {"frame": frame}


def _are_strings(names: Any) -> bool:
    return isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)


def check_positive(what: str, value: Any, unit: str, other_type: type[LeappError] = LeappTypeError) -> None:
    """Refuse all but finite numbers above zero; what is no number raises `other_type`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise other_type(f"{what} must be a number, found {type(value).__name__}")
    if not (value > 0 and math.isfinite(value)):
        raise LeappValueError(f"{what} must be > 0 {unit}, found {value}")
