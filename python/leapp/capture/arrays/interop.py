# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Conversions between torch and NumPy that keep the trace, in force from start to stop.

Live arrays are imported when the first one is made: a program that uses none does not pay for them.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch

from leapp import _capture
from leapp.capture.patches import keep_default_devices, replace

__all__ = ["install_interop"]


def install_interop() -> None:
    """Conversions that keep the trace. Where NumPy is not loaded there is nothing to convert."""
    if "numpy" not in sys.modules:
        return
    keep_default_devices()
    _wrap(torch.Tensor, "numpy", _tensor_to_array)
    for name, make in (("from_numpy", _from_numpy), ("as_tensor", _as_tensor), ("tensor", _tensor)):
        _wrap(torch, name, make)
    numpy = sys.modules["numpy"]
    for name in ("asarray", "asanyarray", "ascontiguousarray", "array"):
        _wrap(numpy, name, functools.partial(_array, name))


def _wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    replace(owner, name, functools.wraps(original)(make(original)))


def _tensor_to_array(original: Any) -> Any:
    def numpy(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not _capture.is_live(self):
            _capture.note_escape(self, "Tensor.numpy")  # whoever has the array may write to it
            return original(self, *args, **kwargs)
        from leapp.capture.arrays import live

        array = original(self, *args, **kwargs)
        if array.ctypes.data == self.data_ptr() and not self.is_conj() and not self.is_neg():
            return live.live_view(array, self.detach())
        _capture.note_escape(self, "Tensor.numpy")
        return array

    return numpy


def _live_arrays(value: Any) -> bool:
    """Whether any is in it; cheap for what programs usually convert."""
    if isinstance(value, (list, tuple)):
        return any(_live_arrays(inner) for inner in value)
    arrays = sys.modules.get("leapp.capture.arrays.live")  # not loaded: there is none
    return arrays is not None and isinstance(value, arrays.LiveArray)


def _is_published(value: Any) -> bool:
    published = sys.modules.get("leapp.capture.arrays.published")
    return published is not None and isinstance(value, published.PublishedArray)


def _from_numpy(original: Any) -> Any:
    def from_numpy(array: Any) -> torch.Tensor:
        if not _live_arrays(array):
            return original(array)
        from leapp.capture.arrays import live

        return live.tensor_of(array)

    return from_numpy


def _as_tensor(original: Any) -> Any:
    def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> torch.Tensor:
        if not _live_arrays(data):
            return original(data, dtype=dtype, device=device)
        return _stacked(data).to(dtype=dtype, device=_or_default(device))

    return as_tensor


def _or_default(device: Any) -> Any:
    return torch.get_default_device() if device is None else device


def _tensor(original: Any) -> Any:
    def tensor(data: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        if not _live_arrays(data):
            return original(data, *args, **kwargs)
        kwargs.pop("pin_memory", None)
        requires_grad = kwargs.pop("requires_grad", False)
        kwargs["device"] = _or_default(kwargs.get("device"))
        return _stacked(data).to(*args, **kwargs, copy=True).requires_grad_(requires_grad)

    return tensor


def _stacked(data: Any) -> torch.Tensor:
    from leapp.capture.arrays import arguments, live

    return live.tensor_of(arguments.stacked(data))


def _array(name: str, original: Any) -> Any:
    copies = name == "array"

    def convert(value: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, torch.Tensor) and _capture.is_live(value):
            value = value.numpy()
        if copies and dtype is None and not args and not kwargs and _is_published(value):
            return value.copy()
        if args or not _live_arrays(value) or not _capture.is_active():
            return original(value, dtype, *args, **kwargs)
        from leapp.capture.arrays import arguments

        array: Any = arguments.stacked(value)
        fresh = array is not value
        copy, minimum = kwargs.get("copy", copies), kwargs.get("ndmin", 0)
        if dtype is not None and array.dtype != dtype:
            array, fresh = array.astype(dtype), True
        if name == "ascontiguousarray" and not array.flags.c_contiguous:
            array, fresh = array.copy(), True
        if copy and not fresh:
            array = array.copy()
        array._scalar = False
        return array.reshape((1,) * (minimum - array.ndim) + array.shape) if array.ndim < minimum else array

    return convert
