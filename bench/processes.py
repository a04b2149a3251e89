# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that measure, each in a process of its own: ours, and the peer's in its environment."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OURS = Path(sys.executable)
PEER = ROOT / "build" / "peer-venv" / "bin" / "python"


def environment_of(program: object) -> dict[str, str]:
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    environment.setdefault("LEAPP_ONNXRUNTIME", _onnxruntime_folder())
    if program == PEER:
        environment.pop("PYTHONPATH", None)  # it may lead to our `leapp`
    return environment


def call(*command: object) -> Any:
    """The JSON in the last line that it prints."""
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        cwd=ROOT / "build",
        env=environment_of(command[0]),
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _onnxruntime_folder() -> str:
    found = importlib.util.find_spec("onnxruntime")
    if found is None or found.origin is None:
        raise SystemExit("bench: expected the package onnxruntime, found none")
    return str(Path(found.origin).parent / "capi")
