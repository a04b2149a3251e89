# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""In CI (LEAPP_CI) a test that is skipped for lack of a tool is a failure: nothing may be missing there."""

from __future__ import annotations

import os
from typing import Any

import pytest

# Reasons that are no lack of anything.
MEANT = ("root may write everywhere", "runs it: 12 GB of memory", "the factor was folded away")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
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
