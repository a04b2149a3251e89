# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that are replaced from start to stop, and those that the caller replaces (`patching=`)."""

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
    arrays = sys.modules.get("leapp.capture.arrays.live")  # not loaded: there is no live array
    if arrays is None or not isinstance(value, arrays.LiveArray):
        return False
    return _capture.is_live(arrays.memory_of(value))


def remove_patches() -> None:
    """Undo them, the last one first. May be called at any time; one that fails keeps no other."""
    all_known = False
    try:
        with contextlib.ExitStack() as undo:
            for one in _undo:
                undo.callback(run_twice_if_interrupted, one)
            all_known = True
    finally:
        if all_known:  # each may be undone twice, but Ctrl-C must not have one forgotten
            _undo.clear()


def run_twice_if_interrupted(undo: Callable[[], object]) -> None:
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


def keep_default_devices() -> None:
    """Which functions a default device is for, torch looks up once: it must not find ours in their places."""
    from torch.utils import _device

    getattr(_device, "_device_constructors", lambda: None)()
