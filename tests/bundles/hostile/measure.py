# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a program does with a bundle: its answer, its memory at the most, its time. In a process of its own."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/default"))
TOOL = BUILD / "bin/leapp"
PEER = ROOT / "build/peer-venv/bin/python"

OURS = """
import sys
import leapp
try:
    manager = leapp.InferenceManager(sys.argv[1], timeout=float(sys.argv[2]))
    manager.run_policy(manager.zeros_input())
    print("runs")
except leapp.LeappError as problem:
    print(f"{type(problem).__name__}: {problem}")
"""

THEIRS = """
import sys
from leapp import InferenceManager
try:
    manager = InferenceManager(sys.argv[1])
    manager.run_policy(manager.get_mock_input())
    print("runs")
except Exception as problem:
    print(f"{type(problem).__name__}: {str(problem)[:200]}")
"""


@dataclass(frozen=True)
class Outcome:
    code: int  # negative: the signal that killed it
    output: bytes
    seconds: float  # of CPU
    megabytes: float  # resident, at the most

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace")


def run(command: Sequence[object], *, seconds: int = 60, address_space: int = 0) -> Outcome:
    """Run it, and kill it after so many seconds of CPU."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=limit,
            start_new_session=True,
        )
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    return Outcome(child.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def tool(*arguments: object, **limits: int) -> Outcome:
    return run([TOOL, *arguments], **limits)


def python(bundle: Path, timeout: float = 2, **limits: int) -> Outcome:
    return run([sys.executable, "-c", OURS, bundle, timeout], **limits)


def peer(bundle: Path) -> Outcome:
    """The peer, held to 12 GB and 30 s: it is our machine that it runs on."""
    return run([PEER, "-c", THEIRS, bundle], seconds=30, address_space=12 << 30)
