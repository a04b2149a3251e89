# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Scripted code keeps its branches and loops."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import closed_loop
import harness
import leapp
import onnx
import pytest
import scripted_programs
import torch
from leapp import annotate

BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])
PASSES = 3  # what was not seen must be right all the same


def kinds_in(model: onnx.ModelProto) -> set[str]:
    found: set[str] = set()

    def visit(graph: onnx.GraphProto) -> None:
        for node in graph.node:
            found.add(node.op_type)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    visit(attribute.g)

    visit(model.graph)
    return found


@BACKENDS
@pytest.mark.parametrize("name", scripted_programs.KEPT)
def test_branches_and_loops_are_kept(name: str, backend: str, tmp_path: Path) -> None:
    make = scripted_programs.KEPT[name]
    folder = closed_loop.export(make, tmp_path, passes=PASSES, backend=backend)
    closed_loop.assert_equal(folder, make, steps=60)
    told = harness.warnings_in(harness.read_log(folder))
    assert [line for line in told if "branches on a value" in line or "the way it went" in line] == []
    if backend == "onnx":
        assert kinds_in(onnx.load(folder / "policy.onnx")) & {"If", "Loop"}
    else:
        code = str(torch.jit.load(str(folder / "policy.pt")).graph)
        assert "prim::If" in code or "prim::Loop" in code


@BACKENDS
@pytest.mark.parametrize("name", scripted_programs.WRITTEN_OUT)
def test_what_no_model_can_do_is_recorded_as_it_went(name: str, backend: str, tmp_path: Path) -> None:
    make = scripted_programs.WRITTEN_OUT[name]
    folder = closed_loop.export(make, tmp_path, passes=24, backend=backend)
    closed_loop.assert_equal(folder, make, steps=40)
    told = [line for line in harness.warnings_in(harness.read_log(folder)) if "the way it went" in line]
    assert len(told) == 1
    assert "scripted_programs.py:" in told[0]


@torch.jit.script
def halved(x: torch.Tensor) -> torch.Tensor:
    while bool(x.abs().max() > 1.0):
        x = x * 0.5
    return x


def test_code_that_torch_has_optimised_is_the_same(tmp_path: Path) -> None:
    """After a few runs torch's executor runs something else than what was compiled."""
    models = []
    for warm in (0, 6):
        for _ in range(warm):
            halved(torch.randn(4) * 9)
        folder = closed_loop.export(lambda: halved, tmp_path / str(warm), passes=3, backend="onnx")
        models.append((folder / "policy.onnx").read_bytes())
    assert models[0] == models[1]


def test_a_module_that_was_loaded(tmp_path: Path) -> None:
    torch.jit.script(scripted_programs._Refiner().eval()).save(str(tmp_path / "module.pt"))

    def make() -> Any:
        return torch.jit.load(str(tmp_path / "module.pt"))

    folder = closed_loop.export(make, tmp_path, passes=3, backend="onnx")
    closed_loop.assert_equal(folder, make, steps=40)
    model = onnx.load(folder / "policy.onnx")
    assert "Loop" in kinds_in(model)


def test_results_and_errors_are_those_of_torch(tmp_path: Path) -> None:
    @torch.jit.script
    def checked(x: torch.Tensor, k: int = 2) -> tuple[torch.Tensor, float, list[torch.Tensor]]:
        assert bool(x.sum() < 100), "too large"
        for _ in range(int(x[0])):
            x = x * k
        return x, float(x.sum()), [x, x + 1]

    plain = checked(torch.ones(3), k=3)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    found = checked(x, k=3)
    assert type(found) is type(plain)
    assert found[1] == plain[1]
    assert torch.equal(found[0], plain[0])
    assert torch.equal(found[2][1], plain[2][1])
    with pytest.raises(Exception, match="too large"):
        checked(x * 1000)
    with pytest.raises(RuntimeError, match="Expected a value of type"):
        checked("not a tensor")
    leapp.stop()
    assert torch.equal(checked(torch.ones(3), k=3)[0], plain[0])


def test_gradients_go_through(tmp_path: Path) -> None:
    weight = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)

    def loss() -> torch.Tensor:
        return halved(weight * 3).sum()

    (expected,) = torch.autograd.grad(loss(), weight)
    leapp.start("g", save_path=str(tmp_path))
    annotate.input_tensors("n", {"x": torch.ones(3)})
    (found,) = torch.autograd.grad(loss(), weight)
    leapp.stop()
    assert torch.equal(found, expected)


def test_under_autocast_it_is_recorded_as_it_went(tmp_path: Path) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return halved(x @ torch.eye(4)).float()

    with contextlib.suppress(leapp.ValidationError):  # right, or refused
        folder = closed_loop.export(lambda: program, tmp_path, passes=24)
        closed_loop.assert_equal(folder, lambda: program, steps=20)


def test_a_loop_cannot_be_written_by_torchs_exporter(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="a loop whose rounds data decides"):
        closed_loop.export(lambda: halved, tmp_path, passes=2, backend="pt2")
