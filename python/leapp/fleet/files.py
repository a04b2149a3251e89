# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["UNFINISHED", "FileGroup", "write_file"]

UNFINISHED = ".leapp-*.tmp"  # what a run that was killed was about to write


def _write_beside(path: Path, content: bytes, when: int | None) -> Path:
    """The bytes in a file of another name, which may not be on the disk yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    prefix, suffix = UNFINISHED.split("*")
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        if when is not None:
            os.utime(name, ns=(when, when))
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _flush(path: Path) -> OSError | None:
    """Wait until it is on the disk; returns what went wrong."""
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        return error
    return None


def write_file(path: Path, content: bytes) -> None:
    """Put the file in its place in one step: it is there whole, or as it was."""
    group = FileGroup()
    group.add(path, content)
    group.flush()


@dataclass(frozen=True)
class _Waiting:
    written: Path
    path: Path
    done: Callable[[], None] | None


class FileGroup:
    """Files that get their names once all of their bytes are on the disk. Waiting for a disk takes as long for many
    small files as for one: a group waits together.

    A file that has its name is whole, also after a power cut. Until :meth:`flush` has returned a kill loses those that
    were added since the last one; they are ``due`` after a second.
    """

    _SECONDS = 1.0
    _MOST = 256
    _AT_ONCE = 8

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._flushed = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether the last flush is long ago: what takes long to make does not wait for others."""
        return len(self._waiting) >= self._MOST or time.monotonic() - self._flushed >= self._SECONDS

    def add(self, path: Path, content: bytes, when: int | None = None, done: Callable[[], None] | None = None) -> None:
        """``when``: the time the file is given, in nanoseconds; ``done`` is called once it is in its place."""
        self._waiting.append(_Waiting(_write_beside(path, content, when), path, done))

    def flush(self) -> None:
        """Put all in their places. Raises what went wrong with the first that could not be; the others are there."""
        waiting, self._waiting = self._waiting, []
        files = [one.written for one in waiting]
        if len(files) > 1:
            with ThreadPoolExecutor(self._AT_ONCE) as pool:
                errors = list(pool.map(_flush, files))
        else:
            errors = [_flush(file) for file in files]
        for i, one in enumerate(waiting):
            if errors[i] is None:
                try:
                    os.replace(one.written, one.path)
                except OSError as error:
                    errors[i] = error
            if errors[i] is not None:
                with suppress(OSError):
                    one.written.unlink()
            elif one.done is not None:
                one.done()
        self._flushed = time.monotonic()
        if failed := [one for one in errors if one is not None]:
            raise failed[0]
