# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""`leapp export-triton` and `leapp replay`. With Ray, and with Triton's own messages and server: tests/fleet."""

from __future__ import annotations

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
