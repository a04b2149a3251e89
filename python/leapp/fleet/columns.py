# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Which column of an episode is which port's, and whether it fits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leapp.fleet.episodes import EpisodeError, Series
from leapp.ports import Port

__all__ = ["PortSeries", "fit", "names_for", "steps_of"]


@dataclass(frozen=True)
class PortSeries:
    """Values of a port as the runtime takes them: of every step, or one that holds for all."""

    values: np.ndarray[Any, Any]
    held: bool


def names_for(port: Port, ports: Iterable[Port], columns: Mapping[str, str], role: str) -> list[str]:
    """What a column of this port may be called, best first. The node's name may be left out where that is clear."""
    if port.name in columns:
        return [columns[port.name]]
    plain = port.name.split("/", 1)[1]
    names = [port.name, f"{role}/{port.name}"]
    if sum(other.name.split("/", 1)[1] == plain for other in ports) == 1:
        names += [plain, f"{role}/{plain}"]
    return [name for name in names if name not in columns.values()]


def _text(dtype: str, shape: Iterable[int]) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"


def _stored(dtype: str) -> np.dtype[Any]:
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def _cast(series: Series, port: Port, column: str) -> np.ndarray[Any, Any]:
    if "bfloat16" in (series.dtype, port.dtype):
        raise EpisodeError(f"{port.name}: column {column} is {series.dtype}, which is not converted to {port.dtype}")
    with np.errstate(all="ignore"):
        return series.values.astype(_stored(port.dtype))


def fit(series: Series, port: Port, column: str, cast: bool) -> PortSeries:
    """The column as values of the port; an EpisodeError names both sides."""
    values = series.values
    if series.dtype != port.dtype:
        if not cast:
            raise EpisodeError(
                f"{port.name} is {_text(port.dtype, port.shape)}, column {column} is "
                f"{_text(series.dtype, values.shape)}: --cast converts"
            )
        values = _cast(series, port, column)
    elements = math.prod(port.shape)
    held = values.shape == tuple(port.shape) and (values.ndim == 0 or values.shape[0] * elements != values.size)
    if not held and (values.ndim == 0 or math.prod(values.shape[1:]) != elements):
        raise EpisodeError(
            f"{port.name} is {_text(port.dtype, port.shape)}, which has {elements} elements in a step; "
            f"column {column} is {_text(series.dtype, values.shape)}"
        )
    return PortSeries(np.ascontiguousarray(values), held)


def steps_of(found: Mapping[str, PortSeries]) -> int:
    """How many steps there are: every column that has steps has as many."""
    lengths = {name: len(series.values) for name, series in found.items() if not series.held}
    if not lengths:
        raise EpisodeError("no column has steps")
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise EpisodeError(f"expected as many steps in every column, found {text}")
    return next(iter(lengths.values()))
