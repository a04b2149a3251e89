# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What only Python can see: module names, conversions that make no operator, compiled code, source lines."""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

import torch

from leapp import _capture

_ESCAPES = ("tolist", "numpy", "__array__")

_undo: list[Callable[[], None]] = []
_named: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
_eager_stance: list[Any] = []

_capture.install_location_provider(
    [os.path.join(os.path.dirname(os.path.abspath(package)), "") for package in (torch.__file__, __file__)]
)


def install(patch: bool) -> None:
    """In force from start to stop."""
    _named.clear()
    handle = torch.nn.modules.module.register_module_forward_pre_hook(_name_parameters)
    _undo.append(handle.remove)
    if patch:
        for method in _ESCAPES:
            _patch(method, functools.partial(_noticing_escape, method))
        _patch("__deepcopy__", _noticing_copy)
    refresh()


def remove() -> None:
    """Undo everything install did. May be called at any time."""
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


def _name_parameters(module: torch.nn.Module, _inputs: Any) -> None:
    """The outermost module that is called gives its parameters their names."""
    if module in _named:
        return
    _named.update(module.modules())
    for name, tensor in module.named_parameters():
        _capture.name_tensor(tensor, name, True)
    for name, tensor in module.named_buffers():
        _capture.name_tensor(tensor, name, False)


def _patch(method: str, make: Callable[[Any], Any]) -> None:
    """Replace a method of torch.Tensor by what `make` makes of it."""
    original = getattr(torch.Tensor, method)
    inherited = method not in vars(torch.Tensor)
    setattr(torch.Tensor, method, functools.wraps(original)(make(original)))
    _undo.append(
        functools.partial(delattr, torch.Tensor, method)
        if inherited
        else functools.partial(setattr, torch.Tensor, method, original)
    )


def _noticing_escape(method: str, original: Any) -> Any:
    def noticed(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        _capture.note_escape(self, f"Tensor.{method}")
        return original(self, *args, **kwargs)

    return noticed


def _noticing_copy(original: Any) -> Any:
    """deepcopy copies storages: no operator tells that the values are the same."""

    def noticed(self: torch.Tensor, memo: Any) -> Any:
        copy = original(self, memo)
        _capture.copied(self, copy)
        return copy

    return noticed
