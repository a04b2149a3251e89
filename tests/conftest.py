# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where tests write, and what a skipped one means: in CI (LEAPP_CI), for lack of a tool, a failure."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30

# Reasons that are no lack of anything.
MEANT = ("root may write everywhere", "runs it: 12 GB of memory", "the factor was folded away")


def pytest_configure() -> None:
    """Bundles are written through to the disk, thousands of them: in memory, where there is room, nobody waits."""
    room = shutil.disk_usage(IN_MEMORY).free if os.access(IN_MEMORY, os.W_OK | os.X_OK) else 0
    if room >= ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    fail_for_what_is_missing(session)
    written = Path(session.config._tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if session.exitstatus == pytest.ExitCode.OK and not is_worker and written.is_relative_to(IN_MEMORY):
        shutil.rmtree(written, ignore_errors=True)


def fail_for_what_is_missing(session: pytest.Session) -> None:
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if "LEAPP_CI" not in os.environ or reporter is None:
        return
    reasons = [(report.nodeid, report.longrepr[-1]) for report in reporter.stats.get("skipped", [])]
    missing = [f"{test}: {reason}" for test, reason in reasons if not any(word in reason for word in MEANT)]
    if missing:
        reporter.write_line("\nskipped although LEAPP_CI is set, which fails the run:")
        for line in missing:
            reporter.write_line(f"  {line}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
