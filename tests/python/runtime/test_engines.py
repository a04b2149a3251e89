# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Which engine runs a bundle: chosen for it, or asked for. docs/how_to/run_a_bundle.md says the rule."""

from __future__ import annotations

import logging
from pathlib import Path

import hand_made
import leapp
import pytest
import torch
from harness import read_log
from leapp import InferenceManager, annotate

X = torch.linspace(-1, 1, 8).reshape(2, 4)


def export(folder: Path, random: bool = False) -> Path:
    layer = torch.nn.Linear(4, 4)
    leapp.start("graph", save_path=str(folder))
    x = annotate.input_tensors("node", {"x": X.clone()})
    y = torch.tanh(layer(x))
    if random:
        y = y + torch.randn_like(y)
    annotate.output_tensors("node", {"y": y}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "graph"


def test_auto_takes_leapps_own_engine_and_says_why(tmp_path: Path) -> None:
    manager = InferenceManager(export(tmp_path))
    (report,) = manager.engines
    assert report.native
    assert report.engine.startswith("native (")
    assert "covers every operator" in report.why
    assert report.operators
    assert all(why == "" for _, _, why in report.operators)
    other = InferenceManager(tmp_path / "graph", engine="onnxruntime")
    assert not other.engines[0].native
    assert other.engines[0].why == "it was asked for"
    torch.testing.assert_close(manager({"node/x": X})["node/y"], other({"node/x": X})["node/y"], rtol=1e-6, atol=1e-6)


def test_what_is_not_covered_falls_back_with_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bundle = export(tmp_path, random=True)
    with caplog.at_level(logging.INFO, logger="leapp"):
        manager = InferenceManager(bundle)
    (report,) = manager.engines
    assert not report.native
    missing = {name: why for name, _, why in report.operators if why}
    assert list(missing) == ["RandomNormal"]
    notes = [record.getMessage() for record in caplog.records if "runs on ONNX Runtime" in record.getMessage()]
    assert len(notes) == 1
    assert "does not cover 1 of its nodes, the first: RandomNormal" in notes[0]
    with pytest.raises(NotImplementedError, match="RandomNormal") as refused:
        InferenceManager(bundle, engine="native")
    assert "(makes " in str(refused.value)


def test_the_variable_says_what_auto_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hand_made.recurrent(tmp_path)
    monkeypatch.setenv("LEAPP_ENGINE", "onnxruntime")
    assert not InferenceManager(path).engines[0].native
    assert InferenceManager(path, engine="native").engines[0].native
    monkeypatch.setenv("LEAPP_ENGINE", "openvino")
    with pytest.raises(ValueError, match='LEAPP_ENGINE: expected auto, native or onnxruntime, found "openvino"'):
        InferenceManager(path)


def test_an_exported_model_is_validated_on_both_engines(tmp_path: Path) -> None:
    log = read_log(export(tmp_path))
    assert "1 sample ok on ONNX Runtime and LEAPP's own engine" in log
    log = read_log(export(tmp_path / "random", random=True))
    assert "1 sample ok on ONNX Runtime\n" in log


def test_without_onnxruntime_leapps_own_engine_validates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAPP_ONNXRUNTIME", "/nowhere")
    log = read_log(export(tmp_path))
    assert "1 sample ok on LEAPP's own engine" in log
    assert "whole pipeline: 1 pass ok" in log
