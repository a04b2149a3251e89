# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Random scripted functions against themselves, on inputs that go ways that were not captured."""

from __future__ import annotations

from pathlib import Path

import closed_loop
import harness
import leapp
import pytest
import scripted_generator
from leapp import annotate

PROGRAMS = 1000 if harness.LONG else 50
CHUNK = 25
PASSES = 3
TOLD = ("the way it went", "branches on a value", "leaves the graph")


def outcome(seed: int, folder: Path) -> str:
    """ "right", "told" where the log says that the model has only what was seen, or why it was refused."""
    function, source = scripted_generator.made(seed)
    leapp.start("g", save_path=str(folder))
    for x in closed_loop.inputs(PASSES, seed=seed):
        expected = function(x.clone())
        found = function(annotate.input_tensors("policy", {"x": x.clone()}))
        assert harness.difference_in_bits([expected], [found.detach().clone()]) is None, f"seed {seed}\n{source}"
        annotate.output_tensors("policy", {"y": found}, export_with="jit" if seed % 2 else "onnx")
    leapp.stop()
    try:
        leapp.compile_graph(visualize=False)
    except leapp.LeappError as refused:
        return str(refused)
    log = harness.read_log(folder / "g")
    if any(text in log for text in TOLD):
        return "told"
    manager = leapp.InferenceManager(folder / "g")
    for step, x in enumerate(closed_loop.inputs(40, seed=20_000 + seed)):
        expected = function(x.clone())
        found = manager({"policy/x": x} if "policy/x" in manager.inputs else {})["policy/y"]
        problem = harness.difference([expected], [found], rtol=1e-3, atol=1e-4)
        assert problem is None, f"seed {seed}, step {step}: {problem}\n{source}\n{log}"
    return "right"


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_random_scripted_functions(first: int, tmp_path: Path) -> None:
    found = [outcome(seed, tmp_path / str(seed)) for seed in range(first, first + CHUNK)]
    assert found.count("right") >= CHUNK * 3 // 4, [text for text in found if text != "right"]
