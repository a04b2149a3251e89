# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Several processes export into one folder while another reads it; links lie in the folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import leapp
import torch
from leapp import annotate

EXPORTS = 3

EXPORTER = f"""
import sys
import torch, leapp
from leapp import annotate
folder, value = sys.argv[1], float(sys.argv[2])
torch.set_num_threads(1)
for i in range({EXPORTS}):
    leapp.start("g", save_path=folder)
    x = annotate.input_tensors("m", {{"x": torch.zeros(2)}})
    state = annotate.state_tensors("m", {{"s": torch.full((2,), value)}})
    annotate.update_state("m", {{"s": state + 0.0}})
    annotate.output_tensors("m", {{"y": x + value, "z": state * 1.0}}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
"""

# The model, the YAML and the initial values have to be of one export.
READER = """
import os, sys
import numpy as np, leapp
folder = sys.argv[1]
loads = 0
while not os.path.exists(folder + "/done"):
    outputs = leapp.InferenceManager(folder + "/g").run_policy({"m/x": np.zeros(2, np.float32)})
    y, z = (float(outputs[name][0]) for name in ("m/y", "m/z"))
    assert y == z, (y, z)
    loads += 1
print(loads)
"""


def export(folder: Path, value: float) -> None:
    leapp.start("g", save_path=str(folder))
    x = annotate.input_tensors("m", {"x": torch.zeros(2)})
    state = annotate.state_tensors("m", {"s": torch.full((2,), value)})
    annotate.update_state("m", {"s": state + 0.0})
    annotate.output_tensors("m", {"y": x + value, "z": state * 1.0}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", script, *(str(argument) for argument in arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_exports_take_turns_and_a_reader_sees_one_or_the_other(tmp_path: Path) -> None:
    export(tmp_path, 1.0)
    reader = start(READER, tmp_path)
    exporters = [start(EXPORTER, tmp_path, value) for value in (1.0, 2.0, 3.0)]
    for process in exporters:
        _, problem = process.communicate(timeout=300)
        assert process.returncode == 0, problem
    (tmp_path / "done").touch()
    loads, problem = reader.communicate(timeout=300)
    assert reader.returncode == 0, problem
    assert int(loads) > 3
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"g", "done"}, names


def test_links_in_the_folder_lead_nowhere(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    folder = tmp_path / "g"
    folder.mkdir()
    names = ["g.png", "g.html", "g.yaml", "log.txt", "m.onnx", "g_report.json", "g_initial_values.safetensors"]
    for name in [*names, *(f"{name}.part" for name in names)]:
        precious.with_name(f"precious_{name}").write_text("keep")
        (folder / name).symlink_to(precious.with_name(f"precious_{name}"))
    export(tmp_path, 1.0)
    leapp.compile_graph(visualize=True)
    for name in [*names, *(f"{name}.part" for name in names)]:
        assert precious.with_name(f"precious_{name}").read_text() == "keep", name
    for name in ("g.png", "g.yaml", "log.txt", "m.onnx"):
        assert not (folder / name).is_symlink(), name
        assert (folder / name).stat().st_size > 0, name
