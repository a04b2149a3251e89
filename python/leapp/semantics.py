# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What tensors mean to whoever deploys the pipeline; written beside the ports in the YAML."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from leapp.errors import LeappTypeError, LeappValueError
from leapp.kinds import InputKindEnum, OutputKindEnum

__all__ = ["GraphConfigs", "TemporalAxis", "TensorSemantics"]

TEMPORAL_AXIS = "__temporal_axis__"


def _positive(what: str, value: Any, unit: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LeappTypeError(f"{what} must be a number, found {type(value).__name__}")
    if not (value > 0 and math.isfinite(value)):
        raise LeappValueError(f"{what} must be > 0 {unit}, found {value}")


@dataclass(frozen=True)
class TemporalAxis:
    """Marks an axis in ``element_names`` as a row of moments, ``period_ms`` apart.

    >>> TensorSemantics("history", history, element_names=[TemporalAxis(20.0), ["hip", "knee"]])
    """

    period_ms: float

    def __post_init__(self) -> None:
        _positive("TemporalAxis: period_ms", self.period_ms, "milliseconds")


@dataclass
class TensorSemantics:
    """A named tensor and what it means. Pass one, or a list of them, in the place of a dict of tensors.

    ``kind`` is an ``InputKindEnum``, an ``OutputKindEnum`` or any string. ``element_names`` names the elements along
    each axis: a list of names or ``None`` per axis, one of them may be a ``TemporalAxis``; a flat list of names, or
    one name, stands for a single axis. ``extra`` has further keys for the port's entry in the YAML.

    >>> q = TensorSemantics("q", torch.zeros(2), kind=InputKindEnum.JOINT_POSITION, element_names=["hip", "knee"])
    >>> q.to_dict()
    {'kind': 'state/joint/position', 'element_names': [['hip', 'knee']]}
    """

    name: str
    ref: Any
    kind: InputKindEnum | OutputKindEnum | str | None = None
    element_names: Any = None
    extra: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise LeappTypeError(f"TensorSemantics: name must be a string, found {type(self.name).__name__}")
        if self.extra is not None and not isinstance(self.extra, dict):
            raise LeappTypeError(f"{self._where()}: extra must be a dict, found {type(self.extra).__name__}")
        self._kind_text()
        self.element_names = self._axes()

    def to_dict(self) -> dict[str, Any]:
        """What is written to the YAML beside name, dtype, shape and type."""
        kind, axes, extra = self._fields()
        entry: dict[str, Any] = {} if kind is None else {"kind": kind}
        if axes is not None:
            entry["element_names"] = [TEMPORAL_AXIS if isinstance(axis, TemporalAxis) else axis for axis in axes]
            for axis in axes:
                if isinstance(axis, TemporalAxis):
                    entry["temporal_period_ms"] = axis.period_ms
        return entry | extra

    def _fields(self) -> tuple[str | None, list[Any] | None, dict[str, Any]]:
        """kind, names per axis and extra, in one form whatever was assigned since."""
        return self._kind_text(), self._axes(), self.extra or {}

    def _where(self) -> str:
        return f"TensorSemantics '{self.name}'"

    def _kind_text(self) -> str | None:
        kind = self.kind.value if isinstance(self.kind, Enum) else self.kind
        if kind is not None and not isinstance(kind, str):
            raise LeappTypeError(f"{self._where()}: kind must be a string or an enum, found {type(kind).__name__}")
        return kind

    def _axes(self) -> list[Any] | None:
        names = self.element_names
        if names is None:
            return None
        if isinstance(names, str):
            names = [names]
        if not isinstance(names, (list, tuple)):
            raise LeappTypeError(f"{self._where()}: element_names must be a list, found {type(names).__name__}")
        if all(isinstance(name, str) for name in names):
            names = [names]
        axes = [self._axis(i, axis) for i, axis in enumerate(names)]
        if sum(isinstance(axis, TemporalAxis) for axis in axes) > 1:
            raise LeappValueError(f"{self._where()}: element_names has more than one TemporalAxis")
        return axes

    def _axis(self, position: int, names: Any) -> Any:
        if names is None or isinstance(names, TemporalAxis):
            return names
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise LeappTypeError(
                f"{self._where()}: element_names of axis {position} must be a list of strings, None or a TemporalAxis, "
                f"found {names!r}"
            )
        if TEMPORAL_AXIS in names:
            raise LeappValueError(
                f"{self._where()}: '{TEMPORAL_AXIS}' is written for a TemporalAxis; pass one of these"
            )
        return list(names)


@dataclass
class GraphConfigs:
    """What holds for the whole pipeline: how often it steps, in Hz, and further keys of your own.

    >>> leapp.compile_graph(graph_configs=leapp.GraphConfigs(frequency=50.0, extra={"robot": "anymal"}))
    """

    frequency: float | None = None
    extra: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.frequency is not None:
            _positive("GraphConfigs: frequency", self.frequency, "Hz")
        if self.extra is not None and not isinstance(self.extra, dict):
            raise LeappTypeError(f"GraphConfigs: extra must be a dict, found {type(self.extra).__name__}")
