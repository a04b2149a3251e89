# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Outputs that depend on what a node remembers and on none of its inputs; and those that depend on nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import closed_loop
import harness
import leapp
import pytest
import torch
from leapp import annotate
from torch import nn

X = torch.ones(4)


class ClockReassigned:
    def __init__(self) -> None:
        self.t = torch.zeros(1)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.t = self.t + 0.1
        return torch.sin(self.t)


class ClockAndMore(ClockReassigned):
    """One output of both kinds."""

    def __call__(self, x: torch.Tensor) -> Any:
        self.t = self.t + 0.1
        return x * self.t, torch.cos(self.t), self.t


class ClockInPlace(ClockReassigned):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.t += 0.1
        return torch.sin(self.t)


class ClockItself(ClockReassigned):
    """The output is the state."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.t = self.t + 0.1
        return self.t


class ClockBefore(ClockReassigned):
    """The output is what the state was, unchanged."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        before = self.t.clone()
        self.t += 0.1
        return before


class ClockMadeLate:
    """The first call makes a constant; only the second can show that it is state."""

    def __init__(self) -> None:
        self.t: torch.Tensor | None = None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.t is None:
            self.t = torch.zeros(1)
        now = self.t
        self.t = self.t * 0.5 + 1.0
        return now


class Delay:
    """Gives what the call before got."""

    def __init__(self) -> None:
        self.last: torch.Tensor | None = None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(4) if self.last is None else self.last
        self.last = x * 2
        return out


class SliceOfBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("phase", torch.arange(4.0))

    def forward(self, x: torch.Tensor) -> Any:
        self.phase.add_(0.25)
        return x + 1, self.phase[1:3]


class BufferReassigned(SliceOfBuffer):
    def forward(self, x: torch.Tensor) -> Any:
        self.phase = torch.roll(self.phase, 1) * 0.9
        return self.phase[:2]


class Declared:
    def __init__(self) -> None:
        self.t = torch.zeros(1)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        t = annotate.state_tensors("policy", {"t": self.t}) + 0.1
        self.t = annotate.update_state("policy", {"t": t})
        return torch.sin(t)


class Registered:
    def __init__(self) -> None:
        self.t = torch.zeros(2)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        t = annotate.register_buffer("policy", {"t": self.t})
        t += 0.1
        return torch.sin(t)


class Swapped:
    """Two states that take each other's place: the next value of one is another, untouched."""

    def __init__(self) -> None:
        self.a = torch.zeros(2)
        self.b = torch.ones(2)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.a, self.b = self.b, self.a + 1
        return self.b * 2


IN_ONE_PASS = (ClockInPlace, ClockBefore, SliceOfBuffer, BufferReassigned, Declared, Registered)
IN_TWO = (ClockReassigned, ClockAndMore, ClockItself, ClockMadeLate, Delay)


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("kind", IN_ONE_PASS, ids=lambda kind: kind.__name__)
def test_output_of_state_alone(kind: Callable[[], closed_loop.Program], backend: str, tmp_path: Path) -> None:
    closed_loop.check(kind, tmp_path, passes=(1, 2, 3), backends=(backend,))


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("kind", IN_TWO, ids=lambda kind: kind.__name__)
def test_output_of_state_that_a_later_call_shows(
    kind: Callable[[], closed_loop.Program], backend: str, tmp_path: Path
) -> None:
    closed_loop.check(kind, tmp_path, passes=(2, 3), backends=(backend,))


def test_states_that_take_each_others_place(tmp_path: Path) -> None:
    closed_loop.check(Swapped, tmp_path, passes=(3, 4))


def test_one_pass_of_a_clock_says_that_it_is_one_pass(tmp_path: Path) -> None:
    with pytest.raises(leapp.LeappValueError) as failure:
        closed_loop.export(ClockReassigned, tmp_path, passes=1)
    for word in ("'y'", "'policy'", "static_outputs", "2 passes"):
        assert word in str(failure.value)


