# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Both sides of a branch: paths that the passes took are all in the model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import branch_programs
import branch_robot_programs  # noqa: F401  (adds its own)
import branch_state_programs  # noqa: F401  (likewise)
import closed_loop
import harness
import leapp
import onnx
import pytest
import torch
from leapp import annotate

Program = Callable[[torch.Tensor], Any]
BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])
PASSES = 24  # enough for every path of every program

# Right is more than these can be: they fail, with the lines. A flag that is a new tensor each time is no value that a
# node computed; what two attributes hold after they were exchanged is computed in the same way; entries of a list that
# go on to the next only sometimes have no age; and an attribute is one tensor or many.
REFUSED = ("FlagTensor", "Swap", "RowOnOneWay", "InPlaceAndReplaced")


@BACKENDS
@pytest.mark.parametrize("name", branch_programs.PROGRAMS)
def test_every_path_that_was_taken_is_in_the_model(name: str, backend: str, tmp_path: Path) -> None:
    make = branch_programs.PROGRAMS[name]
    if name in REFUSED:
        with pytest.raises((leapp.ValidationError, ValueError), match=r"branch_state_programs\.py:\d+|differ"):
            closed_loop.export(make, tmp_path, passes=PASSES, backend=backend)
        return
    folder = closed_loop.export(make, tmp_path, passes=PASSES, backend=backend)
    closed_loop.assert_equal(folder, make, steps=60)
    log = harness.warnings_in(harness.read_log(folder))
    told = [line for line in log if "branches on a value" in line or "leaves the graph" in line]
    # A loop that ends on data has a longest run.
    assert [line for line in told if not ("while" in name and "in round" in line)] == []


