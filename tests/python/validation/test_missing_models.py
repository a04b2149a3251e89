# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A node without export_with gets no model: the console says so, and the summary counts it as skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from leapp import annotate

WARNING = "no model was written for"


def run(nodes: dict[str, dict[str, Any]], folder: Path, **options: Any) -> None:
    leapp.start("g", save_path=folder, **options)
    for _ in range(2):
        for name, arguments in nodes.items():
            x = annotate.input_tensors(name, {"x": torch.randn(3)})
            annotate.output_tensors(name, {"y": x * 2}, **arguments)
    leapp.stop()


def test_a_forgotten_export_with_is_warned_about(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run({"p": {}, "q": {"export_with": "onnx"}}, tmp_path)
    results = leapp.compile_graph()
    assert results == {"p": True, "q": True}
    assert results.nodes["p"].status == "skipped"
    assert capfd.readouterr().err.count(f"{WARNING} node 'p'") == 1
    log = (tmp_path / "g" / "log.txt").read_text()
    assert "Validation: 1 passed, 0 failed, 0 errored, 1 skipped" in log


def test_nodes_that_are_meant_to_have_no_model(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run({"p": {}}, tmp_path, non_traced=["p"])
    leapp.compile_graph()
    run({"p": {}}, tmp_path, dry_run=True)
    leapp.compile_graph()
    assert WARNING not in capfd.readouterr().err