class Constant:
    def __init__(self) -> None:
        self.gains = torch.tensor([1.0, 2.0])

    def __call__(self, x: torch.Tensor) -> Any:
        return x * 2, self.gains


class ConstantMadeAnew:
    def __call__(self, x: torch.Tensor) -> Any:
        return x * 2, torch.ones(2) * 3


class ConstantMadeOnce:
    def __init__(self) -> None:
        self.table: torch.Tensor | None = None

    def __call__(self, x: torch.Tensor) -> Any:
        if self.table is None:
            self.table = torch.arange(4.0) * 2
        return x + self.table, self.table


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("kind", [Constant, ConstantMadeAnew, ConstantMadeOnce], ids=lambda kind: kind.__name__)
def test_a_plain_constant_is_still_refused(kind: Any, passes: int, tmp_path: Path) -> None:
    with pytest.raises(leapp.LeappValueError) as failure:
        closed_loop.export(kind, tmp_path, passes=passes)
    for word in ("'y1'", "'policy'", "static_outputs", "closed_loop.py"):
        assert word in str(failure.value)
    assert "'y0'" not in str(failure.value)


def test_a_default_argument_that_is_returned(tmp_path: Path) -> None:
    scale = torch.tensor([1.0, 2.0])

    @annotate.method("node", export_with="jit")
    def node(x: torch.Tensor, gain: torch.Tensor = scale) -> Any:
        return x * 2, gain, gain + 1

    leapp.start("g", save_path=str(tmp_path))
    for i in range(2):
        node(torch.full((2,), float(i)))
    leapp.stop()
    leapp.compile_graph()
    assert harness.warnings_in(harness.read_log(tmp_path / "g")) == []
    found = leapp.InferenceManager(tmp_path / "g")({"node/x": torch.tensor([5.0, 6.0])})
    harness.assert_same([torch.tensor([10.0, 12.0]), scale, scale + 1], list(found.values()))


class Overwritten:
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        x[:] = 5.0
        return x * 2


class OverwrittenInPart:
    def __call__(self, x: torch.Tensor) -> Any:
        x[0] = 3.0
        return x[0] * 2, x * 2


class OverwrittenByATable:
    def __init__(self) -> None:
        self.table = torch.arange(4.0)

    def __call__(self, x: torch.Tensor) -> Any:
        x.copy_(self.table)
        return x + 1


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("kind", [Overwritten, OverwrittenByATable], ids=lambda kind: kind.__name__)
def test_an_output_is_constant_because_its_input_was_overwritten(kind: Any, backend: str, tmp_path: Path) -> None:
    folder = closed_loop.export(kind, tmp_path, passes=2, backend=backend)
    closed_loop.assert_equal(folder, kind)
    warnings = harness.warnings_in(harness.read_log(folder))
    assert len(warnings) == 1
    assert "constant" in warnings[0]
    assert "closed_loop.py" in warnings[0]


def test_an_input_overwritten_in_part(tmp_path: Path) -> None:
    closed_loop.check(OverwrittenInPart, tmp_path, passes=(1, 2))


def test_an_input_overwritten_with_state(tmp_path: Path) -> None:
    class Program(ClockReassigned):
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            self.t = self.t + 0.5
            x[:] = self.t
            return x * 2

    closed_loop.check(Program, tmp_path, passes=(2, 3))


@pytest.mark.parametrize("leaks", ["error", "constant"])
def test_leaks_decide_about_such_outputs_too(leaks: str, tmp_path: Path) -> None:
    if leaks == "error":
        with pytest.raises(leapp.LeappValueError, match="state_tensors"):
            closed_loop.export(ClockReassigned, tmp_path, leaks=leaks)
    else:
        with pytest.raises(leapp.ValidationError):
            closed_loop.export(ClockReassigned, tmp_path, leaks=leaks)


def test_a_node_without_a_model_takes_constants(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path), non_traced=["n"])
    annotate.input_tensors("n", {"x": X})
    annotate.output_tensors("n", {"y": torch.ones(2)}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph()["n"]
