# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""libleapp_faults.so from Python (faults.h says what it does).

A test runs a script under it, and the script arms it around what it tries:

    run_preloaded(Path(__file__).with_name("script.py"), "argument")

    from faults import Plan, armed
    with armed(Plan(calls="write", under=folder, at=3, stays=True)) as fault:
        ...
    print(fault.seen, fault.hit)
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/default"))
LIBRARY = BUILD / "tests/faults/libleapp_faults.so"


class _Plan(ctypes.Structure):
    _fields_ = (
        ("calls", ctypes.c_char_p),
        ("under", ctypes.c_char_p),
        ("at", ctypes.c_long),
        ("kill", ctypes.c_int),
        ("error", ctypes.c_int),
        ("stays", ctypes.c_int),
        ("this_thread_only", ctypes.c_int),
        ("tear", ctypes.c_int),
    )


@dataclass(frozen=True)
class Plan:
    """As leapp_faults_plan."""

    calls: str = "files"
    under: str = ""
    at: int = 0
    kill: bool = False
    error: int = 0
    stays: bool = False
    this_thread_only: bool = False
    tear: bool = False


@dataclass
class Fault:
    """What came of it."""

    seen: int = 0  # calls that were meant
    hits: int = 0  # calls that were made to fail
    hit: str = ""  # the first of them


def arm(plan: Plan) -> None:
    library = ctypes.CDLL(None)
    raw = _Plan(
        plan.calls.encode(),
        os.fsencode(plan.under),
        plan.at,
        plan.kill,
        plan.error,
        plan.stays,
        plan.this_thread_only,
        plan.tear,
    )
    if library.leapp_faults_arm(ctypes.byref(raw)) != 0:
        raise ValueError(f"a plan that the library cannot read: {plan}")


def disarm() -> Fault:
    library = ctypes.CDLL(None)
    library.leapp_faults_disarm.restype = ctypes.c_long
    library.leapp_faults_hits.restype = ctypes.c_long
    library.leapp_faults_hit.restype = ctypes.c_char_p
    return Fault(library.leapp_faults_disarm(), library.leapp_faults_hits(), os.fsdecode(library.leapp_faults_hit()))


@contextmanager
def armed(plan: Plan) -> Iterator[Fault]:
    fault = Fault()
    arm(plan)
    try:
        yield fault
    finally:
        done = disarm()
        fault.seen, fault.hits, fault.hit = done.seen, done.hits, done.hit


def preloaded_environment() -> dict[str, str]:
    """For programs in C++, which find ONNX Runtime where this interpreter has it."""
    environment = os.environ | {"LD_PRELOAD": str(LIBRARY)}
    package = importlib.util.find_spec("onnxruntime")
    if package is not None and package.origin is not None:
        environment["LEAPP_ONNXRUNTIME"] = str(Path(package.origin).parent)
    return environment


def run_preloaded(script: Path, *arguments: object, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """A Python program under the library, with what this process imports from."""
    environment = os.environ | {
        "LD_PRELOAD": str(LIBRARY),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONWARNINGS": "ignore",
    }
    command = [sys.executable, str(script), *(str(argument) for argument in arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
