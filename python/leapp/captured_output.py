# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs what prints: on a thread without the caller's modes, and with its output kept off the console."""

from __future__ import annotations

import contextlib
import ctypes
import io
import logging
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import IO, TypeVar

__all__ = ["captured_output", "in_fresh_thread"]

T = TypeVar("T")


def in_fresh_thread(function: Callable[[], T]) -> T:
    """Call it on a new thread, where the caller's gradient, autocast, device and dispatch modes do not hold."""
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run, name="leapp-export")
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


@contextlib.contextmanager
def captured_output() -> Iterator[list[str]]:
    """Keep stdout, stderr, warnings and this thread's log records from the console; the list holds them at the end.

    What other threads print meanwhile is kept too: there is one stdout for all.
    """
    said: list[str] = []
    printed = io.StringIO()
    with tempfile.TemporaryFile() as file:
        try:
            with (
                _redirected(1, file),
                _redirected(2, file),
                contextlib.redirect_stdout(printed),
                contextlib.redirect_stderr(printed),
                _records_kept(said),
                warnings.catch_warnings(record=True) as caught,
            ):
                warnings.simplefilter("always")
                yield said
        finally:
            said.extend(f"{each.category.__name__}: {each.message}" for each in caught)
            file.seek(0)
            said.extend(text for text in (printed.getvalue(), file.read().decode(errors="replace")) if text)


@contextlib.contextmanager
def _redirected(descriptor: int, file: IO[bytes]) -> Iterator[None]:
    """What libraries print without Python."""
    _flush()
    try:
        before = os.dup(descriptor)
    except OSError:  # a daemon has none
        yield
        return
    try:
        os.dup2(file.fileno(), descriptor)
        yield
    finally:
        _flush()
        os.dup2(before, descriptor)
        os.close(before)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    ctypes.CDLL(None).fflush(None)


@contextlib.contextmanager
def _records_kept(said: list[str]) -> Iterator[None]:
    """Loggers have handlers of their own, made when stderr was still the console."""
    mine = threading.get_ident()
    original = logging.Logger.callHandlers

    def keep(logger: logging.Logger, record: logging.LogRecord) -> None:
        if record.thread == mine:
            said.append(f"{record.levelname} {record.name}: {record.getMessage()}")
        else:
            original(logger, record)

    setattr(logging.Logger, "callHandlers", keep)  # noqa: B010
    try:
        yield
    finally:
        setattr(logging.Logger, "callHandlers", original)  # noqa: B010
