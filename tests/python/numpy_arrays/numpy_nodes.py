# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy functions as nodes: run under capture, and the models they become."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import torch
from harness import read_log
from leapp import annotate
from leapp.capture.arrays import live

Array = Any
Function = Callable[..., Any]


def make(seed: int, shape: tuple[int, ...] = (3, 4), dtype: Any = np.float64) -> Array:
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "b":
        return generator.random(shape) > 0.5
    if np.dtype(dtype).kind in "iu":
        return generator.integers(1, 20, shape).astype(dtype)
    return (generator.random(shape) * 1.6 + 0.1).astype(dtype)


class Captured:
    """A NumPy function run as one node, and its model."""

    def __init__(self, fn: Function, inputs: list[Array], folder: Path) -> None:
        leapp.start("g", save_path=str(folder))
        announced = annotate.input_tensors("n", {f"x{i}": x for i, x in enumerate(inputs)})
        result = fn(*(announced if isinstance(announced, tuple) else (announced,)))
        self.results = list(result) if isinstance(result, (list, tuple)) else [result]
        annotate.output_tensors("n", {f"y{i}": y for i, y in enumerate(self.results)}, export_with="jit")
        leapp.stop()
        leapp.compile_graph()
        self.log = read_log(folder / "g")
        self.model = torch.jit.load(str(folder / "g" / "n.pt"))

    def __call__(self, *inputs: Array) -> list[Array]:
        result = self.model(*(torch.from_numpy(x.copy()) for x in inputs))
        return [t.numpy() for t in ([result] if isinstance(result, torch.Tensor) else result)]


def assert_equal_bits(expected: Array, found: Array) -> None:
    assert np.shape(expected) == np.shape(found)
    assert np.asarray(expected).dtype == np.asarray(found).dtype
    assert np.array_equal(np.asarray(expected), np.asarray(found), equal_nan=np.asarray(expected).dtype.kind in "fc")


def assert_close(expected: Array, found: Array) -> None:
    assert np.shape(expected) == np.shape(found)
    assert np.asarray(expected).dtype == found.dtype
    tolerance = 1e-2 if found.dtype == np.float16 else 1e-5
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def check(fn: Function, make_inputs: Function, folder: Path) -> Captured:
    """Under capture `fn` gives NumPy's bits; its model gives NumPy's values for other inputs."""

    def by_numpy(inputs: list[Array]) -> list[Array]:
        result = fn(*inputs)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    expected = by_numpy(make_inputs(0))
    captured = Captured(fn, make_inputs(0), folder)
    for one, other in zip(expected, captured.results, strict=True):
        assert isinstance(other, live.LiveArray)
        assert_equal_bits(one, other)
    for seed in (1, 2):
        for one, other in zip(by_numpy(make_inputs(seed)), captured(*make_inputs(seed)), strict=True):
            assert_close(one, other)
    return captured
