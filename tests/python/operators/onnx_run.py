# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Exports a function with our ONNX emitter and runs the file with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import leapp
import onnx
import onnxruntime
import torch
from leapp import annotate
from torch import Tensor

Tensors = dict[str, Tensor]


class OnnxModel:
    """A written model, checked; feeds and results are by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        onnx.checker.check_model(str(path), full_check=True)
        self.proto = onnx.load(str(path))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def __call__(self, feeds: Tensors) -> Tensors:
        names = [output.name for output in self.session.get_outputs()]
        arrays = self.session.run(names, {name: value.detach().numpy() for name, value in feeds.items()})
        return {name: torch.from_numpy(array) for name, array in zip(names, arrays, strict=True)}

    @cached_property
    def manager(self) -> leapp.InferenceManager:
        """The bundle on LEAPP's own engine."""
        return leapp.InferenceManager(self.path.parent, engine="native")

    def native(self, feeds: Tensors) -> Tensors:
        """The same on LEAPP's own engine."""
        kept = {name.removeprefix("node/") for name in self.manager.inputs}
        results = self.manager({f"node/{name}": value for name, value in feeds.items() if name in kept})
        return {name.removeprefix("node/"): value for name, value in results.items()}

    def operators(self) -> list[str]:
        return [node.op_type for node in self.proto.graph.node]


def export_onnx(
    fn: Callable[..., Any],
    inputs: Tensors,
    save_path: Path,
    backend_params: dict[str, Any] | None = None,
    rtol: float = 1e-3,
) -> OnnxModel:
    """`fn` takes the inputs by position and returns one tensor or a sequence; outputs are y0, y1, ..."""
    leapp.start("graph", save_path=str(save_path))
    live = annotate.input_tensors("node", dict(inputs))
    results = fn(*(live if isinstance(live, tuple) else (live,)))
    annotate.output_tensors("node", named(results), export_with="onnx", backend_params=backend_params)
    leapp.stop()
    leapp.compile_graph(visualize=False, rtol=rtol, atol=max(1e-5, rtol / 10))
    return OnnxModel(save_path / "graph" / "node.onnx")


def named(results: Tensor | Sequence[Tensor]) -> Tensors:
    values = [results] if isinstance(results, Tensor) else list(results)
    return {f"y{i}": value for i, value in enumerate(values)}


def largest_error(found: Tensors, expected: Tensors) -> float:
    assert found.keys() == expected.keys()
    errors = []
    for name, value in expected.items():
        assert found[name].shape == value.shape
        assert found[name].dtype == value.dtype
        errors.append(float((found[name].double() - value.detach().double()).abs().max()))
    return max(errors)
