# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, threads and forks in the middle of a session: afterwards torch is as before, and the next session works."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from leapp import _capture, annotate

PACKAGE = str(Path(leapp.__file__).parent)
PATCHED = (
    torch,
    torch.Tensor,
    torch._C,
    torch._tensor_str,
    torch._ops.OpOverload,
    torch.nn.Module,
    torch.nn.TransformerEncoder,
    torch.jit.ScriptFunction,
    math,
    np,
)


def functions() -> dict[tuple[str, str], int]:
    return {
        (owner.__name__, name): id(value) for owner in PATCHED for name, value in vars(owner).items() if callable(value)
    }


def session(folder: Path) -> None:
    net = torch.nn.Linear(3, 3)
    leapp.start("g", save_path=folder)
    try:
        for step in range(2):
            x = annotate.input_tensors("m", {"x": torch.ones(1, 3) * step})
            float(x.sum())
            annotate.output_tensors("m", {"y": net(x)}, export_with="onnx")
    finally:
        leapp.stop()


class CtrlC:
    """KeyboardInterrupt at one instruction of the package's Python code."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.seen = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        return self.instruction

    def instruction(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.seen += event == "opcode"
        if self.seen == self.at and event == "opcode":
            sys.settrace(None)
            raise KeyboardInterrupt
        return self.instruction

    @contextlib.contextmanager
    def pressed(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self)
        try:
            yield
        finally:
            sys.settrace(before)


def instructions(folder: Path) -> int:
    counting = CtrlC(0)
    with counting.pressed():
        session(folder)
    return counting.seen


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("step", [397, pytest.param(1, marks=pytest.mark.long)])
def test_ctrl_c_at_an_instruction(step: int, tmp_path: Path) -> None:
    """Whatever it leaves undone, the next stop() does."""
    session(tmp_path)
    before = functions()
    total = instructions(tmp_path)
    assert total > 5000
    last = range(max(1, total - 4000), total, max(1, step // 4))  # stop() is the last of it
    for at in sorted({*range(1, total, step), *last}):
        with contextlib.suppress(KeyboardInterrupt), CtrlC(at).pressed():
            session(tmp_path)
        with contextlib.suppress(leapp.LeappError):
            leapp.stop()
        assert not _capture.is_active(), at
        assert functions() == before, at
    session(tmp_path)
    assert dict(leapp.compile_graph(visualize=False)) == {"m": True}


PRELUDE = """
import os, sys, threading, time
import torch, leapp
from leapp import annotate
folder = sys.argv[1]

def call(node, times=1):
    for step in range(times):
        x = annotate.input_tensors(node, {"x": torch.ones(2) * step})
        annotate.output_tensors(node, {"y": torch.tanh(x) * 2}, export_with="onnx")

def calls_until(over, node):
    while not over.is_set():
        try:
            call(node)
        except leapp.LeappError as problem:
            assert "is not open" in str(problem), problem  # its session has ended

def in_threads(count):
    over = threading.Event()
    threads = [threading.Thread(target=calls_until, args=(over, f"n{i}")) for i in range(count)]
    [thread.start() for thread in threads]
    return over, threads
"""


def run(script: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRELUDE + script, str(folder)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-3000:])
    return done.stdout


def test_sessions_end_while_other_threads_annotate(tmp_path: Path) -> None:
    """Which pulled the tables away from under them."""
    script = """
over, threads = in_threads(3)
for session in range(40):
    leapp.start("g", save_path=folder)
    time.sleep(0.005)
    if session % 2:
        leapp.stop()
leapp.stop() if leapp._capture.is_active() else None
over.set()
[thread.join() for thread in threads]
leapp.start("g", save_path=folder)
call("m", 3)
leapp.stop()
print(dict(leapp.compile_graph(visualize=False)))
"""
    assert run(script, tmp_path) == "{'m': True}\n"


def test_children_that_are_forked_while_threads_capture(tmp_path: Path) -> None:
    """A child has no session, and does not wait for locks that threads of its parent have."""
    script = """
leapp.start("g", save_path=folder)
over, threads = in_threads(2)
for child in range(30):
    number = os.fork()
    if number == 0:
        torch.set_num_threads(1)
        assert not leapp._capture.is_active()
        call("nobody's")
        assert torch.ones(2).mul(2).tolist() == [2.0, 2.0]
        os._exit(0)
    until = time.monotonic() + 30
    while (ended := os.waitpid(number, os.WNOHANG)) == (0, 0) and time.monotonic() < until:
        time.sleep(0.01)
    if ended != (number, 0):
        os.kill(number, 9)
        print(child, ended)
        os._exit(1)
over.set()
[thread.join() for thread in threads]
leapp.stop()
print(sorted(dict(leapp.compile_graph(visualize=False))))
"""
    assert run(script, tmp_path) == "['n0', 'n1']\n"
    assert {path.name for path in tmp_path.iterdir()} == {"g"}


def test_what_has_ended_can_be_compiled_in_a_child_which_can_have_a_session_of_its_own(tmp_path: Path) -> None:
    script = """
leapp.start("g", save_path=folder)
call("m", 2)
leapp.stop()
number = os.fork()
if number == 0:
    torch.set_num_threads(1)
    leapp.compile_graph(visualize=False, validate=False)
    os._exit(0)
print(os.waitpid(number, 0)[1], os.path.exists(f"{folder}/g/g.yaml"))
leapp.start("parent", save_path=folder)
number = os.fork()
if number == 0:
    leapp.start("child", save_path=folder)
    call("m", 2)
    leapp.stop()
    leapp.compile_graph(visualize=False, validate=False)
    os._exit(0)
print(os.waitpid(number, 0)[1], sorted(os.listdir(folder)))
call("m", 2)
leapp.stop()
print(dict(leapp.compile_graph(visualize=False)))
"""
    assert run(script, tmp_path) == "0 True\n0 ['child', 'g', 'parent']\n{'m': True}\n"
