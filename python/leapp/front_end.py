# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What only Python can see: module names, conversions that make no operator, compiled code, source lines."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import torch

from leapp import _capture

_ESCAPES = ("tolist", "numpy", "__array__")
_WRITERS = ("apply_", "map_", "map2_")

_undo: list[Callable[[], None]] = []
_named: dict[int, torch.nn.Module] = {}  # by id: the reference keeps it from being reused
_eager_stance: list[Any] = []

_capture.install_location_provider(
    [os.path.join(os.path.dirname(os.path.abspath(package)), "") for package in (torch.__file__, __file__)]
)


def install(patch: bool) -> None:
    """In force from start to stop."""
    # Not a global forward hook: with one, every module call takes torch's slow path.
    _patch("__call__", _naming, torch.nn.Module)
    if patch:
        for method in _ESCAPES:
            _patch(method, functools.partial(_noticing_escape, method))
        for method in _WRITERS:
            _patch(method, _noticing_write)
        _patch("__deepcopy__", _noticing_copy)
        _patch("_swap_tensor_impl", _releasing, torch._C)
    refresh()


def remove() -> None:
    """Undo everything install did. May be called at any time."""
    _named.clear()
    while _undo:
        _undo.pop()()
    while _eager_stance:
        _eager_stance.pop().__exit__(None, None, None)


def refresh() -> None:
    """Compiled code makes no operators: run it eagerly. Only once its compiler is loaded, which costs a second."""
    if _eager_stance or "torch._dynamo" not in sys.modules:
        return
    stance = torch.compiler.set_stance("force_eager")
    stance.__enter__()
    _eager_stance.append(stance)


def _naming(original: Any) -> Any:
    def named(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        if id(self) not in _named:
            _name_parameters(self)
        return original(self, *args, **kwargs)

    return named


def _name_parameters(module: torch.nn.Module) -> None:
    """The outermost module that is called gives its parameters their names."""
    seen = set()
    for path, inner in module.named_modules():
        _named[id(inner)] = inner
        prefix = f"{path}." if path else ""
        for members, is_parameter in ((inner._parameters, True), (inner._buffers, False)):
            for name, tensor in members.items():
                if tensor is not None and id(tensor) not in seen:  # the first name of a shared tensor counts
                    seen.add(id(tensor))
                    _capture.name_tensor(tensor, prefix + name, is_parameter)


def _patch(name: str, make: Callable[[Any], Any], owner: Any = torch.Tensor) -> None:
    """Replace a function by what `make` makes of it."""
    original = getattr(owner, name)
    inherited = name not in vars(owner)
    setattr(owner, name, functools.wraps(original)(make(original)))
    _undo.append(
        functools.partial(delattr, owner, name) if inherited else functools.partial(setattr, owner, name, original)
    )


def _noticing_escape(method: str, original: Any) -> Any:
    def noticed(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        _capture.note_escape(self, f"Tensor.{method}")
        return original(self, *args, **kwargs)

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
