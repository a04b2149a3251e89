# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The first content of state that is kept in memory: what lay there before the first write, whoever looks at it how."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import closed_loop
import harness
import leapp
import numpy as np
import pytest
import torch
from leapp import annotate


class RowHeldFromBefore:
    def __init__(self) -> None:
        self.b = torch.arange(8.0).reshape(2, 4)
        self.row = self.b[0]

    def __call__(self, x: torch.Tensor) -> Any:
        self.row.copy_(x)
        self.b[1].add_(x)
        return self.b.sum(0), self.b[1] * 2


class OverlappingViews:
    def __init__(self) -> None:
        self.b = torch.arange(6.0)
        self.low, self.high = self.b[:4], self.b[2:]

    def __call__(self, x: torch.Tensor) -> Any:
        self.low.copy_(x)
        self.high.add_(x * 0.5)
        return self.b * 1.0


class StridedViews:
    def __init__(self) -> None:
        self.b = torch.arange(8.0)
        self.even, self.odd = self.b[::2], self.b[1::2]

    def __call__(self, x: torch.Tensor) -> Any:
        self.even.copy_(x)
        self.odd.mul_(0.5).add_(x)
        return self.b.reshape(2, 4).sum(0)


class ColumnsOfATransposed:
    def __init__(self) -> None:
        self.b = torch.arange(8.0).reshape(4, 2)
        self.first, self.second = self.b.t()[0], self.b.t()[1]

    def __call__(self, x: torch.Tensor) -> Any:
        self.first.copy_(x)
        self.second.add_(self.first)
        return self.b.sum(1)


class ThroughData:
    def __init__(self) -> None:
        self.b = torch.arange(8.0).reshape(2, 4)

    def __call__(self, x: torch.Tensor) -> Any:
        self.b.data[0].copy_(x)
        self.b.data[1] += x
        return self.b[1] + self.b[0]


class SharedWithNumpy:
    def __init__(self) -> None:
        self.array = np.arange(8.0, dtype=np.float32).reshape(2, 4)
        self.row = torch.from_numpy(self.array[0])
        self.whole = torch.from_numpy(self.array)

    def __call__(self, x: torch.Tensor) -> Any:
        self.row.copy_(x)
        self.whole[1].add_(x)
        return self.whole[1] * 2 + self.whole[0]


class OneElement:
    def __init__(self) -> None:
        self.b = torch.arange(5.0)
        self.last = self.b[4]

    def __call__(self, x: torch.Tensor) -> Any:
        self.last.fill_(7.0)
        self.b[:4] += x
        return self.b[:4] + self.b[4]


class OverwrittenWhole:
    """No state: each call writes before it reads."""

    def __init__(self) -> None:
        self.b = torch.arange(8.0).reshape(2, 4)
        self.rows = (self.b[0], self.b[1])

    def __call__(self, x: torch.Tensor) -> Any:
        self.rows[0].copy_(x)
        self.rows[1].copy_(x * 2)
        return self.b.sum(0)


KINDS = [
    RowHeldFromBefore, OverlappingViews, StridedViews, ColumnsOfATransposed, ThroughData, OneElement, OverwrittenWhole,
    pytest.param(SharedWithNumpy, id="SharedWithNumpy", marks=pytest.mark.host_only("NumPy")),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_view_held_from_before_the_session(
    kind: Callable[[], closed_loop.Program], backend: str, tmp_path: Path
) -> None:
    closed_loop.check(kind, tmp_path, passes=(1, 3), backends=(backend,))


@pytest.mark.parametrize("kind", [RowHeldFromBefore, StridedViews], ids=lambda kind: kind.__name__)
def test_the_initial_value_is_what_memory_held_before_the_first_write(kind: Any, tmp_path: Path) -> None:
    folder = closed_loop.export(kind, tmp_path, passes=2)
    import bundle_runner

    (value,) = bundle_runner.read_safetensors(folder / "loop_initial_values.safetensors").values()
    assert value.flatten().tolist() == list(range(8))


def test_views_in_two_nodes(tmp_path: Path) -> None:
    def make() -> Any:
        b = torch.arange(8.0).reshape(2, 4)
        rows = (b[0], b[1])

        def step(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            x = annotate.input_tensors("first", {"x": x})
            rows[0].add_(x)
            y = annotate.output_tensors("first", {"y": rows[0] * 2}, export_with="jit")
            y = annotate.input_tensors("second", {"y": y})
            rows[1].mul_(0.5).add_(y)
            return y, annotate.output_tensors("second", {"z": rows[1] + 1}, export_with="jit")

        return step

    program = make()
    leapp.start("loop", save_path=str(tmp_path))
    for x in closed_loop.inputs(3, seed=1):
        program(x)
    leapp.stop()
    leapp.compile_graph()
    manager, program = leapp.InferenceManager(tmp_path / "loop"), make()
    for x in closed_loop.inputs(20, seed=9):
        expected = program(x)[1].clone()
        harness.assert_same([expected], [manager({"first/x": x})["second/z"]], rtol=1e-4, atol=1e-5)
