# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Pieces of the models of odd_models.py: each is a function that writes a bundle of one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attacks
import odd_operators
import onnx
from onnx import TensorProto, helper

constant = odd_operators.constant
raw = odd_operators.raw
node = helper.make_node
FLOAT, INT64, BOOL, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
Write = Callable[[Path], Path]
Case = tuple[str, Write]


def info(name: str, kind: int = FLOAT, shape: list[Any] | None = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, [4] if shape is None else shape)


def built(
    nodes: list[onnx.NodeProto],
    constants: list[onnx.TensorProto] | None = None,
    *,
    opsets: list[tuple[str, int]] | None = None,
    ir: int = 10,
    **more: Any,
) -> onnx.ModelProto:
    """From x to y, of four floats each."""
    graph = helper.make_graph(nodes, "g", [info("x")], [info("y")], constants or [])
    imports = [helper.make_opsetid(*opset) for opset in opsets or [("", 21), ("com.microsoft", 1)]]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir, **more)


def bundle(model: onnx.ModelProto | bytes, files: dict[str, bytes | int] | None = None) -> Write:
    """`files` lie beside it; of a number there are so many bytes of nothing."""

    def write(folder: Path) -> Path:
        for name, content in (files or {}).items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as stream:
                stream.truncate(content) if isinstance(content, int) else stream.write(content)
        return attacks.write_bundle(folder, [4], model if isinstance(model, bytes) else model.SerializeToString())

    return write


def summed(nodes: list[onnx.NodeProto], constants: list[onnx.TensorProto] | None = None, **more: Any) -> Write:
    """y is x times the sum of the elements of r, whatever they are."""
    inward = [node("Cast", ["x"], ["i"], to=INT64)]
    outward = [
        node("Cast", ["r"], ["floats"], to=FLOAT),
        node("ReduceSum", ["floats"], ["total"], keepdims=0),
        node("Mul", ["x", "total"], ["y"]),
    ]
    return bundle(built([*inward, *nodes, *outward], constants, **more))


def body(name: str, nodes: list[onnx.NodeProto], inputs: list[Any], outputs: list[Any], **more: Any) -> onnx.GraphProto:
    return helper.make_graph(nodes, name, inputs, outputs, **more)


def part(field: int, content: bytes) -> bytes:
    """A field of protobuf that is a message."""
    length, size = b"", len(content)
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([field << 3 | 2]) + length + bytes([size]) + content
