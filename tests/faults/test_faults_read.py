# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A disk that does not answer while a bundle is loaded is an error that names the file, at whichever call it happens;
reads that are short or interrupted are none."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import leapp
import pytest
import torch
from faults import BUILD, preloaded_environment
from leapp import annotate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import record

PROGRAM = BUILD / "tests/faults/read_faults"
WAYS = {
    "once": "one call that reads files",
    "gone": "a call that reads files, and all after it: the disk is gone",
    "short": "a read that gives half of what it was asked for",
    "interrupted": "a read that a signal interrupts",
}


def export(folder: Path, weights_beside: bool = False) -> Path:
    """Two nodes with state. LEAPP's own engine leaves models with weights beside them to ONNX Runtime."""
    torch.manual_seed(0)
    cell, head = torch.nn.GRUCell(8, 16), torch.nn.Linear(16, 4)
    hidden = torch.zeros(1, 16)
    leapp.start("g", save_path=str(folder))
    for _ in range(2):
        x = annotate.input_tensors("cell", {"x": torch.ones(1, 8)})
        h = annotate.state_tensors("cell", {"h": hidden})
        with torch.no_grad():
            hidden = annotate.update_state("cell", {"h": cell(x, h)})
        beside = {"external_data_above": 1000} if weights_beside else None
        out = annotate.output_tensors("cell", {"out": hidden * 2}, export_with="onnx", backend_params=beside)
        y = annotate.input_tensors("head", {"y": out})
        with torch.no_grad():
            annotate.output_tensors("head", {"action": head(y)}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert (folder / "g/cell.onnx.data").exists() == weights_beside
    return folder / "g/g.yaml"


def run(bundle: Path, engine: str, way: str, step: int = 1, key: Path | None = None) -> dict[str, int]:
    command = [str(PROGRAM), str(bundle), engine, way, str(step), *([str(key)] if key else [])]
    done = subprocess.run(
        command, env=preloaded_environment(), capture_output=True, text=True, timeout=600, check=False
    )
    print(done.stdout, done.stderr)  # which call, and what was said
    assert done.returncode == 0, done.stderr
    found = {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", done.stdout)}
    assert found["died"] == found["wrong"] == 0, found
    return found


@pytest.mark.parametrize("way", WAYS)
def test_every_call(way: str, tmp_path: Path) -> None:
    """On both engines, and of a signed bundle."""
    leapp.keygen(tmp_path / "private.pem", tmp_path / "public.pem")
    runs = []
    for engine, beside in (("native", False), ("onnxruntime", True)):
        bundle = export(tmp_path / engine, beside)
        runs.append(run(bundle, engine, way))
        leapp.sign(bundle, tmp_path / "private.pem")
        runs.append(run(bundle, engine, way, key=tmp_path / "public.pem"))
        assert engine == "onnxruntime" or runs[-1]["said_by_engine"] == 0
    for found in runs:
        assert found["tried"] == found["calls"] > 4, found
        assert found["other"] == 0, found
        assert way in ("once", "gone") or found["loaded"] == found["tried"], found
        assert way in ("short", "interrupted") or found["io"] > 0, found
    tried = sum(found["tried"] for found in runs)
    record.record("faults", f"{WAYS[way]} while loading", {"tried": tried, "survived": tried})


@pytest.mark.parametrize("way", ["once", "gone"])
def test_a_bundle_that_is_not_what_was_signed_never_loads(way: str, tmp_path: Path) -> None:
    bundle = export(tmp_path)
    leapp.keygen(tmp_path / "private.pem", tmp_path / "public.pem")
    leapp.sign(bundle, tmp_path / "private.pem")
    (bundle.parent / "more.txt").write_text("nobody signed this")
    found = run(bundle, "native", way, key=tmp_path / "public.pem")
    assert found["loads"] == found["loaded"] == 0, found
    assert found["tried"] == found["calls"] > 4, found
