# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays that are recorded: an ndarray over a tensor's memory whose work is done a second time by torch.

NumPy computes every value, so a program gets the bits it gets without LEAPP; torch computes it too, which is what the
hook records. A view is NumPy's own: the memory it shows says which tensor it is.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from leapp import _capture
from leapp.errors import LeappTypeError

__all__ = ["LiveArray", "to_array", "to_tensor"]


def to_tensor(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """The tensor over an array's memory; a copy where torch has no such tensor (read-only, negative strides)."""
    if isinstance(array, LiveArray):
        return tensor_of(array)
    try:
        if array.flags.writeable and all(stride >= 0 for stride in array.strides):
            return torch.from_numpy(array)
        return torch.from_numpy(array.copy())
    except (TypeError, ValueError) as error:
        raise LeappTypeError(f"an array of {array.dtype}{list(array.shape)} cannot be recorded: {error}") from error


def to_array(tensor: torch.Tensor) -> LiveArray:
    """The array over a tensor's memory. What is computed with it while a session is active, torch computes too."""
    return live_view(array_over(tensor), tensor)


def array_over(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """What Tensor.numpy gives when it is no patch, which comes back here, also through a mode (a default device)."""
    with torch._C.DisableTorchFunction():
        array: np.ndarray[Any, Any] = torch._C.TensorBase.numpy(tensor)
    return array


def on_the_cpu(run: Callable[..., Any]) -> Callable[..., Any]:
    """What arrays are computed with is made where they are, whatever the program's default device."""

    @functools.wraps(run)
    def within(*args: Any, **kwargs: Any) -> Any:
        if torch._C._len_torch_function_stack() == 0:  # no default but the CPU
            return run(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            return run(*args, **kwargs)

    return within


def live_view(array: np.ndarray[Any, Any], source: torch.Tensor | None, scalar: bool = False) -> LiveArray:
    live = np.ndarray.view(array, LiveArray)
    live._source = source
    live._scalar = scalar
    return live


def plain(array: Any) -> np.ndarray[Any, Any]:
    """The same memory as an ordinary array."""
    return np.ndarray.view(array, np.ndarray)


def tensor_of(array: LiveArray) -> torch.Tensor:
    """The tensor whose value the array shows."""
    tensor = memory_of(array)
    backwards = _backwards(array)
    return tensor.flip(backwards) if backwards else tensor


def memory_of(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """A tensor on the array's memory; axes with negative strides, which torch does not have, run forwards."""
    forwards = plain(array)
    if _backwards(array):
        forwards = forwards[tuple(slice(None, None, -1) if stride < 0 else slice(None) for stride in array.strides)]
    source = array._source if isinstance(array, LiveArray) else None
    size = forwards.itemsize
    if (
        source is None
        or not _inside(source, forwards)
        or source.dtype != torch_dtype(forwards.dtype)
        or any(stride % size for stride in forwards.strides)
    ):
        return _on_memory(forwards)  # recognised by its address, if it is live
    strides = tuple(stride // size for stride in forwards.strides)
    distance = forwards.ctypes.data - source.data_ptr()
    if distance == 0 and forwards.shape == tuple(source.shape) and strides == source.stride():
        return source
    return torch.as_strided(source, forwards.shape, strides, source.storage_offset() + distance // size)


def _on_memory(array: np.ndarray[Any, Any]) -> torch.Tensor:
    torch_dtype(array.dtype)  # refuses objects, text and times in our words
    # An array that NumPy broadcast is read-only, and torch would warn.
    return torch.from_numpy(array if array.flags.writeable else array.copy())


@functools.lru_cache(maxsize=64)
def torch_dtype(dtype: np.dtype[Any]) -> torch.dtype:
    try:
        return torch.from_numpy(np.empty(0, dtype)).dtype
    except TypeError as error:
        raise LeappTypeError(f"values of {dtype} cannot be recorded: {error}") from error


def _backwards(array: np.ndarray[Any, Any]) -> list[int]:
    return [axis for axis, stride in enumerate(array.strides) if stride < 0]


def _inside(source: torch.Tensor, array: np.ndarray[Any, Any]) -> bool:
    storage = source.untyped_storage()
    low, high = np.lib.array_utils.byte_bounds(array)
    return bool(storage.data_ptr() <= low and high <= storage.data_ptr() + storage.nbytes())


def store(destination: np.ndarray[Any, Any], value: torch.Tensor, expected: Any) -> None:
    """Write `value` by torch and `expected`, which is the same up to rounding, by NumPy."""
    if not destination.flags.writeable:
        raise ValueError("assignment destination is read-only")
    memory = memory_of(destination)
    if value.ndim > memory.ndim:  # NumPy drops leading axes of one element
        value = value.reshape(value.shape[value.ndim - memory.ndim :])
    backwards = _backwards(destination)
    memory.copy_(value.expand(memory.shape).flip(backwards) if backwards else value)
    np.copyto(plain(destination), expected, casting="unsafe")
    if not isinstance(destination, LiveArray):
        _capture.note_escape(memory, "a write into an ordinary NumPy array")


class LiveArray(np.ndarray):
    """An array whose value may depend on a node's inputs. Made by ``annotate.input_tensors`` and ``Tensor.numpy``."""

    _source: torch.Tensor | None = None  # of the same memory, or of memory that this is a part of
    _scalar: bool = False  # stands for what would be a NumPy scalar: `s += 1` makes another one

    def __array_finalize__(self, made_from: Any) -> None:
        if not isinstance(made_from, LiveArray):
            return
        self._source = made_from._source
        if self._source is not None and self.size and not _inside(self._source, plain(self)):
            self._source = None
            made_from._escapes("a copy that NumPy made")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from leapp.capture.arrays.functions import run_ufunc

        return run_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from leapp.capture.arrays.functions import run_function

        return run_function(func, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        from leapp.capture.arrays.indexing import get_item

        return get_item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        from leapp.capture.arrays.indexing import set_item

        set_item(self, index, value)

    def _escapes(self, how: str) -> np.ndarray[Any, Any]:
        """Notice that values leave, and give them."""
        if _capture.is_active():
            _capture.note_escape(memory_of(self), how)
        return plain(self)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        found = np.ndarray.view(self, *args, **kwargs)
        if not isinstance(found, LiveArray):
            self._escapes("ndarray.view")
        return found

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __copy__(self) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        return self._escapes("pickle").__reduce__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._escapes("pickle").__reduce_ex__(protocol)

    def __contains__(self, value: Any) -> bool:
        return value in self._escapes("in")

    def __format__(self, spec: str) -> str:
        found = self._escapes("format")
        return format(found[()] if self._scalar else found, spec)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("flat", "data", "real", "imag") and _capture.is_active():
            raise LeappTypeError(f"ndarray.{name} cannot be assigned while it is recorded: write `x[...] = value`")
        super().__setattr__(name, value)


def _imag(array: LiveArray) -> Any:
    """Of real numbers NumPy makes zeros, by a copy."""
    return np.ndarray.imag.__get__(array if np.iscomplexobj(array) else plain(array))


def _flat(array: LiveArray) -> Any:
    if _capture.is_active() and _capture.is_live(memory_of(array)):
        raise LeappTypeError("ndarray.flat cannot be recorded: use ravel()")
    return plain(array).flat


def _escaping(name: str, original: Any) -> Any:
    def escaping(self: LiveArray, *args: Any, **kwargs: Any) -> Any:
        return original(self._escapes(f"ndarray.{name}"), *args, **kwargs)

    return escaping


def _decides(self: LiveArray) -> bool:
    """A truth: which way the program goes is seen as it is with tensors."""
    if self.size != 1 or not _capture.in_node():
        return bool(self._escapes("ndarray.__bool__"))
    return bool(tensor_of(self))


def _item(self: LiveArray, *args: Any) -> Any:
    if self.size != 1 or args or not _capture.in_node():
        return self._escapes("ndarray.item").item(*args)
    return tensor_of(self).item()


def _method(name: str) -> Any:
    def method(self: LiveArray, *args: Any, **kwargs: Any) -> Any:
        from leapp.capture.arrays.functions import run_method

        return run_method(self, name, args, kwargs)

    return method


def _in_place(symbol: str) -> Any:
    """A scalar is not changed: `s += 1` gives the name another one."""
    change, compute = getattr(np.ndarray, f"__i{symbol}__"), getattr(operator, f"__{symbol}__")

    def in_place(self: LiveArray, other: Any) -> Any:
        return compute(self, other) if self._scalar else change(self, other)

    return in_place


def _fill_class() -> None:
    LiveArray.__bool__ = _decides  # type: ignore[assignment, method-assign]
    LiveArray.item = _item  # type: ignore[assignment, method-assign]
    escapes = "__float__ __int__ __complex__ __index__ __str__ __repr__ tolist tobytes tofile dump dumps"
    for name in escapes.split():
        setattr(LiveArray, name, _escaping(name, getattr(np.ndarray, name)))
    for name in ["data", "ctypes", "__array_interface__", "__array_struct__"]:
        setattr(LiveArray, name, property(_escaping(name, lambda array, name=name: getattr(array, name))))
    for name, getter in (("imag", _imag), ("flat", _flat)):
        setattr(LiveArray, name, property(getter))
    methods = (
        "all any argmax argmin argpartition argsort astype byteswap choose clip compress conj conjugate copy cumprod "
        "cumsum diagonal dot fill flatten getfield max mean min nonzero partition prod put ravel repeat resize round "
        "searchsorted setfield sort squeeze std sum swapaxes take trace transpose reshape var"
    )
    for name in methods.split():
        setattr(LiveArray, name, _method(name))
    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
        "matmul",
    ]:
        setattr(LiveArray, f"__i{name}__", _in_place(name))


_fill_class()
