# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What only Python can see: module names, conversions that make no operator, compiled code, source lines."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch

from leapp import _capture
from leapp.capture import (
    changed_attributes,
    checks,
    console,
    followed_numbers,
    holders,
    padded_encoder,
    row_lengths,
    scripted_calls,
    tensor_indices,
)
from leapp.capture import patches as function_patches
from leapp.capture.arrays import interop

_ESCAPES = ("tolist", "__array__")
_WRITERS = ("apply_", "map_", "map2_")

_eager_stance: list[Any] = []


def _skip_folders() -> None:
    """The user's line is the first outside these packages."""
    found = [importlib.util.find_spec(package) for package in ("torch", "numpy", "leapp")]
    files = [spec.origin for spec in found if spec is not None and spec.origin is not None]
    _capture.install_location_provider([os.path.join(os.path.dirname(os.path.abspath(file)), "") for file in files])


_skip_folders()
holders.install()
checks.install()
console.install()


def install(patch: bool, patching: Sequence[function_patches.FunctionPatch] | None = None) -> None:
    """In force from start to stop. On failure nothing is."""
    try:
        _install(patch, patching)
    except BaseException:
        remove()
        raise


def _install(patch: bool, patching: Sequence[function_patches.FunctionPatch] | None) -> None:
    for method in _ESCAPES:
        _patch(method, functools.partial(_noticing_escape, method))
    for method in _WRITERS:
        _patch(method, _noticing_write)
    _patch("__deepcopy__", _noticing_copy)
    _patch("__reduce_ex__", _noticing_pickle)
    _patch("_swap_tensor_impl", _releasing, torch._C)
    _patch("_str", _noticing_print, torch._tensor_str)
    if hasattr(torch._ops, "_PyObjectDispatcher"):
        _patch("__call__", _through_the_dispatcher, torch._ops.OpOverload)
    tensor_indices.install()
    followed_numbers.install()
    scripted_calls.install()
    padded_encoder.install()
    row_lengths.install()
    if patch:
        interop.install_interop()
        function_patches.install_patches(patching)
    else:
        _patch("numpy", functools.partial(_noticing_escape, "numpy"))
    refresh()


def remove() -> None:
    """Undo everything install did. May be called at any time; what cannot be undone keeps nothing else."""
    run_twice_if_interrupted = function_patches.run_twice_if_interrupted
    with contextlib.ExitStack() as undo:
        undo.callback(run_twice_if_interrupted, _leave_eager_stance)
        if "leapp.capture.arrays.published" in sys.modules:  # else there are none
            undo.callback(run_twice_if_interrupted, sys.modules["leapp.capture.arrays.published"].forget)
        undo.callback(run_twice_if_interrupted, function_patches.remove_patches)
        undo.callback(run_twice_if_interrupted, changed_attributes.forget)
        undo.callback(run_twice_if_interrupted, holders.forget)


def _leave_eager_stance() -> None:
    while _eager_stance:
        _eager_stance[-1].__exit__(None, None, None)
        _eager_stance.pop()


def refresh() -> None:
    """Compiled code makes no operators: run it eagerly. Only once its compiler is loaded, which costs a second."""
    if _eager_stance or "torch._dynamo" not in sys.modules:
        return
    stance = torch.compiler.set_stance("force_eager")
    _eager_stance.append(stance)  # before there is anything to leave: Ctrl-C may come between the two
    stance.__enter__()


def _patch(name: str, make: Callable[[Any], Any], owner: Any = torch.Tensor) -> None:
    """Replace a function by what `make` makes of it."""
    original = getattr(owner, name)
    function_patches.replace(owner, name, functools.wraps(original)(make(original)))


def _through_the_dispatcher(original: Any) -> Any:
    """Since torch 2.15 operators written in Python are called without the dispatcher, where nobody sees them."""

    def dispatched(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self._pyobj_dispatcher is None:
            return original(self, *args, **kwargs)
        return self._cpp_dispatch_handle(*args, **kwargs)

    return dispatched


def _noticing_escape(method: str, original: Any) -> Any:
    def noticed(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        _capture.note_escape(self, f"Tensor.{method}")
        return original(self, *args, **kwargs)

    return noticed


def _noticing_print(original: Any) -> Any:
    """What torch computes to write a tensor down is no part of the program, and where it branches no branch of it."""

    def noticed(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        _capture.note_escape(self, "repr")
        return _capture.unrecorded(lambda: original(self, *args, **kwargs))

    return noticed


def _noticing_write(original: Any) -> Any:
    """These call a Python function for every element: no operator tells what they wrote."""

    def noticed(self: torch.Tensor, *args: Any) -> Any:
        result = original(self, *args)
        _capture.rewritten(self)
        return result

    return noticed


def _releasing(original: Any) -> Any:
    """Swapping tensors is refused while anyone holds weak references to them."""

    def released(first: torch.Tensor, second: torch.Tensor) -> Any:
        _capture.release(first)
        _capture.release(second)
        return original(first, second)

    return released


def _noticing_copy(original: Any) -> Any:
    """deepcopy copies storages: no operator tells that the values are the same."""

    def noticed(self: torch.Tensor, memo: Any) -> Any:
        copy = original(self, memo)
        _capture.copied(self, copy)
        return copy

    return noticed


def _noticing_pickle(original: Any) -> Any:
    """Pickled values come back as other tensors. copy.copy, which asks the same way, keeps the memory."""

    def noticed(self: torch.Tensor, protocol: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__") != "copy":
            _capture.note_escape(self, "pickle")
        return original(self, protocol)

    return noticed
