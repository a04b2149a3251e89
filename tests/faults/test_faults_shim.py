# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The library that makes calls fail does so, and only where it is told to."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from faults import LIBRARY, run_preloaded


def test_what_it_does_to_a_process(tmp_path: Path) -> None:
    done = run_preloaded(Path(__file__).with_name("shim_script.py"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["check_count", "check_fail", "check_full_disk", "check_kill", "check_memory"]


def test_from_the_environment(tmp_path: Path) -> None:
    report = tmp_path / "report"
    plan = f"calls=open,write under={tmp_path}/a at=2 do=fail report={report}"
    environment = os.environ | {"LD_PRELOAD": str(LIBRARY), "LEAPP_FAULTS": plan}
    (tmp_path / "b").write_text("content")
    done = subprocess.run(
        ["cp", tmp_path / "b", tmp_path / "a"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert report.read_text() == f"2 write {tmp_path}/a\n"
