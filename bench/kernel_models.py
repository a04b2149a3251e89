# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Models for bench_kernels, with random weights.

kernel_models.py FOLDER; then bench_kernels FOLDER LIBRARY, with LIBRARY a libonnxruntime.so
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_RANDOM = np.random.default_rng(0)


class _Graph:
    """Nodes in a row, each taking what the last one gave."""

    def __init__(self, shape: list[int]) -> None:
        self.shape, self.last = shape, "x"
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape: int) -> str:
        scale = 1 / np.sqrt(np.prod(shape[1:]) or 1)
        return self.constant((_RANDOM.standard_normal(shape) * scale).astype(np.float32))

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> None:
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, [self.last, *inputs], names, **attributes))
        self.last = names[-1]

    def save(self, path: Path) -> None:
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "g",
            [value("x", TensorProto.FLOAT, self.shape)],
            [value(self.last, TensorProto.FLOAT, None)],
            self.constants,
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def mlp(rows: int, *widths: int) -> _Graph:
    """Layers with ELU between them."""
    graph = _Graph([rows, widths[0]])
    for i, (k, n) in enumerate(itertools.pairwise(widths)):
        graph.add("Gemm", graph.weights(n, k), graph.weights(n), transB=1)
        if i + 2 < len(widths):
            graph.add("Elu")
    return graph


def gru(width: int, hidden: int) -> _Graph:
    """One step of a GRU as torch exports it; the state is a constant here."""
    graph = _Graph([1, 1, width])
    parts = (graph.weights(1, 3 * hidden, width), graph.weights(1, 3 * hidden, hidden), graph.weights(1, 6 * hidden))
    state = graph.weights(1, 1, hidden)
    graph.add("GRU", *parts, "", state, outputs=2, hidden_size=hidden, linear_before_reset=1)
    return graph


def cnn() -> _Graph:
    """The network of the Atari paper in Nature, up to its first dense layer."""
    graph = _Graph([1, 4, 84, 84])
    for shape, stride in (((32, 4, 8, 8), 4), ((64, 32, 4, 4), 2), ((64, 64, 3, 3), 1)):
        graph.add("Conv", graph.weights(*shape), graph.weights(shape[0]), strides=[stride, stride])
        graph.add("Relu")
    graph.add("Flatten")
    graph.add("Gemm", graph.weights(512, 3136), graph.weights(512), transB=1)
    graph.add("Relu")
    return graph


def main() -> None:
    """Writes them."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    mlp(1, 12, 32, 32, 8).save(folder / "mlp_small.onnx")
    mlp(1, 48, 512, 256, 128, 12).save(folder / "mlp.onnx")
    mlp(50, 256, 1024, 256).save(folder / "rows_50.onnx")
    gru(64, 256).save(folder / "gru.onnx")
    cnn().save(folder / "cnn.onnx")


if __name__ == "__main__":
    main()
