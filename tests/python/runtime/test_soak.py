# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What runs for days: memory stays flat, and the last result is the one that a fresh run gives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import leapp
import numpy as np
import pytest
import torch
from leapp import annotate
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bundles/hostile"))
import attacks
from soaking import ROUNDS, STEPS, stays_flat

pytestmark = pytest.mark.long


def export_gru(folder: Path) -> Path:
    torch.manual_seed(0)
    cell, head = nn.GRUCell(8, 16), nn.Linear(16, 4)
    hidden = torch.zeros(1, 16)
    leapp.start("gru", save_path=str(folder))
    for _ in range(3):
        obs = annotate.input_tensors("policy", {"obs": torch.randn(1, 8)})
        h = annotate.state_tensors("policy", {"h": hidden})
        with torch.no_grad():
            hidden = cell(obs, h)
            action = head(hidden)
        annotate.update_state("policy", {"h": hidden})
        annotate.output_tensors("policy", {"action": action}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "gru"


def test_steps(tmp_path: Path) -> None:
    """Sampled steps, started anew from the state before them, give the same bits."""
    bundle = export_gru(tmp_path)
    manager = leapp.InferenceManager(bundle)
    fresh = leapp.InferenceManager(bundle)
    generator = np.random.default_rng(0)
    inputs = [{"policy/obs": generator.standard_normal((1, 8), np.float32)} for _ in range(64)]
    each = STEPS // 100

    def steps(_: int) -> bool:
        for k in range(each - 1):
            manager.run_policy(inputs[k & 63])
        state = manager.state
        found = manager.run_policy(inputs[0])["policy/action"]
        expected = fresh.run_policy({**inputs[0], **state})["policy/action"]
        assert np.array_equal(np.asarray(found), np.asarray(expected))
        return True

    stays_flat("steps of a policy with a GRU, from Python", steps, 100, each)


def test_loads(tmp_path: Path) -> None:
    bundle = attacks.stateful(tmp_path / "s")
    inputs = {"m/x": np.ones(4, np.float32)}
    first = np.asarray(leapp.InferenceManager(bundle).run_policy(inputs)["m/y"])

    def load(_: int) -> bool:
        assert np.array_equal(np.asarray(leapp.InferenceManager(bundle).run_policy(inputs)["m/y"]), first)
        return True

    stays_flat("loads of a bundle with state, and a step", load, ROUNDS)


def test_loads_that_fail(tmp_path: Path) -> None:
    names = [name for name, attack in attacks.ATTACKS.items() if attack.refused and "4mb" not in name]
    bundles = [
        attacks.ATTACKS[name].write(tmp_path / name) for name in names if name not in ("brackets", "nodes", "states")
    ]

    said: dict[int, str] = {}

    def load(i: int) -> bool:
        with pytest.raises(leapp.LeappError) as problem:
            leapp.InferenceManager(bundles[i % len(bundles)])
        assert said.setdefault(i % len(bundles), str(problem.value)) == str(problem.value)
        return i >= len(bundles)

    stays_flat("loads of hostile bundles, refused", load, ROUNDS)


def test_sessions(tmp_path: Path) -> None:
    model = nn.Linear(4, 4)
    first: list[bytes] = []

    def session(_: int) -> bool:
        leapp.start("s", save_path=str(tmp_path))
        x = annotate.input_tensors("m", {"x": torch.ones(1, 4)})
        annotate.output_tensors("m", {"y": model(x)}, export_with="onnx")
        leapp.stop()
        leapp.compile_graph(visualize=False, validate=False)
        written = (tmp_path / "s/m.onnx").read_bytes()
        if not first:
            first.append(written)
        assert written == first[0]
        return True

    stays_flat("sessions: capture, export to ONNX", session, ROUNDS)


class Stage:
    """Ends a session by an exception, at one of its stages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = nn.Linear(4, 4)

    def run(self, ends_at: int) -> None:
        for at, _ in enumerate(self.stages()):
            if at == ends_at:
                raise KeyboardInterrupt

    def stages(self) -> Iterator[None]:
        leapp.start("e", save_path=str(self.folder))
        yield
        x = annotate.input_tensors("m", {"x": torch.ones(1, 4)})
        yield
        y = self.model(x)
        yield
        annotate.output_tensors("m", {"y": y}, export_with="onnx")
        yield
        leapp.stop()
        yield
        leapp.compile_graph(visualize=False, validate=False)
        yield


def test_sessions_that_end_by_exceptions(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.run(99)
    first = (tmp_path / "e/m.onnx").read_bytes()

    def session(i: int) -> bool:
        with suppress(KeyboardInterrupt):
            stage.run(i % 7)
        if i % (ROUNDS // 20) != 0:
            return False
        (tmp_path / "e/m.onnx").unlink()
        stage.run(99)
        assert (tmp_path / "e/m.onnx").read_bytes() == first, i
        return True

    stays_flat("sessions ended by an exception, at each stage in turn", session, ROUNDS)
    assert leapp.InferenceManager(tmp_path / "e").inputs == ["m/x"]
