# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""One function for each Kind, which makes the TensorSemantics of a tensor of that kind.

>>> annotate.input_tensors("controller", [joint_position("q", q), joint_position("target", target, is_setpoint=True)])
>>> annotate.output_tensors("controller", joint_effort("effort", effort), export_with="jit")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from leapp.axes import Axis, AxisKind, ExpressionFrame
from leapp.errors import LeappTypeError, LeappValueError
from leapp.kinds import Kind
from leapp.semantics import TensorSemantics

__all__ = [
    "frame_acceleration",
    "frame_angular_acceleration",
    "frame_angular_velocity",
    "frame_linear_acceleration",
    "frame_linear_velocity",
    "frame_orientation",
    "frame_pose",
    "frame_position",
    "frame_twist",
    "frame_wrench",
    "image",
    "joint_effort",
    "joint_position",
    "joint_velocity",
    "kd",
    "kp",
    "vector3d",
]

Axes = Sequence[Axis | None] | None

_COMPONENTS = {Kind.FRAME_TWIST: ("vx", "vy", "vz", "wx", "wy", "wz")}


def _check_components(made: TensorSemantics, kind: Kind) -> TensorSemantics:
    expected = _COMPONENTS.get(kind)
    for axis in made.axes or ():
        if expected is None or axis is None or axis.names is None:
            continue
        is_component = axis.kind in (AxisKind.COMPONENT, AxisKind.COMPONENT.value)
        if is_component and sorted(axis.names) != sorted(expected):
            raise LeappValueError(
                f"TensorSemantics '{made.name}': the components of {kind.value} are {', '.join(expected)}, in any "
                f"order; found {', '.join(axis.names)}"
            )
    return made


def _plain(kind: Kind) -> Callable[..., TensorSemantics]:
    def make(name: str, ref: Any, *, axes: Axes = None, is_setpoint: bool = False) -> TensorSemantics:
        return TensorSemantics(name, ref, kind, axes=axes, is_setpoint=is_setpoint)

    return _named(make, kind)


def _placed(kind: Kind) -> Callable[..., TensorSemantics]:
    def make(name: str, ref: Any, *, reference: str, axes: Axes = None, is_setpoint: bool = False) -> TensorSemantics:
        _require(kind, reference)
        return TensorSemantics(name, ref, kind, axes=axes, is_setpoint=is_setpoint, reference=reference)

    return _named(make, kind)


def _moving(kind: Kind) -> Callable[..., TensorSemantics]:
    def make(
        name: str,
        ref: Any,
        *,
        reference: str,
        expressed_in: ExpressionFrame | str = ExpressionFrame.SELF,
        axes: Axes = None,
        is_setpoint: bool = False,
    ) -> TensorSemantics:
        _require(kind, reference)
        made = TensorSemantics(name, ref, kind, axes=axes, is_setpoint=is_setpoint, reference=reference)
        made.expressed_in = expressed_in
        return _check_components(made, kind)

    return _named(make, kind)


def _require(kind: Kind, reference: Any) -> None:
    if not isinstance(reference, str):
        raise LeappTypeError(f"{_function_name(kind)}: reference must be the name of a frame, found {reference!r}")


def _function_name(kind: Kind) -> str:
    return kind.value.replace("/", "_")


def _named(make: Callable[..., TensorSemantics], kind: Kind) -> Callable[..., TensorSemantics]:
    make.__name__ = make.__qualname__ = _function_name(kind)
    make.__module__ = __name__
    make.__doc__ = f'A tensor of the kind "{kind.value}".'
    return make


def frame_wrench(
    name: str,
    ref: Any,
    *,
    expressed_in: ExpressionFrame | str = ExpressionFrame.SELF,
    axes: Axes = None,
    is_setpoint: bool = False,
) -> TensorSemantics:
    """A tensor of the kind "frame/wrench"; moments are about the origin of the element's frame."""
    return TensorSemantics(name, ref, Kind.FRAME_WRENCH, axes=axes, is_setpoint=is_setpoint, expressed_in=expressed_in)


joint_position = _plain(Kind.JOINT_POSITION)
joint_velocity = _plain(Kind.JOINT_VELOCITY)
joint_effort = _plain(Kind.JOINT_EFFORT)
frame_pose = _placed(Kind.FRAME_POSE)
frame_position = _placed(Kind.FRAME_POSITION)
frame_orientation = _placed(Kind.FRAME_ORIENTATION)
frame_twist = _moving(Kind.FRAME_TWIST)
frame_linear_velocity = _moving(Kind.FRAME_LINEAR_VELOCITY)
frame_angular_velocity = _moving(Kind.FRAME_ANGULAR_VELOCITY)
frame_acceleration = _moving(Kind.FRAME_ACCELERATION)
frame_linear_acceleration = _moving(Kind.FRAME_LINEAR_ACCELERATION)
frame_angular_acceleration = _moving(Kind.FRAME_ANGULAR_ACCELERATION)
vector3d = _plain(Kind.VECTOR3D)
kp = _plain(Kind.KP)
kd = _plain(Kind.KD)
image = _plain(Kind.IMAGE)
