# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Both sides of a branch: paths that the passes took are all in the model."""

from __future__ import annotations

from pathlib import Path

import branch_programs
import closed_loop
import harness
import pytest

BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])
PASSES = 24  # enough for every path of every program


@BACKENDS
@pytest.mark.parametrize("name", branch_programs.PROGRAMS)
def test_every_path_that_was_taken_is_in_the_model(name: str, backend: str, tmp_path: Path) -> None:
    make = branch_programs.PROGRAMS[name]
    folder = closed_loop.export(make, tmp_path, passes=PASSES, backend=backend)
    closed_loop.assert_equal(folder, make, steps=60)
    branches = [line for line in harness.warnings_in(harness.read_log(folder)) if "branch" in line]
    assert branches == []
