# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""docs/how_to/robot.md: its blocks run, and C++, Python and C print the same."""

from __future__ import annotations

import re
from pathlib import Path

import leapp
import pytest
from doc_blocks import ROOT, Page, blocks_of


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Page(tmp_path)
    blocks = blocks_of("how_to/robot.md")
    assert {language for language, _ in blocks} >= {"python", "yaml", "cpp", "c", "sh"}
    for language, block in blocks:
        page.run(language, block)
    printed = [text for text in page.printed if text]
    controller = next(text for text in printed if "overruns" in text)
    assert "11 calls" in controller
    assert "policy/target[0,1] (knee): " in controller
    # The same robot by C++, by Python and by C.
    knees = [float(number) for text in printed for number in re.findall(r"knee (-?\d\.\d+)$", text, re.MULTILINE)]
    assert len(knees) == 3
    assert knees == pytest.approx([knees[0]] * 3, abs=1e-3)
    assert any("200 steps recorded, 0 dropped" in text and "agrees with run.mcap" in text for text in printed)
    assert "20 steps written\n" in printed
    # The new bundle's target at 0, by C++ and by Python; the old one is refused.
    reload = next(text for text in printed if "swapped" in text)
    assert "expected serial 2 or later, found 1" in reload
    assert reload.endswith("walk_v2.yaml: target 0.20\n")
    assert "target 0.2 serial 2\n" in printed
    chunks = next(text for text in printed if text.startswith("0.00 0.50"))
    assert chunks.split() == ["0.00", "0.50", "1.00", "1.50", "2.00", "2.00", "2.00", "1.88", "2.00"]


def test_the_message_on_the_page_is_what_is_said() -> None:
    names = ((None, ("hip", "knee", "ankle")),)
    port = leapp.Port("policy/q", "policy", "input", None, "float32", (1, 3), names[0], None, None, None, {})
    with pytest.raises(ValueError, match="the robot lacks") as caught:
        leapp.NameMap(port, -1, ["hip", "knee", "toe"])
    assert str(caught.value) in (ROOT / "docs" / "how_to" / "robot.md").read_text()
