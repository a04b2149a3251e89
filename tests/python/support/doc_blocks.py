# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the blocks of a documentation page, in the page's order, in one folder.

Python runs in one namespace; YAML, C++ and C become the file that their first line names; shell commands run. A comment
in front of a block says what is different about it:

    <!-- not run: REASON -->       the block does not run
    <!-- output -->                the block is what the one before it printed
    <!-- exit code: 0 or 1 -->     commands may end with 1
    <!-- in: PATH -->              the block's lines are lines of that file
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bundle_runner
import leapp

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(leapp.__file__).parents[2]


def environment() -> dict[str, str]:
    """The build tree as if it were installed."""
    library = str(BUILD / "lib")
    return {
        **os.environ,
        **bundle_runner.ONNXRUNTIME,
        "LEAPP": str(ROOT),
        "PATH": os.pathsep.join([str(BUILD / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(BUILD / "python"),
        "CPATH": str(ROOT / "include"),
        "LIBRARY_PATH": library,
        "LD_LIBRARY_PATH": library,
    }


@dataclass(frozen=True)
class Block:
    """A block of code, and the comment in front of it."""

    comment: str
    language: str
    text: str


class Page:
    """Runs blocks, and keeps what they print."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {}
        self.printed: list[str] = []

    def follow(self, page: str) -> None:
        """Runs the blocks of docs/`page`, and compares those that show output."""
        for block in annotated_blocks(page):
            if block.comment.startswith("not run: "):
                continue
            if block.comment == "output":
                printed, shown = (" ".join(text.split()) for text in (self.printed[-1], block.text))
                assert printed == shown, f"{page} shows {shown!r}, printed was {printed!r}"
            elif block.comment.startswith("in: "):
                lines = (ROOT / block.comment.removeprefix("in: ")).read_text(encoding="utf-8").splitlines()
                for line in block.text.splitlines():
                    assert line in lines, f"{page}: not {block.comment}: {line}"
            else:
                self.run(block.language, block.text, codes=(0, 1) if block.comment == "exit code: 0 or 1" else (0,))

    def run(self, language: str, block: str, codes: tuple[int, ...] = (0,)) -> None:
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(block, self.names)
            self.printed.append(output.getvalue())
        elif language in ("yaml", "cpp", "c"):
            named = re.match(r"(?:#|//|/\*) (\S+\.\w+)", block)
            assert named is not None, f"no file named in: {block[:40]}"
            (self.folder / named[1]).write_text(block)
        elif language == "sh":
            done = subprocess.run(
                ["sh", "-e", "-c", block],
                cwd=self.folder,
                env=environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode in codes, done.stdout + done.stderr
            self.printed.append(done.stdout)
        else:
            assert language == "text", language


def annotated_blocks(page: str) -> list[Block]:
    """The blocks of docs/`page`, with their comments."""
    found = re.findall(
        r"^(?:<!-- ([^\n]*) -->\n)?```(\w*)\n(.*?)^```$",
        (ROOT / "docs" / page).read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    return [Block(*one) for one in found]


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Language and text of each block of docs/`page`."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE)
