# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A full disk, a call that fails, a process that is killed: afterwards the folder has the old bundle or the new."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from faults import record, run_preloaded

MODES = ("full", "once", "kill")


def check(folder: Path, mode: str, step: int) -> None:
    done = run_preloaded(Path(__file__).with_name("export_script.py"), folder, mode, step, timeout=1800)
    assert done.returncode == 0, done.stderr[-3000:]
    found = re.search(r"calls (\d+) tried (\d+)", done.stdout)
    assert found is not None, done.stdout
    record(f"calls on files while exporting, {mode}, every {step}th", found[0])
    assert int(found[1]) > 20, done.stdout
    assert int(found[2]) == -(-int(found[1]) // step), done.stdout


@pytest.mark.parametrize("mode", MODES)
def test_sampled(mode: str, tmp_path: Path) -> None:
    check(tmp_path, mode, 13)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_every_call(mode: str, tmp_path: Path) -> None:
    check(tmp_path, mode, 1)
