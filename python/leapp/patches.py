# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that are replaced from start to stop: the caller's (`patching=`), and those between torch and NumPy."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from leapp import _capture
from leapp.errors import LeappTypeError, LeappValueError

__all__ = ["FunctionPatch", "install_patches", "remove_patches"]

_undo: list[Callable[[], None]] = []


@dataclass(frozen=True)
class FunctionPatch:
    """Replace a function where it is given live values. `module`: a module, a class, any object, or a dotted name.

    From start to stop, a call that has a live tensor or array among its arguments (also inside lists, tuples and dicts)
    goes to `replacement`; every other call goes to the function itself. Not in force with ``global_patching=False``.

    >>> leapp.start("walk", patching=[leapp.FunctionPatch("envs.noise", "sample", torch.zeros_like)])
    """

    module: Any
    function_name: str
    replacement: Callable[..., Any]

    def __post_init__(self) -> None:
        if not isinstance(self.function_name, str):
            raise LeappTypeError(
                f"FunctionPatch: function_name must be a string, found {type(self.function_name).__name__}"
            )
        if not callable(self.replacement):
            raise LeappTypeError(
                f"FunctionPatch: the replacement of '{self.function_name}' must be callable, "
                f"found {type(self.replacement).__name__}"
            )


def check_patches(patches: Any) -> list[tuple[Any, FunctionPatch]]:
    """The owner of each function and its patch. Nothing is changed yet."""
    if not isinstance(patches, (list, tuple)):
        raise LeappTypeError(f"patching must be a list of FunctionPatch, found {type(patches).__name__}")
    found = [(_owner(patch), patch) for patch in patches]
    targets = set()
    for owner, patch in found:
        target = (id(owner), patch.function_name)
        if target in targets:
            raise LeappValueError(f"patching: '{_name_of(owner)}.{patch.function_name}' is replaced twice")
        targets.add(target)
    return found


def install_patches(patches: Sequence[FunctionPatch] | None) -> None:
    """Put the patches in force, all or none."""
    before = len(_undo)
    try:
        for owner, patch in check_patches(patches or []):
            replace(owner, patch.function_name, _where_live(owner, patch))
    except BaseException:
        while len(_undo) > before:
            _undo.pop()()
        raise


def _where_live(owner: Any, patch: FunctionPatch) -> Any:
    """Calls the replacement or the function, and is to the class what the function was."""
    kept = inspect.getattr_static(owner, patch.function_name)
    # Of a class, a class method has its class among the arguments; of an object, everything is bound already.
    of_class = isinstance(owner, type) and isinstance(kept, classmethod)
    original = kept.__func__ if of_class else getattr(owner, patch.function_name)

    def chosen(*args: Any, **kwargs: Any) -> Any:
        live = _has_live(args) or _has_live(kwargs)
        return patch.replacement(*args, **kwargs) if live else original(*args, **kwargs)

    with contextlib.suppress(AttributeError):  # an object that can be called need not have a name
        functools.update_wrapper(chosen, original)
    if of_class:
        return classmethod(chosen)
    return staticmethod(chosen) if isinstance(owner, type) and isinstance(kept, staticmethod) else chosen


