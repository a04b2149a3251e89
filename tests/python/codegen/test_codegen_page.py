# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""docs/how_to/generate_source.md: its blocks run, and the pipeline and its source print the same."""

from __future__ import annotations

import os
import re
from pathlib import Path

import codegen_kit as kit
import pytest
from doc_blocks import Page, blocks_of


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{kit.PROGRAM.parent}:{os.environ['PATH']}")
    page = Page(tmp_path)
    blocks = blocks_of("how_to/generate_source.md")
    assert [language for language, _ in blocks] == ["python", "sh", "cpp", "sh", "text"]
    for language, block in blocks:
        page.run(language, block)
    # The excerpt: all of it but the name of the program, which here is none.
    written = (tmp_path / "policy_source/policy.cpp").read_text().replace("<string>:", "program.py:")
    assert blocks[4][1] in written
    actions = [number for printed in page.printed for number in re.findall(r"^action (\S+)$", printed, re.MULTILINE)]
    assert len(actions) == 2
    assert actions[0] == actions[1]
