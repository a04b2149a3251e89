# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""`make test-fleet`: in a venv of its own, with Ray and Triton and without torch."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "support"))

from fleet_bundles import gru, two_delays
from hand_made import recurrent


@pytest.fixture(scope="session")
def gru_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gru(tmp_path_factory.mktemp("bundles") / "gru")


@pytest.fixture
def recurrent_bundle(tmp_path: Path) -> Path:
    return recurrent(tmp_path)


@pytest.fixture
def delays_bundle(tmp_path: Path) -> Path:
    return two_delays(tmp_path)


@pytest.fixture(scope="session")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 episodes of 1,000 steps."""
    folder = tmp_path_factory.mktemp("episodes")
    for episode in range(200):
        values = np.random.default_rng(episode).standard_normal((1000, 1, 48)).astype(np.float32)
        np.savez(folder / f"run{episode:03d}.npz", **{"policy/obs": values})
    return folder
