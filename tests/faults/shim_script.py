# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""For test_faults_shim.py: what the library does to a process. Prints one line per check, and fails with the first."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from faults import Plan, armed

FOLDER = Path(sys.argv[1])


def raised(action: Callable[[], object]) -> int:
    try:
        action()
    except OSError as problem:
        return problem.errno or 0
    return 0


def put(name: str, data: bytes) -> int:
    """Bytes that were written by one call."""
    file = os.open(FOLDER / name, os.O_WRONLY | os.O_CREAT)
    try:
        return os.write(file, data)
    finally:
        os.close(file)


def check_count() -> None:
    with armed(Plan(under=str(FOLDER))) as fault:
        put("a", b"12345678")
        os.rename(FOLDER / "a", FOLDER / "b")
        Path("/dev/null").write_bytes(b"elsewhere")
        (FOLDER / "b").read_bytes()
    assert (fault.seen, fault.hits) == (3, 0), fault  # open, write, rename


def check_fail() -> None:
    calls: dict[str, Callable[[], object]] = {
        "open": lambda: put("c", b"x"),
        "write": lambda: put("c", b"x"),
        "rename": lambda: os.rename(FOLDER / "b", FOLDER / "d"),
        "link": lambda: os.link(FOLDER / "b", FOLDER / "e"),
        "unlink": lambda: os.unlink(FOLDER / "b"),
        "mkdir": lambda: os.mkdir(FOLDER / "f"),
        "mode": lambda: os.chmod(FOLDER / "b", 0o600),
        "stat": lambda: os.stat(FOLDER / "b"),
        "read": lambda: (FOLDER / "b").read_bytes(),
        "list": lambda: os.listdir(FOLDER),
    }
    for name, call in calls.items():
        with armed(Plan(calls=name, under=str(FOLDER), at=1, error=errno.EDQUOT)) as fault:
            assert raised(call) == errno.EDQUOT, name
        assert fault.hit.startswith(f"{name} {FOLDER}"), fault
        assert fault.hits == 1, fault


def check_full_disk() -> None:
    """Half of it goes, and then nothing."""
    with armed(Plan(calls="write", under=str(FOLDER), at=2, stays=True)) as fault:
        assert put("g", b"12345678") == 8
        assert put("h", b"12345678") == 4
        assert raised(lambda: put("i", b"1")) == errno.ENOSPC
        assert raised(lambda: put("j", b"1")) == errno.ENOSPC
    assert fault.hits == 3, fault


def check_kill() -> None:
    child = os.fork()
    if child == 0:
        with armed(Plan(calls="write", under=str(FOLDER), at=1, kill=True)):
            put("k", b"12345678")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), status
    assert os.WTERMSIG(status) == signal.SIGKILL, status
    assert (FOLDER / "k").read_bytes() == b"1234"


def check_memory() -> None:
    malloc = ctypes.CDLL(None).malloc
    malloc.restype = ctypes.c_void_p
    with armed(Plan(calls="alloc", at=1, this_thread_only=True)) as fault:
        block = malloc(1 << 20)
    assert block is None
    assert fault.hits == 1, fault
    assert malloc(1 << 20) is not None


if __name__ == "__main__":
    for check in (check_count, check_fail, check_full_disk, check_kill, check_memory):
        check()
        print(check.__name__)
