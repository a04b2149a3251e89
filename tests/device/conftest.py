# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of what is particular to tensors elsewhere. The rest are tests/python with LEAPP_TEST_DEVICE=annex."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import annex
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "support"))


def pytest_configure() -> None:
    torch.set_num_threads(1)
    annex.load()


@pytest.fixture(autouse=True)
def _plain_default() -> Iterator[None]:
    """These say where their tensors are, and no test inherits another's session."""
    default = torch.get_default_device()
    torch.set_default_device(None)
    yield
    torch.set_default_device(None if default.type == "cpu" else default)
    import harness
    import leapp

    if leapp._capture.hook_installed():
        harness.reset()
