# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""One worker of pytest may run tests of every folder: a module `page` in two of them is one module to Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]


def test_modules_of_the_tests_have_names_of_their_own() -> None:
    files = [*TESTS.glob("*/*.py"), *TESTS.glob("python/*/*.py")]
    names = Counter(file.name for file in files if file.name not in ("conftest.py", "__init__.py"))
    assert len(names) > 100
    assert [name for name, times in names.items() if times > 1] == []
