# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What tensors mean to whoever deploys the pipeline; written beside the ports in the YAML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from enum import Enum
from typing import Any

from leapp.axes import Axis, ExpressionFrame, check_axes, check_positive, frame_entry
from leapp.errors import LeappTypeError, LeappValueError
from leapp.kinds import InputKindEnum, Kind, OutputKindEnum

__all__ = ["TEMPORAL_AXIS", "GraphConfigs", "TemporalAxis", "TensorSemantics"]

TEMPORAL_AXIS = "__temporal_axis__"
_IN_OWN_FRAME = (Kind.FRAME_TWIST.value, Kind.FRAME_WRENCH.value)


@dataclass(frozen=True)
class TemporalAxis:
    """Marks an axis in ``element_names`` as a row of moments, ``period_ms`` apart.

    >>> TensorSemantics("history", history, element_names=[TemporalAxis(20.0), ["hip", "knee"]])
    """

    period_ms: float

    def __post_init__(self) -> None:
        check_positive("TemporalAxis: period_ms", self.period_ms, "milliseconds")


@dataclass
class TensorSemantics:
    """A named tensor and what it means. Pass one, or a list of them, in the place of a dict of tensors.

    ``kind`` is a ``Kind``, an ``InputKindEnum``, an ``OutputKindEnum`` or any string. ``element_names`` names the
    elements along each axis: a list of names or ``None`` per axis, one of them may be a ``TemporalAxis``; a flat list
    of names, or one name, stands for a single axis. ``extra`` has further keys for the port's entry in the YAML.

    ``axes`` says the same as ``element_names`` and more: an ``Axis`` or ``None`` per dimension. ``is_setpoint``: an
    input that is wanted, not measured. ``reference``: the frame against which a pose or motion is measured.
    ``expressed_in``: the frame of its numbers, by name or as an ``ExpressionFrame``.

    >>> q = TensorSemantics("q", torch.zeros(2), kind=InputKindEnum.JOINT_POSITION, element_names=["hip", "knee"])
    >>> q.to_dict()
    {'kind': 'state/joint/position', 'element_names': [['hip', 'knee']]}
    """

    name: str | None = None
    ref: Any = None
    kind: InputKindEnum | OutputKindEnum | Kind | str | None = None
    element_names: Any = None
    temporal_period_ms: float | None = field(default=None, init=False)
    extra: dict[str, Any] | None = None
    _: KW_ONLY
    axes: Sequence[Axis | None] | None = None
    is_setpoint: bool = False
    reference: str | None = None
    expressed_in: ExpressionFrame | str | None = None

    def __post_init__(self) -> None:
        """Bring the fields into one form, and refuse what cannot be meant."""
        if self.name is not None and not isinstance(self.name, str):
            raise LeappTypeError(f"TensorSemantics: name must be a string, found {type(self.name).__name__}")
        kind = self._kind_text()
        if self.expressed_in is None and kind in _IN_OWN_FRAME:
            self.expressed_in = ExpressionFrame.SELF
        self._normalise()

    def to_dict(self) -> dict[str, Any]:
        """What is written to the YAML beside name, dtype, shape and type."""
        built_in, extra = self._fields()
        return built_in | extra

    def update(self, values: dict[str, Any]) -> None:
        """Set fields by name; what is no field goes to ``extra``.

        >>> q.update({"kind": "state/joint/effort", "unit": "Nm"})
        """
        known = {each.name for each in fields(self)} - {"name", "ref"}
        for key in known & values.keys():
            setattr(self, key, values[key])
        others = {key: value for key, value in values.items() if key not in known}
        if others:
            self.extra = {**(self.extra or {}), **others}
        self._normalise()

    def _fields(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The keys that the compiled half has a table of, and all others, in one form whatever was assigned since."""
        self._normalise()
        temporal = TEMPORAL_AXIS in (self.element_names or ())
        built_in = {
            "kind": self._kind_text(),
            "element_names": self.element_names,
            "temporal_period_ms": self.temporal_period_ms if temporal else None,
        }
        return {key: value for key, value in built_in.items() if value is not None}, self._structure()

    def _normalise(self) -> None:
        if self.extra is not None and not isinstance(self.extra, dict):
            raise LeappTypeError(f"{self._where()}: extra must be a dict, found {type(self.extra).__name__}")
        self._kind_text()
        self.element_names = self._axes()
        if self.axes is not None:
            if self.element_names is not None:
                raise LeappValueError(f"{self._where()}: axes and element_names say the same; give one of the two")
            check_axes(self._where(), self.axes, getattr(self.ref, "shape", None))
        for name, value in (("reference", self.reference), ("expressed_in", self.expressed_in)):
            accepted = (str, ExpressionFrame) if name == "expressed_in" else str
            if value is not None and not isinstance(value, accepted):
                raise LeappTypeError(f"{self._where()}: {name} must be a string, found {type(value).__name__}")
        if self.expressed_in is ExpressionFrame.REFERENCE and self.reference is None:
            raise LeappValueError(f"{self._where()}: expressed_in is the reference frame, but there is no reference")

    def _structure(self) -> dict[str, Any]:
        """The keys that came with config version 1.4, and the user's own."""
        entry: dict[str, Any] = {}
        if self.is_setpoint:
            entry["is_setpoint"] = True
        if self.reference is not None:
            entry["reference"] = self.reference
        if self.expressed_in is not None:
            entry["expressed_in"] = frame_entry(self.expressed_in)
        if self.axes is not None:
            entry["axes"] = [None if axis is None else axis.to_dict() for axis in self.axes]
        for key in self.extra or {}:
            if key in entry:
                raise LeappValueError(f"{self._where()}: extra has '{key}', which is also a field that is set")
        return entry | (self.extra or {})

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
        names = [names] if isinstance(names, (str, TemporalAxis)) else names
        if not isinstance(names, (list, tuple)):
            raise LeappTypeError(f"{self._where()}: element_names must be a list, found {type(names).__name__}")
        periods = [axis.period_ms for axis in names if isinstance(axis, TemporalAxis)]
        if len(periods) > 1:
            raise LeappValueError(f"{self._where()}: element_names has more than one TemporalAxis")
        self.temporal_period_ms = periods[0] if periods else self.temporal_period_ms
        # Names that were brought into form before have the sign of the temporal axis, and its period is known.
        kept = self.temporal_period_ms is not None and not periods and list(names).count(TEMPORAL_AXIS) == 1
        if not (kept and len(names) == 1) and all(isinstance(name, str) for name in names):
            names = [names]
        return [axis if kept and axis == TEMPORAL_AXIS else self._axis(i, axis) for i, axis in enumerate(names)]

    def _axis(self, position: int, names: Any) -> Any:
        if names is None:
            return None
        if isinstance(names, TemporalAxis):
            return TEMPORAL_AXIS
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
            check_positive("GraphConfigs: frequency", self.frequency, "Hz")
        if self.extra is not None and not isinstance(self.extra, dict):
            raise LeappTypeError(f"GraphConfigs: extra must be a dict, found {type(self.extra).__name__}")

    def to_dict(self) -> dict[str, Any]:
        """What is written to ``pipeline.configs``."""
        return ({} if self.frequency is None else {"frequency": self.frequency}) | (self.extra or {})
