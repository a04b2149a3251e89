# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""leapp/leapp.h by ctypes: what a program sees that was built by no compiler of ours."""

from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

import hand_made
import leapp
import pytest

ROOT = Path(__file__).resolve().parents[3]
HEADER = (ROOT / "include" / "leapp" / "leapp.h").read_text()


class Port(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32),
        ("role", c_int32),
        ("name", c_char_p),
        ("node", c_char_p),
        ("kind", c_char_p),
        ("dtype", c_int32),
        ("temporal_axis", c_int32),
        ("temporal_period_ms", c_double),
        ("frequency", c_double),
        ("shape", POINTER(c_int64)),
        ("rank", c_size_t),
        ("elements", c_size_t),
        ("bytes", c_size_t),
        ("data", c_void_p),
    )


class Tick(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32),
        ("has_input_time", c_int32),
        ("input_time", c_int64),
        ("number", c_uint64),
        ("period", c_uint64),
        ("deadline", c_int64),
        ("woken", c_int64),
    )


class LoopOptions(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32),
        ("stop_at_overrun", c_int32),
        ("frequency", c_double),
        ("cpus", POINTER(c_int32)),
        ("cpu_count", c_size_t),
        ("fifo_priority", c_int32),
        ("lock_memory", c_int32),
        ("required", c_int32),
    )


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    package = Path(leapp.__file__).resolve().parent
    places = [package / "libleapp_runtime.so.0", Path(leapp.__file__).parents[2] / "lib" / "libleapp_runtime.so.0"]
    found = ctypes.CDLL(str(next(place for place in places if place.exists())))
    found.leapp_error.restype = c_char_p
    found.leapp_version.restype = c_char_p
    found.leapp_port_count.restype = c_size_t
    found.leapp_free.argtypes = [c_void_p]
    return found


def test_every_function_of_the_header_is_there(library: ctypes.CDLL) -> None:
    names = re.findall(r"^LEAPP_C [^;]*?\b(leapp_\w+)\(", HEADER, re.MULTILINE)
    assert len(names) > 35
    for name in names:
        assert hasattr(library, name), name
    assert library.leapp_abi_version() == 1
    assert library.leapp_version().decode() == leapp.__version__


def test_a_step(library: ctypes.CDLL, tmp_path: Path) -> None:
    pipeline = c_void_p()
    path = str(hand_made.recurrent(tmp_path)).encode()
    assert library.leapp_load(path, None, byref(pipeline)) == 0, library.leapp_error()
    ports = {}
    for role, name in ((0, b"pre/x"), (1, b"post/y")):
        port = Port(size=ctypes.sizeof(Port))
        assert library.leapp_port_named(pipeline, role, name, byref(port)) == 0, library.leapp_error()
        assert (port.name, port.rank, port.shape[1], port.bytes, port.dtype) == (name, 2, 4, 16, 1)
        ports[role] = ctypes.cast(port.data, POINTER(ctypes.c_float))
    assert library.leapp_port_count(pipeline, 2) == 1
    for i in range(4):
        ports[0][i] = i
    assert library.leapp_step(pipeline) == 0
    # pre (2x + 1) → policy (h = h/2 + f, y = 2h) → post (y/2), h from [1, 2, 3, 4] on.
    assert ports[1][:4] == [1.5, 4.0, 6.5, 9.0]
    assert library.leapp_port_named(pipeline, 0, b"pre/z", byref(Port(size=ctypes.sizeof(Port)))) == 4
    assert b"pre/x" in library.leapp_error()
    rules = b'{"guards": {"post/y": {"upper": 3, "bounds": "fail"}}}'
    assert library.leapp_set_guards(pipeline, rules) == 0, library.leapp_error()
    assert library.leapp_step(pipeline) == 100
    assert b"post/y[0,1]" in library.leapp_error()
    assert ports[1][:4] == [1.5, 4.0, 6.5, 9.0]
    library.leapp_free(pipeline)


def test_a_loop(library: ctypes.CDLL) -> None:
    loop = c_void_p()
    options = LoopOptions(size=ctypes.sizeof(LoopOptions), frequency=1000.0)
    assert library.leapp_loop_make(None, byref(options), byref(loop)) == 0, library.leapp_error()
    seen = []

    @ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(Tick))
    def call(user: int | None, tick: ctypes._Pointer[Tick]) -> int:
        seen.append(tick.contents.number)
        return len(seen) < 3

    library.leapp_loop_run.argtypes = [c_void_p, type(call), c_void_p]
    assert library.leapp_loop_run(loop, call, None) == 0
    assert seen == [0, 1, 2]
    library.leapp_loop_free(loop)


def test_a_bundle_that_is_not_there(library: ctypes.CDLL) -> None:
    pipeline = c_void_p(1)
    assert library.leapp_load(b"/nowhere.yaml", None, byref(pipeline)) == 5
    assert pipeline.value is None
    assert b"/nowhere.yaml" in library.leapp_error()
