# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a user reads when a pipeline of three nodes fails: console and report, word for word.

LEAPP_WRITE_GOLDEN=1 writes the files anew; read the difference as a new user would.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import leapp
import onnx
import pytest
import torch
from validation_golden import program
from validation_kit import again, edit_onnx, node_of

GOLDEN = Path(program.__file__).parent


def settled(text: str, folder: Path) -> str:
    """Without what is different on every machine."""
    text = text.replace(str(folder), "/tmp/walk").replace(str(GOLDEN), "/home/me")
    text = re.sub(r"\d+ ms", "N ms", text)
    return re.sub(r"\[ONNX Runtime [^]]*\]", "[ONNX Runtime]", text)


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("LEAPP_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def test_a_failing_pipeline(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    leapp.start("walk", save_path=tmp_path)
    pipeline = program.Pipeline()
    for i in range(3):
        pipeline.step(torch.tensor([[1.0, 2.0]]) * (i + 1))
    leapp.stop()
    folder = tmp_path / "walk"
    leapp.compile_graph(visualize=False, strict=False)

    def bend(model: onnx.ModelProto) -> None:
        node_of(model, "Relu").op_type = "Abs"

    edit_onnx(folder / "policy.onnx", bend)
    capfd.readouterr()
    report = again()
    compare("console.txt", settled(capfd.readouterr().err, folder))
    compare("report.json", settled((folder / "walk_report.json").read_text(), folder))
    with pytest.raises(leapp.ValidationError) as raised:
        report.raise_for_validation()
    compare("error.txt", settled(str(raised.value), folder) + "\n")
