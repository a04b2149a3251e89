# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""examples/mujoco: the arm that a C++ program drives goes where the one goes that Python drives."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import bundle_runner
import harness
import numpy as np
import pytest

EXAMPLE = harness.EXAMPLES / "mujoco"
PROGRAM = bundle_runner.BUILD / "examples" / "mujoco_arm"

pytest.importorskip("mujoco", reason="the package mujoco is not installed, so examples/mujoco is left out")


def call(*command: str | Path) -> str:
    environment = {**os.environ, **bundle_runner.ONNXRUNTIME, "PYTHONPATH": str(bundle_runner.BUILD / "python")}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(script: str, *arguments: str | Path) -> str:
    return call(sys.executable, EXAMPLE / script, *arguments)


def read(file: Path) -> dict[str, np.ndarray]:
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mujoco")
    python("export.py", folder)
    for mode in ("first_frame", "exported"):
        call(PROGRAM, folder / "arm", EXAMPLE / "arm.xml", EXAMPLE / "limits.yaml", folder / f"{mode}.csv", mode)
    python("simulate.py", folder / "arm", folder / "python.csv")
    python("simulate.py", folder / "arm", folder / "eager.csv", "--eager")
    return folder


def test_the_trajectory_is_python_s(runs: Path) -> None:
    """The same MuJoCo library and the same engine: not a bit differs."""
    assert (runs / "first_frame.csv").read_bytes() == (runs / "python.csv").read_bytes()
    assert len(read(runs / "python.csv")["time"]) == 400


def test_the_recording_is_the_same_again(runs: Path) -> None:
    done = call(bundle_runner.BUILD / "bin" / "leapp", "run", runs / "arm", "--replay", runs / "first_frame.csv.mcap")
    assert "over 400 steps, to the last bit" in done


def test_the_trajectory_is_pytorch_s(runs: Path) -> None:
    """Other kernels round in another way: a loop that is stable keeps that small."""
    ours, theirs = read(runs / "first_frame.csv"), read(runs / "eager.csv")
    for joint in ("shoulder", "elbow", "wrist"):
        assert np.abs(ours[joint] - theirs[joint]).max() < 1e-4


def test_the_arm_follows_its_target(runs: Path) -> None:
    run = read(runs / "first_frame.csv")
    missed = np.hypot(run["tip_x"] - run["target_x"], run["tip_z"] - run["target_z"])
    assert missed[100:].mean() < 0.04


def test_a_history_of_zeros_kicks(runs: Path) -> None:
    good, bad = read(runs / "first_frame.csv"), read(runs / "exported.csv")
    torque = "torque_elbow"
    assert abs(good[torque][0] - bad[torque][0]) > 5.0
    assert np.abs(good["elbow"][:25] - bad["elbow"][:25]).max() > 0.01


def test_the_film_has_both_runs_in_it(runs: Path) -> None:
    python("animate.py", runs / "arm.html", runs / "first_frame.csv", runs / "exported.csv")
    page = (runs / "arm.html").read_text()
    assert "/* DATA */" not in page
    assert page.count('"torque_shoulder":[') == 2


def test_what_is_wrong_is_said(runs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    other.write_text((EXAMPLE / "arm.xml").read_text().replace('joint name="wrist"', 'joint name="ankle"'))
    broken = other.read_text().replace('joint="wrist"', 'joint="ankle"')
    other.write_text(broken)
    command = [PROGRAM, runs / "arm", other, EXAMPLE / "limits.yaml", tmp_path / "out.csv"]
    environment = {**os.environ, **bundle_runner.ONNXRUNTIME}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert "wrist" in done.stderr
    assert "ankle" in done.stderr
    assert subprocess.run([PROGRAM], capture_output=True, text=True, check=False).returncode == 2
