# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a NumPy function that has live arrays among them: for NumPy, and for torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch._numpy as tnp

from leapp import _capture
from leapp.capture.arrays.live import LiveArray, array_over, live_view, memory_of, plain, tensor_of

Call = Callable[..., Any]

_TAKE_SEQUENCES = frozenset(
    ["column_stack", "concatenate", "dstack", "hstack", "multi_dot", "select", "stack", "vstack"]
)


def map_leaves(function: Call, value: Any) -> Any:
    """`function` of every leaf of lists, tuples and dicts."""
    if isinstance(value, dict):
        return {key: map_leaves(function, inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return rebuilt(value, [map_leaves(function, inner) for inner in value])
    return function(value)


def rebuilt(like: Any, values: list[Any]) -> Any:
    return type(like)(*values) if hasattr(like, "_fields") else type(like)(values)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def live_arrays(value: Any) -> list[LiveArray]:
    return [leaf for leaf in leaves(value) if isinstance(leaf, LiveArray)]


def ordinary(value: Any) -> Any:
    """For NumPy: what stands for a scalar is one."""
    if isinstance(value, LiveArray):
        return plain(value)[()] if value._scalar else plain(value)
    return value


def constant(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """An ordinary array among the arguments. Copied, since NumPy may write to it later and nobody would notice."""
    memory = memory_of(array) if array.flags.writeable else None
    if memory is not None and _capture.is_live(memory):
        return tensor_of(live_view(array, None))
    return torch.from_numpy(array.copy())


def recorded(value: Any) -> Any:
    """For torch._numpy."""
    if isinstance(value, LiveArray):
        return tnp.ndarray(tensor_of(value))
    if isinstance(value, torch.Tensor):
        return tnp.ndarray(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return tnp.ndarray(constant(np.asarray(value)))
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    return value


def arguments_of(name: str, args: Any) -> list[Any]:
    if name.rpartition(".")[2] not in _TAKE_SEQUENCES:
        return [argument_of(value) for value in args]
    return [[argument_of(inner) for inner in value] if isinstance(value, (list, tuple)) else value for value in args]


def argument_of(value: Any) -> Any:
    """A list with live arrays in it is an array: torch._numpy would read the numbers."""
    if isinstance(value, (list, tuple)):
        return recorded(stacked(value)) if live_arrays(value) else map_leaves(recorded, value)
    return recorded(value)


def is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def as_index(part: Any) -> Any:
    """One part of an index, for torch. A live integer becomes a list of one: torch would read its value."""
    if isinstance(part, list):
        arrays = live_arrays(part)
        part = np.stack([np.asanyarray(p) for p in part]) if arrays else np.asarray(part, dtype=None if part else int)
    if isinstance(part, torch.Tensor) or (is_array(part) and not isinstance(part, np.generic)):
        tensor = part if isinstance(part, torch.Tensor) else recorded(part).tensor
        tensor = tensor if tensor.dtype == torch.bool else tensor.to(torch.int64)
        return tensor.reshape(1) if tensor.ndim == 0 and tensor.dtype != torch.bool else tensor
    return part


def stacked(value: Any) -> LiveArray:
    """Nested lists that have live arrays in them, as one live array."""
    if isinstance(value, LiveArray):
        return value
    if isinstance(value, (list, tuple)):
        return np.stack([stacked(inner) for inner in value])  # type: ignore[return-value]
    tensor = value if isinstance(value, torch.Tensor) else torch.from_numpy(np.array(value))
    return live_view(array_over(tensor), tensor)
