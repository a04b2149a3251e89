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
from collections.abc import Iterator, Sequence
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

# Imports the peer once (that is most of the work) and gives each bundle to a copy of itself. The first has none.
THEIRS = """
import json, os, resource, sys, tempfile
from importlib import metadata
import leapp
from leapp import InferenceManager
venv, seconds, address_space, bundles = json.loads(sys.argv[1])
assert leapp.__file__.startswith(venv), leapp.__file__

def use(bundle):
    try:
        manager = InferenceManager(bundle)
        manager.run_policy(manager.get_mock_input())
        print("runs")
    except Exception as problem:
        print(f"{type(problem).__name__}: {str(problem)[:200]}")

for bundle in [None, *bundles]:
    output = tempfile.TemporaryFile()
    child = os.fork()
    if child == 0:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        print(f"leapp {metadata.version('leapp')}") if bundle is None else use(bundle)
        sys.stdout.flush()
        os._exit(0)
    _, status, usage = os.wait4(child, 0)
    output.seek(0)
    code = os.waitstatus_to_exitcode(status)
    said = output.read(100_000).decode(errors="replace")
    print(json.dumps([code, said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000]), flush=True)
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


def peer(bundles: Sequence[Path]) -> Iterator[Outcome]:
    """The peer without a bundle, and then with each, held to 8 GB and 10 s: it is our machine that it runs on.

    Isolated (-I), so that what it imports is its own.
    """
    request = json.dumps([str(PEER.parent.parent), 10, 8 << 30, [str(bundle) for bundle in bundles]])
    command = [PEER, "-I", "-c", THEIRS, request]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            code, said, seconds, megabytes = json.loads(line)
            yield Outcome(code, said.encode(), seconds, megabytes)
    assert process.returncode == 0, process.returncode
