# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that runs out between start() and stop(): an error, or the right bundle, and the next session as the first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from faults import BUILD, LIBRARY

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import record

WHAT = {
    "first": "a request for memory while capturing, in the first session of a process",
    "later": "a request for memory while capturing, in a later session",
}
NEVER = ("silent", "changed", "exception", "next_wrong", "died")


def capture(folder: Path, program: str, session: str, step: int) -> dict[str, int]:
    environment = os.environ | {"LD_PRELOAD": str(LIBRARY)}
    command = [str(BUILD / "tests/faults/capture_faults"), str(folder), program, session, str(step)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace", timeout=6000, check=False
    )
    print(done.stdout, done.stderr)  # who died where
    assert done.returncode == 0, done.stderr
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", done.stdout.splitlines()[-1])}


@pytest.mark.parametrize(
    ("program", "session", "step"),
    [
        ("careful", "first", 797),
        ("stubborn", "later", 97),
        pytest.param("stubborn", "first", 1, marks=pytest.mark.long),
        pytest.param("stubborn", "later", 1, marks=pytest.mark.long),
    ],
)
def test_memory_runs_out(program: str, session: str, step: int, tmp_path: Path) -> None:
    """Whether the program ends with the first error, or is stubborn, takes no notice of any and compiles at the end."""
    found = capture(tmp_path, program, session, step)
    assert found["tried"] > 10, found
    assert all(found[outcome] == 0 for outcome in NEVER), found
    if step == 1:
        figures = {
            "tried": found["tried"],
            "survived": found["out_of_memory"] + found["other"] + found["operator"] + found["exported"],
            "elsewhere": found["died_elsewhere"],
            "died": found["died"],
        }
        record.record("faults", WHAT[session], figures)
