# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the blocks of a documentation page, in the page's order, in one folder.

Python runs in one namespace; YAML, C++ and C become the file that their first line names; shell commands run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
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
        "PATH": f"{BUILD / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CPATH": str(ROOT / "include"),
        "LIBRARY_PATH": library,
        "LD_LIBRARY_PATH": library,
    }


class Page:
    """Runs blocks, and keeps what they print."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {}
        self.printed: list[str] = []

    def run(self, language: str, block: str) -> None:
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
            assert done.returncode == 0, done.stdout + done.stderr
            self.printed.append(done.stdout)
        else:
            assert language == "text", language


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Language and text of each block of docs/`page`."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE)
