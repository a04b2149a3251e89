# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What the first call makes from nothing live and keeps is a constant in later calls; what changes is state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import harness
import leapp
import pytest
import torch
from leapp import annotate

Kept = dict[str, torch.Tensor]


def run(step: Callable[[torch.Tensor, Kept], torch.Tensor], folder: Path, calls: int = 5) -> dict[str, list[str]]:
    """Exports; gives the names of the ports, and checks ten steps of the bundle against the program."""
    leapp.start("g", save_path=str(folder))
    kept: Kept = {}
    for _ in range(calls):
        x = annotate.input_tensors("n", {"x": torch.randn(3)})
        annotate.output_tensors("n", {"y": step(x, kept)}, export_with="jit")
    leapp.stop()
    assert all(leapp.compile_graph().values())
    manager, eager = leapp.InferenceManager(str(folder / "g" / "g.yaml")), Kept()
    for _ in range(10):
        x = torch.randn(3)
        torch.testing.assert_close(manager.run_policy({"n/x": x})["n/y"], step(x, eager))
    return {"inputs": manager.inputs, "feedback": manager.feedback_inputs}


def cached(x: torch.Tensor, kept: Kept) -> torch.Tensor:
    if not kept:
        kept["scale"] = torch.arange(3.0) * 0.1 + 1
    return x * kept["scale"]


def cached_and_read_twice(x: torch.Tensor, kept: Kept) -> torch.Tensor:
    if not kept:
        kept["frame"] = torch.eye(3)
        kept["frame"][0, 1] = 2.0
    return (x @ kept["frame"]) + kept["frame"][0]


def layer(x: torch.Tensor, kept: Kept) -> torch.Tensor:
    if not kept:
        kept["weight"], kept["mean"] = torch.full((3, 3), 0.5), torch.ones(3) / 4
    return torch.tanh((x - kept["mean"]) @ kept["weight"])


@pytest.mark.parametrize("step", [cached, cached_and_read_twice, layer])
def test_a_constant_made_in_the_first_call(step: Callable[..., torch.Tensor], tmp_path: Path) -> None:
    assert run(step, tmp_path) == {"inputs": ["n/x"], "feedback": []}
    assert not harness.warnings_in(harness.read_log(tmp_path / "g"))


def counter(x: torch.Tensor, kept: Kept) -> torch.Tensor:
    kept["count"] = kept.get("count", torch.zeros(3)) + 1
    return x * kept["count"]


def filtered(x: torch.Tensor, kept: Kept) -> torch.Tensor:
    kept["last"] = kept.get("last", torch.zeros(3)) * 0.5 + x
    return kept["last"] * 2


@pytest.mark.parametrize("step", [counter, filtered])
def test_what_changes_is_state(step: Callable[..., torch.Tensor], tmp_path: Path) -> None:
    found = run(step, tmp_path)
    assert found["inputs"] == ["n/x"]
    assert len(found["feedback"]) == 1
