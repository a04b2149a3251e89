# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A notebook, run without a browser: what LEAPP says stands under the cell that it is about."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import leapp
import pytest

CELLS = [
    """
import torch, leapp
from leapp import annotate
leapp.start("walk", save_path="bundles")
""",
    """
for _ in range(2):
    obs = annotate.input_tensors("policy", {"obs": torch.ones(1, 4)})
    height = float(obs[0, 0])
    action = annotate.output_tensors("policy", {"action": torch.tanh(obs) * 2}, export_with="jit")
""",
    """
leapp.stop()
leapp.compile_graph(visualize=False)
""",
]


def test_a_notebook_shows_warnings_under_their_cell_and_where_the_bundle_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (requirements/dev.txt)")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed (requirements/dev.txt)")
    nbformat = pytest.importorskip("nbformat")
    kernel = tmp_path / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": start, "display_name": "this", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(leapp.__file__).parents[1]), *sys.path]))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in CELLS])

    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()

    shown = ["".join(o.text for o in cell.outputs if o.get("name") == "stderr") for cell in notebook.cells]
    assert shown[0] == ""
    assert shown[1].count("leapp: warning: ") == 1
    assert ":3: a value of node 'policy' leaves the graph through aten::item" in shown[1]
    assert shown[2] == f"leapp: Bundle: {tmp_path}/bundles/walk/walk.yaml\n"
