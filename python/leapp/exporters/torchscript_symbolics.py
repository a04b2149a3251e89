# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that a captured program has and PyTorch's TorchScript-based ONNX exporter lacks, in ONNX.

Writes into a part of a tensor are recorded as functions (``slice_scatter``). Which elements they replace is known when
the model is made: the same view, taken of a tensor that holds each element's position, says it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

__all__ = ["registered"]

Symbolic = Callable[..., Any]


@contextlib.contextmanager
def registered(opset_version: int) -> Iterator[None]:
    """While the exporter runs."""
    names = []
    try:
        for name, symbolic in _SYMBOLICS.items():
            torch.onnx.register_custom_op_symbolic(name, symbolic, opset_version)
            names.append(name)
        yield
    finally:
        for name in names:
            torch.onnx.unregister_custom_op_symbolic(name, opset_version)


def _scatter(view: Callable[..., torch.Tensor]) -> Symbolic:
    def symbolic(g: Any, self: Any, source: Any, *arguments: Any) -> Any:
        sizes = _sizes(self)
        positions = torch.arange(torch.Size(sizes).numel()).reshape(sizes)
        written = view(positions, *(_value(argument) for argument in arguments))
        flat = g.op("Reshape", self, _constant(g, [-1]))
        values = g.op("Reshape", source, _constant(g, [-1]))
        changed = g.op("ScatterElements", flat, _constant(g, written.reshape(-1)), values, axis_i=0)
        return g.op("Reshape", changed, _constant(g, sizes)).setType(self.type())

    return symbolic


def _slice(positions: torch.Tensor, dim: int, start: int | None, end: int | None, step: int) -> torch.Tensor:
    return torch.ops.aten.slice.Tensor(positions, dim, start, end, step)


def _as_strided(positions: torch.Tensor, sizes: Any, strides: Any, offset: int | None) -> torch.Tensor:
    return positions.as_strided(sizes, strides, offset or 0)


def _sort(g: Any, self: Any, *arguments: Any) -> tuple[Any, Any]:
    """Stable or not: ONNX keeps the order of equal elements."""
    *_, dim, descending = (_value(argument) for argument in arguments)
    sizes = _sizes(self)
    if not sizes:
        return g.op("Identity", self), _constant(g, torch.tensor(0))
    size = _constant(g, [sizes[dim]])
    values, indices = g.op("TopK", self, size, axis_i=dim, largest_i=int(descending), sorted_i=1, outputs=2)
    return values, indices


def _argsort(g: Any, self: Any, *arguments: Any) -> Any:
    return _sort(g, self, *arguments)[1]


def _value(argument: Any) -> Any:
    """An argument that is no tensor: a constant of the graph, or a list of them."""
    node = argument.node()
    if node.kind() == "prim::ListConstruct":
        return [_value(each) for each in node.inputs()]
    return None if node.mustBeNone() else node.t("value").tolist()


def _sizes(value: Any) -> list[int]:
    sizes = value.type().sizes() if hasattr(value.type(), "sizes") else None
    if sizes is None:
        raise RuntimeError("the exporter does not know the shape of a tensor that is written to or sorted")
    return list(sizes)


def _constant(g: Any, value: Any) -> Any:
    return g.op("Constant", value_t=torch.as_tensor(value, dtype=torch.int64))


_SYMBOLICS: dict[str, Symbolic] = {
    "aten::slice_scatter": _scatter(_slice),
    "aten::select_scatter": _scatter(torch.select),
    "aten::diagonal_scatter": _scatter(torch.diagonal),
    "aten::as_strided_scatter": _scatter(_as_strided),
    "aten::sort": _sort,
    "aten::argsort": _argsort,
}
