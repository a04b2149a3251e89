# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the program and compares what it prints with what is kept under golden/.

LEAPP_WRITE_GOLDEN=1 writes the files anew; look at the difference before keeping them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LEAPP_PROGRAM", ROOT / "build/default/bin/leapp"))
GOLDEN = Path(__file__).parent / "golden"


def onnxruntime_folder() -> str:
    import importlib.util

    spec = importlib.util.find_spec("onnxruntime")
    assert spec is not None
    assert spec.submodule_search_locations
    return str(Path(spec.submodule_search_locations[0]) / "capi")


@dataclass
class Tool:
    cwd: Path
    environment: dict[str, str] = field(default_factory=lambda: {"LEAPP_ONNXRUNTIME": onnxruntime_folder()})

    def __call__(self, *arguments: object, code: int = 0) -> str:
        """What it prints. Nothing else of the environment than `environment` is there."""
        done = self.run(*arguments)
        assert done.returncode == code, f"exit code {done.returncode}: {done.stderr}{done.stdout}"
        return done.stdout

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PROGRAM, *map(str, arguments)],
            cwd=self.cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def error(self, *arguments: object, code: int = 2) -> str:
        """The one line that says why nothing could be done."""
        done = self.run(*arguments)
        assert done.returncode == code, f"exit code {done.returncode}: {done.stderr}{done.stdout}"
        assert done.stdout == ""
        assert done.stderr.startswith("leapp: "), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr[len("leapp: ") : -1]

    def json(self, *arguments: object, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code))


def without_numbers(text: str) -> str:
    """For what changes from run to run: numbers, bars, and the spaces that align them."""
    text = re.sub(r" *#+", "", re.sub(r"\d[\d,]*(\.\d+)?(e[-+]?\d+)?", "N", text))
    text = re.sub(r"N (µs|ms|s)\b", "N time", text)
    return re.sub(r"(?m)^ ", "", re.sub(r"[ \t]+", " ", text))


def check_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("LEAPP_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines()), default=0) <= 100 or name.endswith(".json")
