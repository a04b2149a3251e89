# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The examples run, and what C++ prints is what Python printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
import yaml
from leapp import _capture

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(_capture.__file__).resolve().parents[2] / "examples"


def run(*command: str | Path) -> list[str]:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_getting_started_in_cpp_prints_the_same_numbers(tmp_path: Path) -> None:
    steps = run(sys.executable, ROOT / "examples" / "getting_started.py", tmp_path)
    assert len({line.split("=")[1] for line in steps}) == 3
    assert run(BUILT / "getting_started", tmp_path / "getting_started") == steps


def test_complete_pipeline_in_cpp_writes_the_same_bundle(tmp_path: Path) -> None:
    printed = run(sys.executable, ROOT / "examples" / "complete_pipeline.py", tmp_path / "python")
    assert printed[0].startswith("class")
    assert run(BUILT / "complete_pipeline", tmp_path / "cpp") == printed
    folders = [tmp_path / "python" / "complete_pipeline", tmp_path / "cpp" / "complete_pipeline"]
    texts = [(folder / "complete_pipeline.yaml").read_text() for folder in folders]
    first, second = (text.partition("system information:")[0] for text in texts)
    assert "preprocess/normalized: [inference/features]" in first
    assert first.count("sha256sum: ") == 3
    assert first == second
    for node in ("preprocess", "inference", "postprocess"):
        python, cpp = (torch.jit.load(str(folder / f"{node}.pt")) for folder in folders)
        assert python.code == cpp.code
        assert list(python.state_dict()) == list(cpp.state_dict())
        x = torch.linspace(-1.0, 1.0, 10 if node != "postprocess" else 5).unsqueeze(0)
        assert torch.equal(python(x), cpp(x))


def test_semantics_are_in_the_yaml(tmp_path: Path) -> None:
    ports = yaml.safe_load("\n".join(run(sys.executable, ROOT / "examples" / "semantics.py", tmp_path)))
    joints = ["hip", "knee", "ankle"]
    assert ports["pipeline"]["configs"] == {"frequency": 50.0}
    q, history = ports["models"]["policy"]["inputs"]
    assert (q["kind"], q["element_names"]) == ("state/joint/position", [joints])
    assert (history["element_names"], history["temporal_period_ms"]) == (["__temporal_axis__", joints], 20.0)
    target, gain = ports["models"]["policy"]["outputs"]
    assert (target["kind"], target["unit"], gain["kind"]) == ("target/joint/position", "rad", "kp")
    assert torch.jit.load(str(tmp_path / "semantics/policy.pt"))(torch.ones(3), torch.zeros(5, 3))[1].tolist() == [
        20,
        20,
        10,
    ]


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
