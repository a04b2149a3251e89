# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Which column of an episode is which port's, and whether it fits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leapp.fleet.episodes import EpisodeError, Series
from leapp.runtime.ports import Port

__all__ = ["PortSeries", "fit", "names_for", "plain_name", "steps_of"]


@dataclass(frozen=True)
class PortSeries:
    """Values of a port as the runtime takes them: of every step, or one that holds for all."""

    values: np.ndarray[Any, Any]
    held: bool


def plain_name(port: Port) -> str:
    """Without its node's."""
    return port.name.split("/", 1)[1]


def names_for(ports: Mapping[str, Sequence[Port]], columns: Mapping[str, str]) -> dict[tuple[str, str], list[str]]:
    """What a column of each port may be called, best first, by the port's role and name. ``ports``: all of the bundle
    by role. The node's name may be left out where only one port is called so, or only one of the role that is named.
    """
    plain_names = {role: Counter(map(plain_name, of_role)) for role, of_role in ports.items()}
    everywhere: Counter[str] = sum(plain_names.values(), Counter())
    taken = set(columns.values())

    def names_of(role: str, port: Port) -> list[str]:
        if port.name in columns:
            return [columns[port.name]]
        names, plain = [port.name, f"{role}/{port.name}"], plain_name(port)
        if plain_names[role][plain] == 1:
            names.append(f"{role}/{plain}")
            if everywhere[plain] == 1:
                names.insert(2, plain)
        return [name for name in names if name not in taken]

    return {(role, port.name): names_of(role, port) for role, of_role in ports.items() for port in of_role}


def _text(dtype: str, shape: Iterable[int]) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"


def _stored(dtype: str) -> np.dtype[Any]:
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def _widened(series: Series) -> np.ndarray[Any, Any]:
    if series.dtype != "bfloat16":
        return series.values
    return (series.values.astype(np.uint32) << 16).view(np.float32)


def _to_bfloat16(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rounded to nearest, to even where two are as near."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def _cast(series: Series, port: Port, column: str) -> np.ndarray[Any, Any]:
    """Numbers may be rounded to what a float can hold; what a port cannot hold at all is an error."""
    values = _widened(series)
    with np.errstate(all="ignore"):
        if port.dtype == "bfloat16":
            cast = _to_bfloat16(values)
            lost = np.isfinite(values) & ((cast & 0x7FFF) == 0x7F80)
        else:
            cast = values.astype(_stored(port.dtype))
            same = cast.astype(values.dtype) == values
            lost = ~same if cast.dtype.kind != "f" else np.isfinite(values) & ~np.isfinite(cast)
    if lost.any():
        at = tuple(int(place) for place in np.argwhere(lost)[0])
        raise EpisodeError(
            f"{port.name} is {port.dtype}, which cannot hold {values[at]}: column {column}, which is {series.dtype}, "
            f"at {list(at)}"
        )
    return np.ascontiguousarray(cast)


def fit(series: Series, port: Port, column: str, cast: bool, by_step: bool) -> PortSeries:
    """The column as values of the port; an EpisodeError names both sides. ``by_step``: it has a value for each step,
    whatever its shape.
    """
    values = series.values
    if series.dtype != port.dtype:
        if not cast or values.dtype.kind not in "biuf":
            how = ": --cast converts" if values.dtype.kind in "biuf" else ", which is not converted"
            raise EpisodeError(
                f"{port.name} is {_text(port.dtype, port.shape)}, column {column} is "
                f"{_text(series.dtype, values.shape)}{how}"
            )
        values = _cast(series, port, column)
    elements = math.prod(port.shape)
    held = values.shape == tuple(port.shape) and (values.ndim == 0 or values.shape[0] * elements != values.size)
    held = held and not by_step
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
