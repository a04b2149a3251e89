# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Say which tensors go into a node, which come out, and what it remembers.

A payload is a dict of names and tensors (or of dicts, lists and tuples of tensors, which become ports ``name_key_0``),
one ``TensorSemantics`` or a list of them. NumPy arrays are as good as tensors. When not started, every function hands
back what it was given.

>>> obs, command = annotate.input_tensors("policy", {"obs": obs, "command": command})
>>> action = annotate.output_tensors("policy", {"action": net(obs, command)}, export_with="jit")
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from leapp.capture._native import capture
from leapp.capture.method import method
from leapp.errors import LeappTypeError, LeappValueError

if TYPE_CHECKING:
    import torch

__all__ = [
    "input_tensors",
    "method",
    "mirror_leapp_tags",
    "module",
    "output_tensors",
    "register_buffer",
    "state_tensors",
    "update_state",
]

T = TypeVar("T")

ResetFrom: TypeAlias = "str | Literal[False] | dict[str, str | Literal[False]] | None"

_method = method  # what programs use that were written before there was only one


def input_tensors(node_name: str, tensors: Any) -> Any:
    """Open a node, or add inputs to it while it is open.

    Compute with what comes back: one value for one entry, else a tuple in order. It aliases what was given. An input
    that is announced again in the same call is the same one if it holds the same; else it takes the other's place.

    >>> obs, command = annotate.input_tensors("policy", {"obs": obs, "command": command})
    """
    return capture.input_tensors(node_name, tensors)


def output_tensors(
    node_name: str,
    tensors: Any,
    static_outputs: Any = None,
    export_with: str | None = None,
    backend_params: dict[str, Any] | None = None,
) -> Any:
    """Close a node and hand back ``tensors``.

    ``static_outputs`` are constants, which depend on no input. ``export_with``: "jit", "onnx", "onnx-dynamo",
    "onnx-torchscript", "pt2", or None for a model of your own (``backend_params={"model_path": "mine.onnx"}``) or none.

    >>> action = annotate.output_tensors("policy", {"action": action}, export_with="jit")
    """
    return capture.output_tensors(node_name, tensors, static_outputs, export_with, backend_params)


def state_tensors(node_name: str, tensors: dict[str, Any], reset_from: ResetFrom = None) -> Any:
    """Declare what an open node remembers: an input, whose next value ``update_state`` names.

    Given a value that the node has computed in this call, the state holds that value now; how it was computed is not
    part of the model.

    ``reset_from`` names the input of the node that these states are histories of, for ``reset("first_frame")``; False:
    they are none; a dict: for each state by itself. Without it, histories are found by their update.

    >>> hidden = annotate.state_tensors("policy", {"hidden": torch.zeros(1, 32)})
    >>> history = annotate.state_tensors("policy", {"history": history}, reset_from="obs")
    """
    values = capture.state_tensors(node_name, tensors)
    _say_reset("state_tensors", node_name, list(tensors), reset_from)
    return values


def update_state(node_name: str, tensors: dict[str, Any]) -> Any:
    """The values that declared states have in the next call. Hands them back.

    >>> annotate.update_state("policy", {"hidden": next_hidden})
    """
    return capture.update_state(node_name, tensors)


def register_buffer(node_name: str, tensors: Any, reset_from: ResetFrom = None) -> Any:
    """Tensors to write into. What survives in them from one call to the next, and matters, is feedback state.

    A dict of names and values, which may be nested as in ``input_tensors``; or one tensor, or a list of them, which are
    called ``buffer_0``, ``buffer_1``... ``reset_from``: as in ``state_tensors``.

    >>> history = annotate.register_buffer("policy", {"history": history})
    >>> history[:] = torch.cat([history[1:], obs[None]])
    """
    if not isinstance(tensors, dict):
        listed = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        tensors = {f"buffer_{i}": tensor for i, tensor in enumerate(listed)}
    values = capture.register_buffer(node_name, tensors)
    _say_reset("register_buffer", node_name, list(tensors), reset_from)
    return values


def module(
    node_name: str,
    model: torch.nn.Module,
    buffer_names: list[str] | None = None,
    reset_from: dict[str, str | Literal[False]] | None = None,
) -> None:
    """Watch the buffers of a module: those that change while the node is open become feedback state.

    Call it after ``input_tensors`` and before the module runs. ``buffer_names``: only these. ``reset_from``: buffers
    that are histories, and of which input, as in ``state_tensors``.

    >>> annotate.module("policy", model)
    >>> annotate.module("policy", model, reset_from={"history": "obs"})
    """
    from torch import nn

    if not isinstance(node_name, str):
        raise LeappTypeError(f"module: node_name must be a string, found {type(node_name).__name__}")
    if not isinstance(model, nn.Module):
        raise LeappTypeError(f"module: model must be a torch.nn.Module, found {type(model).__name__}")
    names = _buffer_names(model, buffer_names)
    if capture.is_active():
        capture.module(node_name, [(name, _getter(model, name)) for name in names])
    _say_reset("module", node_name, names, reset_from)


def mirror_leapp_tags(source: Any, target: T) -> T:
    """Say that ``target`` holds the values of ``source`` and continues its trace. Returns ``target``.

    Of an array, go on with what comes back: a view of it that is recorded.

    >>> plain[:] = action
    >>> annotate.mirror_leapp_tags(action, plain)
    """
    return capture.mirror_leapp_tags(source, target)


def _say_reset(call: str, node: str, states: list[str], reset_from: Any) -> None:
    if reset_from is None:
        return
    said = reset_from if isinstance(reset_from, dict) else dict.fromkeys(states, reset_from)
    for state, name in said.items():
        if state not in states:
            text = ", ".join(f"'{name}'" for name in states) or "none"
            raise LeappValueError(f"{call}: reset_from names the state '{state}'; there are: {text} ({_users_line()})")
        if name is not False and (not isinstance(name, str) or not name):
            raise LeappTypeError(f"{call}: reset_from must name an input, or be False, found {name!r}")
        if capture.is_active():
            capture.reset_from(node, [state.replace(".", "_") if call == "module" else state], name or "")


def _buffer_names(model: torch.nn.Module, wanted: Any) -> list[str]:
    known = [name for name, _ in model.named_buffers()]
    if wanted is None:
        return known
    if isinstance(wanted, str) or not all(isinstance(name, str) for name in wanted):
        raise LeappTypeError(f"module: buffer_names must be a list of strings, found {wanted!r}")
    every = {name for name, _ in model.named_buffers(remove_duplicate=False)}
    for name in wanted:
        if name not in every:
            text = ", ".join(f"'{name}'" for name in known) or "none"
            raise LeappValueError(f"module: the model has no buffer '{name}'; its buffers: {text} ({_users_line()})")
    return list(wanted)


def _users_line() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "leapp":
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _getter(model: torch.nn.Module, name: str) -> Any:
    path, _, buffer = name.rpartition(".")
    owner = model.get_submodule(path)
    return lambda: owner._buffers.get(buffer)
