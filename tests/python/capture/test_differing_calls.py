# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that are not the same as the first: the numbers decide whether that matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import closed_loop
import harness
import leapp
import pytest
import torch

BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])


class Counting:
    def __init__(self) -> None:
        self.steps = 0


class ClampThatNeverBinds(Counting):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return torch.clamp(x, max=100.0 + self.steps) * 2


class CounterTimesZero(Counting):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return x + torch.zeros(4) * self.steps


class TableThatMakesNoDifference(Counting):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return torch.minimum(x, torch.tensor([50.0 + self.steps] * 4))


class BranchToTheSame(Counting):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return x * 2 if self.steps < 2 else x + x


HARMLESS = [ClampThatNeverBinds, CounterTimesZero, TableThatMakesNoDifference, BranchToTheSame]


@BACKENDS
@pytest.mark.parametrize("kind", HARMLESS, ids=lambda kind: kind.__name__)
def test_a_difference_that_makes_no_difference_is_a_warning(kind: Any, backend: str, tmp_path: Path) -> None:
    folder = closed_loop.export(kind, tmp_path, passes=3, backend=backend)
    closed_loop.assert_equal(folder, kind)
    warnings = harness.warnings_in(harness.read_log(folder))
    assert any("call 1 differs from call 0" in line and "test_differing_calls.py" in line for line in warnings)


class LateGain(Counting):
    """Counts on and changes at last, in a call whose sample is not among the first ones."""

    late = 9

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return x * (2.0 if self.steps < self.late else 3.0)


class LateBranch(LateGain):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return x * 2 if self.steps < self.late else x - 1


class LateAmongHarmless(LateGain):
    """Every call differs, and only the last one matters."""

    late = 60

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        limit = 100.0 + self.steps if self.steps < self.late else -5.0
        return torch.clamp(x, max=limit)


@BACKENDS
@pytest.mark.parametrize("kind", [LateGain, LateBranch, LateAmongHarmless], ids=lambda kind: kind.__name__)
def test_the_sample_of_a_call_that_differs_is_kept(kind: Any, backend: str, tmp_path: Path) -> None:
    with pytest.raises(leapp.ValidationError) as failure:
        closed_loop.export(kind, tmp_path, passes=kind.late, backend=backend)
    assert "test_differing_calls.py" in str(failure.value)


class StateAndCounter(Counting):
    """State must be known for the calls whose samples are kept, too."""

    def __init__(self) -> None:
        super().__init__()
        self.ema = torch.zeros(4)
        self.total = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        self.ema = 0.9 * self.ema + 0.1 * x
        self.total += x
        return self.ema + self.total + torch.zeros(4) * (self.steps // 4)


@BACKENDS
def test_calls_that_differ_with_state(backend: str, tmp_path: Path) -> None:
    folder = closed_loop.export(StateAndCounter, tmp_path, passes=12, backend=backend, max_cached_io=1)
    closed_loop.assert_equal(folder, StateAndCounter)


def test_the_samples_of_calls_that_differ_are_counted(tmp_path: Path) -> None:
    program = CounterTimesZero()
    leapp.start("loop", save_path=str(tmp_path), max_cached_io=0)
    for x in closed_loop.inputs(3):
        y = program(leapp.annotate.input_tensors("policy", {"x": x}))
        leapp.annotate.output_tensors("policy", {"y": y}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph().nodes["policy"].samples == 3


def test_what_the_program_counts_outside_of_all_nodes(tmp_path: Path) -> None:
    class Env:
        length = torch.zeros(1, dtype=torch.long)

    env = Env()

    def policy(x: torch.Tensor) -> torch.Tensor:
        return x * torch.sin(env.length * 0.1)  # here

    leapp.start("loop", save_path=str(tmp_path))
    for x in closed_loop.inputs(4):
        y = policy(leapp.annotate.input_tensors("policy", {"x": x}))
        leapp.annotate.output_tensors("policy", {"y": y}, export_with="jit")
        env.length = env.length + 2
    leapp.stop()
    with pytest.raises(leapp.ValidationError) as raised:
        leapp.compile_graph()
    text = str(raised.value)
    assert harness.location_pattern(__file__, harness.line_of(policy, "# here")).search(text)
    assert "it grows by 2 from each call to the next: the program counts outside of all nodes" in text
    assert "let the node count" in text
    assert 'annotate.update_state("policy", {"length": length + 2})' in text
