# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a node hands out in an array's place: an ordinary array, but a copy of it is known to be one."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from leapp import _capture
from leapp.capture.arrays.live import LiveArray, array_over, live_view, plain, to_array, to_tensor

__all__ = ["PublishedArray", "forget", "mirrored", "published"]

_kept: list[torch.Tensor] = []  # of arrays that were said to hold an output: its trace is found by their memory


class PublishedArray(np.ndarray):
    """Between nodes, a copy draws the edge that the array itself would. Everything else is plain NumPy."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_ordinary(inputs), **_ordinary(kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.copy and args and isinstance(args[0], PublishedArray):
            return args[0].copy(*args[1:2], **{key: kwargs[key] for key in kwargs if key == "order"})
        return func(*_ordinary(args), **_ordinary(kwargs))

    def copy(self, order: Any = "C") -> Any:
        """By torch, which capture sees."""
        if not _capture.is_active() or order not in ("C", "K", "A") or (order != "C" and not self.flags.c_contiguous):
            return plain(self).copy(order)
        tensor = to_tensor(plain(self)).clone(memory_format=torch.contiguous_format)
        return published(array_over(tensor))

    def astype(self, dtype: Any, order: Any = "K", *args: Any, **kwargs: Any) -> Any:
        if np.dtype(dtype) == self.dtype and order == "K" and not args and kwargs.get("copy", True):
            return self.copy()
        return plain(self).astype(dtype, order, *args, **kwargs)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        return plain(self).__reduce__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return plain(self).__reduce_ex__(protocol)


def published(array: np.ndarray[Any, Any]) -> PublishedArray:
    return np.ndarray.view(array, PublishedArray)


def mirrored(array: np.ndarray[Any, Any], tensor: torch.Tensor) -> Any:
    """`array`, which was said to go on with somebody's trace. `tensor`: on its memory, if torch can have that."""
    if tensor.data_ptr() != array.ctypes.data:
        array = to_array(tensor)
    _kept.append(tensor)
    if isinstance(array, LiveArray):
        return array
    return live_view(array, tensor) if _capture.is_live(tensor) else published(array)


def forget() -> None:
    _kept.clear()


def _ordinary(value: Any) -> Any:
    if isinstance(value, PublishedArray):
        return plain(value)
    if isinstance(value, dict):
        return {key: _ordinary(inner) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_ordinary(inner) for inner in value)
    return value