def test_one_side_is_exported_as_it_was_taken_with_counts(tmp_path: Path) -> None:
    def one_way(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x[0] > -1000 else x - 1  # here

    folder = closed_loop.export(lambda: one_way, tmp_path, passes=4)
    found = harness.warnings_in(harness.read_log(folder))
    assert len(found) == 1
    assert "was true in all 4 cases, never false" in found[0]
    assert harness.location_pattern(__file__, harness.line_of(one_way, "# here")).search(found[0])


def test_what_does_not_branch_is_the_same_to_the_byte(tmp_path: Path) -> None:
    """A guard that went one way only leaves no trace in the model."""

    def plain(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).tanh()

    def guarded(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        if torch.isnan(y).any():
            return torch.zeros(4)
        return y.tanh()

    def model(kind: Program, name: str) -> bytes:
        folder = closed_loop.export(lambda: kind, tmp_path / name, passes=3, backend="onnx")
        graph = onnx.load(folder / "policy.onnx").graph
        for node in graph.node:
            node.doc_string = ""
            del node.metadata_props[:]
        return bytes(graph.SerializeToString(deterministic=True))

    assert model(plain, "plain") == model(guarded, "guarded")


def test_ways_that_were_not_seen_together_are_told(tmp_path: Path) -> None:
    def two(x: torch.Tensor) -> torch.Tensor:
        y = x + 1 if x[0] > 0 else x
        return y * 2 if x[1] > 0 else y  # here

    leapp.start("loop", save_path=str(tmp_path))
    for signs in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0)):  # not (-1, -1)
        x = annotate.input_tensors("policy", {"x": torch.tensor([*signs, 0.0, 0.0])})
        annotate.output_tensors("policy", {"y": two(x)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    found = harness.warnings_in(harness.read_log(tmp_path / "loop"))
    assert len(found) == 1
    assert "run a pass in which it is false there" in found[0]
    assert harness.location_pattern(__file__, harness.line_of(two, "# here")).search(found[0])


def test_branches_that_do_not_touch_each_other_need_not_be_seen_together(tmp_path: Path) -> None:
    def apart(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a = x + 1 if x[0] > 0 else x * 3
        b = x * 2 if x[1] > 0 else x - 5
        return a, b

    leapp.start("loop", save_path=str(tmp_path))
    for signs in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0)):  # not (-1, -1)
        x = annotate.input_tensors("policy", {"x": torch.tensor([*signs, 0.0, 0.0])})
        annotate.output_tensors("policy", closed_loop.names(list(apart(x))), export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert harness.warnings_in(harness.read_log(tmp_path / "loop")) == []
    closed_loop.assert_equal(tmp_path / "loop", lambda: apart)


def test_more_paths_than_are_kept(tmp_path: Path) -> None:
    def many(x: torch.Tensor) -> torch.Tensor:
        for i in range(8):
            x = x * 2 if x[i] > 0 else x * 1.0 + 0.5
        return x

    folder = closed_loop.export(lambda: many, tmp_path, passes=90, shape=(8,), strict=False)
    assert any("more than 64 paths" in line for line in harness.warnings_in(harness.read_log(folder)))


def test_sides_of_another_shape_are_refused(tmp_path: Path) -> None:
    def shapes(x: torch.Tensor) -> torch.Tensor:
        return x if x[0] > 0 else x[:2]

    with pytest.raises(ValueError, match="output 'y'"):
        closed_loop.export(lambda: shapes, tmp_path, passes=12)


def test_a_clock_is_no_value_of_the_model(tmp_path: Path) -> None:
    clock = iter(range(100))

    def ticks(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if torch.tensor(next(clock) % 4) > 1 else x - 1

    with pytest.raises((leapp.ValidationError, AssertionError)):
        closed_loop.export(lambda: ticks, tmp_path, passes=5)


def test_state_that_is_set_before_anybody_reads_it(tmp_path: Path) -> None:
    class Goal:
        def __init__(self) -> None:
            self.goal = torch.ones(4)

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            if x[0] > 0:
                self.goal = x * 3
            return x - self.goal

    program = Goal()
    leapp.start("loop", save_path=str(tmp_path))
    for first in (1.0, -1.0, -2.0, 2.0, 3.0):
        x = annotate.input_tensors("policy", {"x": torch.tensor([first, 0.5, 0.0, 0.0])})
        annotate.output_tensors("policy", {"y": program(x)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    found = harness.warnings_in(harness.read_log(tmp_path / "loop"))
    assert any("no call shows what was in it at the beginning" in line for line in found), found


def test_state_that_the_first_step_sets_whatever_the_input(tmp_path: Path) -> None:
    """What it began with is nobody's business: only a later step can read it."""
    make = branch_programs.PROGRAMS["FirstValue"]
    found = harness.warnings_in(harness.read_log(closed_loop.export(make, tmp_path, passes=4)))
    assert [line for line in found if "announcing" not in line] == []


def test_branches_that_changed_only_together_are_told(tmp_path: Path) -> None:
    def two(x: torch.Tensor) -> torch.Tensor:
        n = int(bool(x[0] > 0)) + int(bool(x[1] > 0)) + int(bool(x[2] > 0))  # here
        return x * n

    leapp.start("loop", save_path=str(tmp_path))
    for signs in ((1.0, 1.0, 1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0), (1.0, -1.0, 1.0)):
        x = annotate.input_tensors("policy", {"x": torch.tensor([*signs, 0.0])})
        annotate.output_tensors("policy", {"y": two(x)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    found = harness.warnings_in(harness.read_log(tmp_path / "loop"))
    assert len(found) == 1, found
    assert "changed only together with other branches" in found[0]
    assert harness.location_pattern(__file__, harness.line_of(two, "# here")).search(found[0])


def test_a_way_that_only_the_last_call_took_and_what_it_left(tmp_path: Path) -> None:
    class Last:
        def __init__(self) -> None:
            self.goal = torch.ones(4)

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            y = x - self.goal
            if x[0] > 0:
                self.goal = x * 3  # here
            return y

    program = Last()
    leapp.start("loop", save_path=str(tmp_path))
    for first in (-1.0, -2.0, 2.0):
        x = annotate.input_tensors("policy", {"x": torch.tensor([first, 0.5, 0.0, 0.0])})
        annotate.output_tensors("policy", {"y": program(x)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    found = harness.warnings_in(harness.read_log(tmp_path / "loop"))
    assert len(found) == 1, found
    assert "leaves a tensor in 'goal', and no call came after the 3 recorded" in found[0]
    assert harness.location_pattern(__file__, harness.line_of(Last.__call__, "# here")).search(found[0])


def test_guards_stand_on_the_page_at_what_decides(tmp_path: Path) -> None:
    def two(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x - 1

    leapp.start("loop", save_path=str(tmp_path))
    for x in closed_loop.inputs(8):
        y = two(annotate.input_tensors("policy", {"x": x}))
        annotate.output_tensors("policy", {"y": y}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=True)
    page = (tmp_path / "loop" / "loop.html").read_text()
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    shown = json.loads(data.group(1))
    node = shown["nodes"][0]
    guards = [finding for finding in node["findings"] if "branches on data" in finding["text"]]
    assert len(guards) == 1
    ways = [sum(bool(x.sum() > 0) == way for x in closed_loop.inputs(8)) for way in (True, False)]
    assert guards[0]["severity"] == "note"
    assert f"{ways[0]} times yes, {ways[1]} times no" in guards[0]["text"]
    decides = node["operators"][guards[0]["op"]]
    assert shown["lines"][decides["line"]]["line"] == harness.line_of(two, "x.sum() > 0")


class EveryFifthStep:
    """One way writes the latent's memory as a whole, the other reads it in its shape."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.encoder, self.head = torch.nn.GRU(4, 8, batch_first=True), torch.nn.Linear(12, 3)
        self.hidden, self.latent = torch.zeros(1, 1, 8), torch.zeros(1, 8)
        self.steps = torch.zeros((), dtype=torch.long)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.steps % 5 == 0:
            encoded, hidden = self.encoder(x[:, None], self.hidden)
            self.hidden.copy_(hidden)
            self.latent.copy_(encoded[:, 0])
        self.steps += 1
        return self.head(torch.cat([self.latent, x], -1))


@torch.no_grad()
def test_a_latent_that_is_computed_every_fifth_step(tmp_path: Path) -> None:
    closed_loop.check(EveryFifthStep, tmp_path, passes=[11], shape=(1, 4))
