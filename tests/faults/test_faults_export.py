# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A full disk, a call that fails, a process that is killed: afterwards the folder has the old bundle or the new."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from faults import run_preloaded

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
