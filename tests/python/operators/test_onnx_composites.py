# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Operators without an ONNX mapping of their own: exported as the operators they call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from harness import difference
from onnx_models import export
from torch import Tensor

TIMES = torch.tensor([0.0, 0.1, 0.4, 0.5])

# Each: the operator as torch names it, a function that calls it, the shapes of its inputs.
COMPOSITES: dict[str, tuple[Callable[..., Tensor], list[tuple[int, ...]]]] = {
    "aten::gradient.tensorarrayint": (lambda x: torch.gradient(x, spacing=(TIMES,))[0], [(4,)]),
    "aten::vander": (lambda x: torch.vander(x, 4), [(3,)]),
    "aten::norm_except_dim": (lambda x: torch.norm_except_dim(x, 2, 0), [(3, 4)]),
    "aten::pad_sequence": (lambda x, y: torch.ops.aten.pad_sequence([x, y], True, 0.5), [(4, 3), (2, 3)]),
    "aten::flatten_dense_tensors": (lambda x, y: torch.ops.aten.flatten_dense_tensors([x, y]), [(4, 3), (2,)]),
}


@pytest.mark.parametrize("name", COMPOSITES)
def test_fresh_inputs_give_what_eager_gives(name: str, tmp_path: Path) -> None:
    fn, shapes = COMPOSITES[name]
    first = [torch.randn(shape) for shape in shapes]
    model = export(fn, first, tmp_path)
    assert f"{name} is replaced by" in (tmp_path / "graph" / "log.txt").read_text(), "mapped by now: choose another"
    fresh = [torch.randn(shape) for shape in shapes]
    assert difference([fn(*fresh)], model(*fresh)) is None


def test_the_nodes_keep_the_users_line(tmp_path: Path) -> None:
    model = export(COMPOSITES["aten::vander"][0], [torch.randn(3)], tmp_path)
    lines = {node.doc_string for node in model.model.graph.node}
    assert len(lines) == 1
    assert Path(__file__).name in lines.pop()


def test_a_part_of_a_larger_graph(tmp_path: Path) -> None:
    def step(x: Tensor) -> Tensor:
        powers = torch.vander(x.tanh(), 3)
        return torch.vander(powers.sum(1), 3).relu()

    model = export(step, [torch.randn(4)], tmp_path)
    fresh = torch.randn(4)
    assert difference([step(fresh)], model(fresh)) is None


def test_export_draws_none_of_the_users_random_numbers(tmp_path: Path) -> None:
    export(torch.sin, [torch.randn(3)], tmp_path / "without")
    expected = torch.rand(3)
    export(COMPOSITES["aten::vander"][0], [torch.randn(3)], tmp_path / "with")
    assert torch.equal(torch.rand(3), expected)
