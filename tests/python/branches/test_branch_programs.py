# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs with branches against themselves, on inputs that take the ways that were captured."""

from __future__ import annotations

from pathlib import Path

import branch_generator
import closed_loop
import harness
import kept_generator
import leapp
import pytest
from leapp import annotate

PROGRAMS = 2000 if harness.LONG else 100
KEPT_PROGRAMS = 1000 if harness.LONG else 50
CHUNK = 25
PASSES = 20
KEPT_PASSES = 40
NOBODY_KNOWS = (
    "no call shows what was in it at the beginning",
    f"no call came after the {PASSES} recorded",
    f"no call came after the {KEPT_PASSES} recorded",
)


def outcome(seed: int, folder: Path, kept: bool = False) -> str:
    """ "right", or why it was refused. What is wrong without a word is an error."""
    kind, source = (kept_generator if kept else branch_generator).made(seed)
    seen: set[tuple[bool, ...]] = set()
    program = kind()
    leapp.start("g", save_path=str(folder))
    for x in closed_loop.inputs(KEPT_PASSES if kept else PASSES, seed=seed):
        y = program(annotate.input_tensors("policy", {"x": x.clone()}))
        annotate.output_tensors("policy", {"y": y}, export_with="jit" if seed % 2 else "onnx")
        seen.add(tuple(program.way))
    leapp.stop()
    try:
        leapp.compile_graph(visualize=False)
    except leapp.LeappError as refused:
        return str(refused)
    told = harness.read_log(folder / "g")
    if any(text in told for text in NOBODY_KNOWS):
        return "right as far as anybody can tell"
    manager, fresh = leapp.InferenceManager(folder / "g"), kind()
    for step, x in enumerate(closed_loop.inputs(40, seed=10_000 + seed)):
        expected = fresh(x.clone())
        if tuple(fresh.way) not in seen:
            break  # what the program left in its state is none of what was captured
        problem = closed_loop.difference_in_step(manager, x, expected)
        assert problem is None, f"seed {seed}, step {step}: {problem}\n{source}\n{harness.read_log(folder / 'g')}"
    return "right"


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_random_programs(first: int, tmp_path: Path) -> None:
    found = [outcome(seed, tmp_path / str(seed)) for seed in range(first, first + CHUNK)]
    refused = [text for text in found if not text.startswith("right")]
    assert len(refused) <= CHUNK // 3, refused


@pytest.mark.parametrize("first", range(0, KEPT_PROGRAMS, CHUNK))
def test_random_programs_that_count_and_keep(first: int, tmp_path: Path) -> None:
    found = [outcome(seed, tmp_path / str(seed), kept=True) for seed in range(first, first + CHUNK)]
    refused = [text for text in found if not text.startswith("right")]
    assert len(refused) <= CHUNK * 3 // 5, refused
