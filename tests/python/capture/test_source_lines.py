# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A .pt file holds the user's files and lines only when asked: its bytes are then the same wherever it is exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import line_of
from leapp import annotate


def export(tmp_path: Path, **params: Any) -> Path:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.ones(2, 3)})
    y = torch.mm(x, torch.ones(3, 2))  # the product
    annotate.output_tensors("n", {"y": y}, export_with="jit", backend_params=params)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return tmp_path / "g" / "n.pt"


def error_of(model: Path) -> str:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.load(str(model))(torch.ones(2, 5))
    return str(caught.value)


def test_no_files_or_lines_unless_asked(tmp_path: Path) -> None:
    model = export(tmp_path)
    assert Path(__file__).name not in error_of(model)
    assert Path(__file__).name.encode() not in model.read_bytes()


def test_errors_of_the_model_name_the_users_line(tmp_path: Path) -> None:
    message = error_of(export(tmp_path, source_lines=True))
    assert f'{Path(__file__).name}", line {line_of(export, "# the product")}' in message


def test_the_option_is_a_bool_of_jit(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    with pytest.raises(TypeError, match=r"'source_lines'.*bool"):
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit", backend_params={"source_lines": 1})
    with pytest.raises(ValueError, match="no 'source_lines'"):
        annotate.output_tensors("n", {"y": x * 2}, export_with="onnx", backend_params={"source_lines": True})
