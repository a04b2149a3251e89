# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""`leapp export-triton` and `leapp replay`. With Ray, and with Triton's own messages and server: tests/fleet."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import tool


def test_a_model_repository(leapp: tool.Tool, walk: Path) -> None:
    tool.check_golden("export_triton_walk.txt", leapp("export-triton", "walk", "--output", "models"))
    config = (leapp.cwd / "models/walk/config.pbtxt").read_text()
    tool.check_golden("export_triton_walk.pbtxt.txt", config)
    values = np.frombuffer((leapp.cwd / "models/walk/initial_state/h_in").read_bytes(), np.float32)
    assert values.any()
    before = (leapp.cwd / "models/walk/1/model.onnx").read_bytes()
    found = leapp.json("export-triton", "walk", "--output", "models")
    assert [model["backend"] for model in found["models"]] == ["onnxruntime"]
    assert (leapp.cwd / "models/walk/1/model.onnx").read_bytes() == before


def test_the_python_back_end_has_the_bundle_beside_it(leapp: tool.Tool, walk: Path) -> None:
    (leapp.cwd / "models/other").mkdir(parents=True)
    leapp("export-triton", "walk", "--output", "models", "--backend", "python", "--name", "served")
    served = leapp.cwd / "models/served"
    compile((served / "1/model.py").read_text(), "model.py", "exec")
    assert (served / "1/bundle/walk/walk.yaml").read_bytes() == (leapp.cwd / "walk/walk.yaml").read_bytes()
    leapp("check", served / "1/bundle/walk")
    assert "CONTROL_SEQUENCE_CORRID" in (served / "config.pbtxt").read_text()
    assert (leapp.cwd / "models/other").is_dir()


def test_bad_input_is_one_line(leapp: tool.Tool, walk: Path) -> None:
    assert "nowhere" in leapp.error("export-triton", "nowhere", "--output", "models")
    assert "--name: expected a name without slashes" in leapp.error(
        "export-triton", "walk", "--output", "models", "--name", "a/b"
    )
    (leapp.cwd / "file").write_text("")
    assert "file" in leapp.error("export-triton", "walk", "--output", "file/models")


def test_replay_is_handed_to_python(leapp: tool.Tool, walk: Path) -> None:
    leapp.environment |= {"LEAPP_PYTHON": sys.executable}
    leapp("run", "walk", "--steps", 20, "--trace", "data.npz")
    text = leapp("replay", "walk", "--data", "data.npz", "--output", "result", "--workers", 0)
    assert text.startswith("1 episodes, 20 steps in this process")
    assert (leapp.cwd / "result/replay.html").exists()
    assert "expected a folder of episodes" in leapp.error("replay", "walk", "--data", "none", "--output", "other")
    leapp.environment |= {"LEAPP_PYTHON": "/nowhere/python"}
    assert "/nowhere/python cannot be started" in leapp.error("replay", "walk", "--data", "data.npz")


def test_the_guides_commands(leapp: tool.Tool, walk: Path) -> None:
    text = (tool.ROOT / "docs/how_to/run_a_fleet.md").read_text(encoding="utf-8")
    leapp.environment |= {"LEAPP_PYTHON": sys.executable}
    (leapp.cwd / "logs").mkdir()
    leapp("run", "walk", "--steps", 20, "--trace", "logs/one.npz")
    for name in ("walk_new", "walk_old"):
        shutil.copytree(leapp.cwd / "walk", leapp.cwd / name)
        (leapp.cwd / name / "walk.yaml").rename(leapp.cwd / name / f"{name}.yaml")
    trace = dict(np.load(leapp.cwd / "logs/one.npz"))
    trace["outputs/post/y"][3, 0, 2] += 1
    np.savez(leapp.cwd / "logs/one.npz", **trace)
    blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    # What needs a cluster, or a dataset of LeRobot's: test_fleet_data.py has those.
    elsewhere = ("--address", "lerobot_dataset")
    commands = [line for block in blocks for line in block.splitlines() if not any(word in line for word in elsewhere)]
    assert len(commands) == 3
    for command in commands:
        leapp(*shlex.split(command)[1:])
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=leapp.cwd, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("one.npz 3 post/y [0,2] ")
