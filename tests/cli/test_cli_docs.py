# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The guide shows what the program prints."""

from __future__ import annotations

import os
import re

import tool

PAGE = tool.ROOT / "docs/reference/command_line.md"
EXAMPLE = re.compile(r"(<!-- golden: (\S+) -->\n```console\n\$ [^\n]*\n)(.*?)(```\n)", re.DOTALL)


def test_examples_are_golden() -> None:
    text = PAGE.read_text(encoding="utf-8")
    examples = EXAMPLE.findall(text)
    assert len(examples) == text.count("<!-- golden:") >= 6
    if os.environ.get("LEAPP_WRITE_GOLDEN"):
        text = EXAMPLE.sub(lambda found: found[1] + (tool.GOLDEN / found[2]).read_text() + found[4], text)
        PAGE.write_text(text, encoding="utf-8")
    for _, name, shown, _ in EXAMPLE.findall(text):
        assert shown == (tool.GOLDEN / name).read_text(encoding="utf-8"), name
