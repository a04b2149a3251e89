# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that the program advances between nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import leapp
import pytest
import torch
from leapp import annotate

BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])


class Environment:
    def __init__(self) -> None:
        self.episode_length = torch.zeros(2, dtype=torch.int64)
        self.phase = torch.tensor(0.25)


Advance = Callable[[Environment, int], None]


def step(env: Environment) -> None:
    env.episode_length += 1


def run(
    folder: Path, advance: Advance, passes: int = 5, backend: str = "jit", before: bool = False, **options: Any
) -> Path:
    env = Environment()
    leapp.start("g", save_path=str(folder), **options)
    for i in range(5):
        if before:
            advance(env, i)
        x = annotate.input_tensors("policy", {"x": torch.full((2,), float(i))})
        annotate.output_tensors("policy", {"y": x * 2 + env.episode_length * env.phase}, export_with=backend)
        if not before:
            advance(env, i)
    leapp.stop()
    leapp.compile_graph()
    return folder / "g"


@BACKENDS
@pytest.mark.parametrize("before", [False, True])
def test_a_counter_is_a_node_of_its_own(backend: str, before: bool, tmp_path: Path) -> None:
    def advance(env: Environment, i: int) -> None:
        env.episode_length += 1
        env.phase.add_(0.125).mul_(1.5)

    folder = run(tmp_path, advance, backend=backend, before=before)
    manager, env = leapp.InferenceManager(folder), Environment()
    assert manager.inputs == ["policy/x"]
    for i in range(20):
        if before:
            advance(env, i)
        x = torch.randn(2)
        found = manager({"policy/x": x})["policy/y"]
        assert harness.difference([x * 2 + env.episode_length * env.phase], [found]) is None, i
        if not before:
            advance(env, i)
    manager.reset()
    told = harness.warnings_in(harness.read_log(folder))
    assert len(told) == 2
    for name, line in zip(("episode_length", "phase"), sorted(told, key=lambda text: "phase" in text), strict=True):
        assert f"a node of its own, '{name}', which feeds input '{name}' of node 'policy'" in line
        assert "test_counters.py:" in line


def test_two_nodes_that_read_one_counter(tmp_path: Path) -> None:
    env = Environment()
    leapp.start("g", save_path=str(tmp_path))
    for i in range(4):
        x = annotate.input_tensors("first", {"x": torch.full((2,), float(i))})
        y = annotate.output_tensors("first", {"y": x + env.episode_length}, export_with="onnx")
        y = annotate.input_tensors("second", {"y": y})
        annotate.output_tensors("second", {"z": y * 2 - env.episode_length}, export_with="onnx")
        step(env)
    leapp.stop()
    leapp.compile_graph()
    manager = leapp.InferenceManager(tmp_path / "g")
    for i in range(6):
        found = manager({"first/x": torch.zeros(2)})["second/z"]
        assert torch.equal(found, torch.full((2,), float(i))), i


def test_an_error_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(leapp.LeappError, match=r"annotate\.input_tensors\('policy', {'episode_length': "):
        run(tmp_path, lambda env, i: step(env), leaks="error")


def test_a_reset_is_refused_in_words(tmp_path: Path) -> None:
    def advance(env: Environment, i: int) -> None:
        env.episode_length += 1
        if i == 2:
            env.episode_length[torch.tensor([0])] = 0

    with pytest.raises(leapp.ValidationError):
        run(tmp_path, advance)
    log = harness.read_log(tmp_path / "g")
    assert "aten::index_put_" in log
    assert "outside of all nodes, and no model can do that for it" in log


def test_a_step_that_changes_is_refused_in_words(tmp_path: Path) -> None:
    def advance(env: Environment, i: int) -> None:
        env.episode_length += 1 + i // 3

    with pytest.raises(leapp.ValidationError):
        run(tmp_path, advance)
    assert "it does something else than before" in harness.read_log(tmp_path / "g")
