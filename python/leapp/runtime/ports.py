# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Ports of a loaded bundle, and arrays in the order of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leapp import _runtime

__all__ = ["NameMap", "Port"]


@dataclass(frozen=True)
class Port:
    """A port of a pipeline and what the bundle says of it.

    >>> q = manager.input_by_kind("state/joint/position")
    >>> q.name, q.dtype, q.shape, q.element_names
    ('policy/q', 'float32', (1, 2), (None, ('hip', 'knee')))

    ``role`` is "input", "output" or "feedback"; ``element_names`` has an entry for each axis; ``temporal_axis`` is the
    axis whose places are moments, ``temporal_period_ms`` apart; ``frequency`` is the bundle's, in Hz.
    """

    name: str
    node: str
    role: str
    kind: str | None
    dtype: str
    shape: tuple[int, ...]
    element_names: tuple[tuple[str, ...] | None, ...]
    temporal_axis: int | None
    temporal_period_ms: float | None
    frequency: float | None
    extra: dict[str, Any]


class NameMap:
    """Arrays in the robot's order to arrays in a port's, and back.

    >>> q = NameMap(manager.input_by_kind("state/joint/position"), -1, robot.joint_names)
    >>> target = NameMap(manager.output_by_kind("target/joint/position"), -1, robot.joint_names)
    >>> outputs = manager({"policy/q": q.to_port(robot.positions)})
    >>> robot.drive(target.from_port(outputs["policy/target"]))

    What is in the port is ``sign * scale * robot + offset``, each a number for each of the robot's names; the way back
    is the inverse, so that one description of the robot serves observations and targets.
    """

    def __init__(
        self,
        port: Port,
        axis: int,
        robot_names: Sequence[str],
        *,
        scale: Sequence[float] = (),
        offset: Sequence[float] = (),
        sign: Sequence[float] = (),
    ) -> None:
        """Match the names along an axis of the port, which may count from the end, with the robot's.

        Raises a ValueError with the names of both sides when one is missing, unknown or there twice.
        """
        self._map = _runtime.NameMap(
            port.name,
            port.dtype,
            list(port.shape),
            [None if names is None else list(names) for names in port.element_names],
            axis,
            list(robot_names),
            [float(number) for number in scale],
            [float(number) for number in offset],
            [float(number) for number in sign],
        )

    def to_port(self, robot: Any) -> Any:
        """Give an array of the port's dtype and shape. ``robot`` has as many numbers, of any dtype and shape."""
        return self._map.to_port(robot)

    def from_port(self, value: Any) -> Any:
        """Give the port's numbers in the robot's order, as float32, or float64 where the port has more digits."""
        return self._map.from_port(value)
