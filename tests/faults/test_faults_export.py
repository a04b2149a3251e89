# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A full disk, a call that fails, memory that runs out, a process that is killed: afterwards the folder has the old
bundle or the new."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from faults import BUILD, preloaded_environment, run_preloaded

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import record

MODES = {
    "full": "a call on files while exporting, and all after it: the disk is full",
    "once": "one call on files while exporting",
    "kill": "the process, killed at a call on files while exporting",
}


def check(folder: Path, mode: str, step: int) -> None:
    done = run_preloaded(Path(__file__).with_name("export_script.py"), folder, mode, step, timeout=1800)
    assert done.returncode == 0, done.stderr[-3000:]
    found = re.search(r"calls (\d+) tried (\d+)", done.stdout)
    assert found is not None, done.stdout
    assert int(found[1]) > 20, done.stdout
    assert int(found[2]) == -(-int(found[1]) // step), done.stdout
    if step == 1:
        record.record("faults", MODES[mode], {"tried": int(found[2]), "survived": int(found[2])})


@pytest.mark.parametrize("mode", MODES)
def test_sampled(mode: str, tmp_path: Path) -> None:
    check(tmp_path, mode, 13)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_every_call(mode: str, tmp_path: Path) -> None:
    check(tmp_path, mode, 1)


def test_file_systems_that_lack_something(tmp_path: Path) -> None:
    done = run_preloaded(Path(__file__).with_name("lacking_script.py"), tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "lacking 7\n"


def memory_runs_out(folder: Path, validation: str, step: int) -> dict[str, int]:
    command = [str(BUILD / "tests/faults/export_faults"), str(folder), validation, str(step)]
    done = subprocess.run(
        command, env=preloaded_environment(), capture_output=True, text=True, timeout=6000, check=False
    )
    print(done.stdout, done.stderr)  # who died where
    assert done.returncode == 0, done.stderr
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", done.stdout.splitlines()[-1])}


@pytest.mark.parametrize(
    ("validation", "step"),
    [
        ("unchecked", 211),
        ("checked", 9973),
        ("torchscript", 4999),
        pytest.param("unchecked", 1, marks=pytest.mark.long),
        pytest.param("torchscript", 37, marks=pytest.mark.long),
    ],
)
def test_memory_runs_out(validation: str, step: int, tmp_path: Path) -> None:
    """An error, or a bundle all the same; never half a bundle, never an end of the process by code of ours."""
    found = memory_runs_out(tmp_path, validation, step)
    assert found["tried"] > 10, found
    assert found["died"] == found["exception"] == found["damaged"] == 0, found
    if step == 1:
        figures = {
            "tried": found["tried"],
            "survived": found["out_of_memory"] + found["exported"] + found["other"],
            "elsewhere": found["died_elsewhere"],
            "died": found["died"],
        }
        record.record("faults", "a request for memory while exporting", figures)
