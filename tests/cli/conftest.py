# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the program, and bundles for it."""

from __future__ import annotations

from pathlib import Path

import bundles
import pytest
import tool


@pytest.fixture
def leapp(tmp_path: Path) -> tool.Tool:
    return tool.Tool(cwd=tmp_path)


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """pre (2x + 1) -> policy (h = h/2 + f, y = 2h) -> post (y/2), h fed back: three ONNX nodes with state."""
    return bundles.write_recurrent(tmp_path / "walk")
