# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The examples run, and what C++ prints is what Python printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from leapp import _capture

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(_capture.__file__).resolve().parents[2] / "examples"


def run(*command: str | Path) -> list[str]:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_recurrent_policy_in_cpp_prints_the_same_numbers(tmp_path: Path) -> None:
    exported = run(sys.executable, ROOT / "examples" / "recurrent_policy.py", tmp_path)
    steps = [line for line in exported if line.startswith("step")]
    assert len(steps) == 5
    assert len({line.split("=")[1] for line in steps}) == 5
    assert run(BUILT / "recurrent_policy", tmp_path / "recurrent_policy") == steps


def test_recurrent_policy_in_cpp_says_how_to_use_it() -> None:
    done = subprocess.run([BUILT / "recurrent_policy"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage" in done.stderr
    missing = subprocess.run([BUILT / "recurrent_policy", "/nowhere"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1
    assert "/nowhere" in missing.stderr


def test_export_from_cpp(tmp_path: Path) -> None:
    printed = run(BUILT / "export_from_cpp", tmp_path)
    assert "policy: passed" in printed
    model = torch.jit.load(str(tmp_path / "from_cpp" / "policy.pt"))
    assert list(model.state_dict()) == ["actor.weight"]
    obs = torch.linspace(-1.0, 1.0, 16).unsqueeze(0)
    scaled = torch.cat([0.5 * obs[:, :4], obs[:, 4:]], dim=1)
    torch.testing.assert_close(model(obs), torch.tanh(0.125 * scaled.sum(dim=1, keepdim=True).expand(1, 4)))