def _has_live(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return _capture.is_live(value)
    if isinstance(value, dict):
        return any(_has_live(inner) for inner in value.values())
    if isinstance(value, (list, tuple)):
        return any(_has_live(inner) for inner in value)
    arrays = sys.modules.get("leapp.arrays")  # not loaded: there is no live array
    if arrays is None or not isinstance(value, arrays.LiveArray):
        return False
    return _capture.is_live(arrays.memory_of(value))


def remove_patches() -> None:
    """Undo them, the last one first. May be called at any time; one that fails keeps no other."""
    all_known = False
    try:
        with contextlib.ExitStack() as undo:
            for one in _undo:
                undo.callback(surely, one)
            all_known = True
    finally:
        if all_known:  # each may be undone twice, but Ctrl-C must not have one forgotten
            _undo.clear()


def surely(undo: Callable[[], object]) -> None:
    """Calls it, and once more if Ctrl-C comes in between. REQUIRES: twice is as good as once."""
    try:
        undo()
    except Exception:
        raise
    except BaseException:
        undo()
        raise


def at_removal(undo: Callable[[], None]) -> None:
    """Calls it when the patches are removed; perhaps twice."""
    _undo.append(undo)


def replace(owner: Any, name: str, replacement: Any) -> None:
    """Until remove_patches, or until someone else replaces it."""
    inherited = name not in _members(owner)
    # As it is kept, not as it is read: a staticmethod must stay one.
    original = getattr(owner, name) if inherited else _members(owner)[name]

    scripted = torch.jit._builtins._find_builtin(original)

    def undo() -> None:
        if scripted is not None:
            torch.jit._builtins._get_builtin_table().pop(id(replacement), None)
        if _members(owner).get(name) is not replacement:
            return  # somebody else's by now
        if inherited:
            delattr(owner, name)
        else:
            setattr(owner, name, original)

    _undo.append(undo)  # before there is anything to undo: Ctrl-C may come between the two
    try:
        setattr(owner, name, replacement)
    except (AttributeError, TypeError) as error:
        raise LeappTypeError(f"patching: '{_name_of(owner)}.{name}' cannot be replaced: {error}") from error
    if scripted is not None:  # code that is scripted meanwhile finds torch's operator, which it does by address
        torch.jit._builtins._register_builtin(replacement, scripted)


def _members(owner: Any) -> Mapping[str, Any]:
    return vars(owner) if hasattr(owner, "__dict__") else {}


def _name_of(owner: Any) -> str:
    return getattr(owner, "__name__", type(owner).__name__)


def _owner(patch: Any) -> Any:
    if not isinstance(patch, FunctionPatch):
        raise LeappTypeError(f"patching: expected a FunctionPatch, found {type(patch).__name__}")
    owner = patch.module
    if isinstance(owner, str):
        try:
            owner = importlib.import_module(owner)
        except ImportError as error:
            raise LeappValueError(f"patching: there is no module '{patch.module}': {error}") from error
    if not callable(getattr(owner, patch.function_name, None)):
        raise LeappValueError(f"patching: '{_name_of(owner)}' has no function '{patch.function_name}'")
    return owner


# ---- Between torch and NumPy --------------------------------------------------------------------------------------


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


def keep_default_devices() -> None:
    """Which functions a default device is for, torch looks up once: it must not find ours in their places."""
    from torch.utils import _device

    getattr(_device, "_device_constructors", lambda: None)()


def _wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    replace(owner, name, functools.wraps(original)(make(original)))


def _tensor_to_array(original: Any) -> Any:
    def numpy(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not _capture.is_live(self):
            _capture.note_escape(self, "Tensor.numpy")  # whoever has the array may write to it
            return original(self, *args, **kwargs)
        from leapp import arrays

        array = original(self, *args, **kwargs)
        if array.ctypes.data == self.data_ptr() and not self.is_conj() and not self.is_neg():
            return arrays.live_view(array, self.detach())
        _capture.note_escape(self, "Tensor.numpy")
        return array

    return numpy


def _live_arrays(value: Any) -> bool:
    """Whether any is in it; cheap for what programs usually convert."""
    if isinstance(value, (list, tuple)):
        return any(_live_arrays(inner) for inner in value)
    arrays = sys.modules.get("leapp.arrays")  # not loaded: there is none
    return arrays is not None and isinstance(value, arrays.LiveArray)


def _is_published(value: Any) -> bool:
    published = sys.modules.get("leapp.published_arrays")
    return published is not None and isinstance(value, published.PublishedArray)


def _from_numpy(original: Any) -> Any:
    def from_numpy(array: Any) -> torch.Tensor:
        if not _live_arrays(array):
            return original(array)
        from leapp import arrays

        return arrays.tensor_of(array)

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
    from leapp import array_arguments, arrays

    return arrays.tensor_of(array_arguments.stacked(data))


def _array(name: str, original: Any) -> Any:
    copies = name == "array"

    def convert(value: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, torch.Tensor) and _capture.is_live(value):
            value = value.numpy()
        if copies and dtype is None and not args and not kwargs and _is_published(value):
            return value.copy()
        if args or not _live_arrays(value) or not _capture.is_active():
            return original(value, dtype, *args, **kwargs)
        from leapp import array_arguments

        array: Any = array_arguments.stacked(value)
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
