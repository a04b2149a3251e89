# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a program does with a bundle: its answer, its memory at the most, its time. In a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
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

IDLE = """
import sys
from importlib import metadata
import leapp
from leapp import InferenceManager
assert leapp.__file__.startswith(sys.argv[1]), leapp.__file__
print("leapp", metadata.version("leapp"))
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


# A process begins with the memory of the one that started it: a small one.
HELPER = """
import json, os, resource, sys
command, seconds, address_space, output = json.loads(sys.argv[1])
child = os.fork()
if child == 0:
    file = os.open(output, os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if address_space:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    os.execv(command[0], command)
_, status, usage = os.wait4(child, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000]))
"""


def environment() -> dict[str, str]:
    """Where the command line finds an ONNX Runtime, if this Python has one."""
    spec = importlib.util.find_spec("onnxruntime")
    return {"LEAPP_ONNXRUNTIME": str(Path(spec.origin).parent)} if spec is not None and spec.origin else {}


def run(command: Sequence[object], *, seconds: int = 60, address_space: int = 0) -> Outcome:
    """Run it, and kill it after so many seconds of CPU."""
    with tempfile.NamedTemporaryFile() as output:
        request = json.dumps([[str(part) for part in command], seconds, address_space, output.name])
        helper = [sys.executable, "-S", "-E", "-c", HELPER, request]
        done = subprocess.run(
            helper, stdout=subprocess.PIPE, text=True, timeout=20 * seconds, check=True, env=os.environ | environment()
        )
        return Outcome(json.loads(done.stdout)[0], output.read(), *json.loads(done.stdout)[1:])


def limits(refused: bool) -> list[object]:
    """Options of the command line. Seconds of the clock mean little on a busy machine: many for what ends by itself."""
    return ["--memory-limit", "4GB", "--timeout", 60 if refused else 2]


def tool(*arguments: object, **limits: int) -> Outcome:
    return run([TOOL, *arguments], **limits)


def python(bundle: Path, timeout: float = 2, **limits: int) -> Outcome:
    return run([sys.executable, "-c", OURS, bundle, timeout], **limits)


def peer(bundle: Path) -> Outcome:
    """The peer, held to 8 GB and 10 s: it is our machine that it runs on. Isolated (-I): what it imports is its own."""
    return run([PEER, "-I", "-c", THEIRS, bundle], seconds=10, address_space=8 << 30)


def peer_idle() -> Outcome:
    """What it is when it has done nothing yet. Prints its version, and fails if it is not where it should be."""
    return run([PEER, "-I", "-c", IDLE, PEER.parent.parent], seconds=60, address_space=8 << 30)
