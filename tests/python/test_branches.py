# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Both sides of a branch: paths that the passes took are all in the model."""

from __future__ import annotations

from pathlib import Path

import branch_programs
import closed_loop
import harness
import leapp
import pytest

BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])
PASSES = 24  # enough for every path of every program

# Right is more than these can be: they fail, with the lines. A flag that is a new tensor each time is no value that a
# node computed; what two attributes hold after they were exchanged is computed in the same way.
REFUSED = ("FlagTensor", "Swap")


@BACKENDS
@pytest.mark.parametrize("name", branch_programs.PROGRAMS)
def test_every_path_that_was_taken_is_in_the_model(name: str, backend: str, tmp_path: Path) -> None:
    make = branch_programs.PROGRAMS[name]
    if name in REFUSED:
        with pytest.raises(leapp.ValidationError, match=r"branch_programs\.py:\d+|differ"):
            closed_loop.export(make, tmp_path, passes=PASSES, backend=backend)
        return
    folder = closed_loop.export(make, tmp_path, passes=PASSES, backend=backend)
    closed_loop.assert_equal(folder, make, steps=60)
    log = harness.warnings_in(harness.read_log(folder))
    assert [line for line in log if "branches on a value" in line or "leaves the graph" in line] == []
