# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Say which tensors go into a node and which come out."""

from __future__ import annotations

from typing import Any

import torch

from leapp import _capture, front_end
from leapp.errors import LeappTypeError

__all__ = ["input_tensors", "output_tensors"]

Payload = dict[str, torch.Tensor]


def _items(call: str, tensors: Payload) -> list[tuple[str, torch.Tensor]]:
    if not isinstance(tensors, dict):
        raise LeappTypeError(f"{call}: expected a dict of names and tensors, found {type(tensors).__name__}")
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise LeappTypeError(f"{call}: names must be strings, found {name!r}")
        if not isinstance(tensor, torch.Tensor):
            raise LeappTypeError(f"{call}: '{name}' must be a torch.Tensor, found {type(tensor).__name__}")
    return list(tensors.items())


def _node(call: str, node_name: str) -> str:
    if not isinstance(node_name, str):
        raise LeappTypeError(f"{call}: node_name must be a string, found {type(node_name).__name__}")
    return node_name


def _unpacked(values: list[torch.Tensor]) -> torch.Tensor | tuple[torch.Tensor, ...]:
    return values[0] if len(values) == 1 else tuple(values)


def input_tensors(node_name: str, tensors: Payload) -> Any:
    """Open a node, or add inputs to it while it is open.

    Compute with what comes back: one tensor for one entry, else a tuple in order. It aliases the tensor given.

    >>> obs, command = annotate.input_tensors("policy", {"obs": obs, "command": command})
    """
    items = _items("input_tensors", tensors)
    if not _capture.is_active():
        return _unpacked([tensor for _, tensor in items])
    front_end.refresh()
    return _unpacked(_capture.input_tensors(_node("input_tensors", node_name), items))


def output_tensors(node_name: str, tensors: Payload, export_with: str | None = None) -> Any:
    """Close a node and hand back ``tensors``. ``export_with="jit"`` writes a TorchScript model.

    >>> action = annotate.output_tensors("policy", {"action": action}, export_with="jit")
    """
    items = _items("output_tensors", tensors)
    if not _capture.is_active():
        return _unpacked([tensor for _, tensor in items])
    if export_with is not None and not isinstance(export_with, str):
        raise LeappTypeError(f"output_tensors: export_with must be a string, found {type(export_with).__name__}")
    return _unpacked(_capture.output_tensors(_node("output_tensors", node_name), items, export_with))
