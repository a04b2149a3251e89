# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of ``torch.export`` as nodes of a pipeline. Called by the compiled half, which has no way to run them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from leapp.captured_output import captured_output, in_fresh_thread

__all__ = ["Program", "load"]


class Program:
    """Called with tensors over the pipeline's own memory: reads the inputs, fills the outputs."""

    def __init__(self, module: Callable[..., Any]) -> None:
        self._module = module

    def __call__(self, inputs: list[torch.Tensor], outputs: list[torch.Tensor], names: list[str]) -> None:
        with torch.inference_mode(False), torch.no_grad():
            given = [tensor.clone() for tensor in inputs]  # a program may write to what it is given
            results = [leaf for leaf in pytree.tree_leaves(self._module(*given)) if isinstance(leaf, torch.Tensor)]
            if len(results) != len(outputs):
                raise ValueError(f"expected {len(outputs)} outputs, found {len(results)}")
            for name, output, result in zip(names, outputs, results, strict=True):
                if (result.dtype, result.shape) != (output.dtype, output.shape):
                    expected, found = _type_text(output), _type_text(result)
                    raise ValueError(f"output '{name}': expected {expected}, found {found}")
            for output, result in zip(outputs, results, strict=True):
                output.copy_(result)


def load(model: bytes) -> Program:
    """What a ``.pt2`` file holds."""

    def read() -> Any:
        with captured_output():
            return torch.export.load(io.BytesIO(model)).module()

    return Program(in_fresh_thread(read))


def _type_text(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
