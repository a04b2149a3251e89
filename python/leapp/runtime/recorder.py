# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Every step of a manager in a file that viewers show and `leapp run --replay` does again."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING

from leapp import _runtime
from leapp._runtime import Tick
from leapp.errors import LeappError, LeappValueError

if TYPE_CHECKING:
    from leapp.runtime.manager import InferenceManager

__all__ = ["Recorder", "RecorderSummary"]


@dataclass(frozen=True)
class RecorderSummary:
    """How many steps were recorded, how many of these are in the file, and how many never will be."""

    steps: int
    written: int
    dropped: int
    bytes: int


class Recorder:
    """Writes every step to an MCAP file: inputs, outputs, state and times. A thread of its own writes.

    >>> with Recorder(manager, "run.mcap") as recorder:
    ...     while robot.is_on():
    ...         action = manager({"policy/obs": robot.observe()})["policy/action"]
    ...         recorder.record()
    ...         robot.apply(action)

    ``record`` never waits: when the file cannot be written fast enough, steps are dropped and counted. When the disk is
    full, recording stops and ``error`` says so; the manager goes on.
    """

    def __init__(
        self,
        manager: InferenceManager,
        file: str | PathLike[str],
        *,
        ring_bytes: int = 4 << 20,
        chunk_bytes: int = 1 << 20,
        flush_interval: float = 0.5,
        sync: bool = False,
        overwrite: bool = False,
        cpus: Sequence[int] = (),
    ) -> None:
        """Make the file, and record from now on. Set guards before: a step with others cannot be replayed.

        Parameters
        ----------
        manager:
            Whose steps. One recorder at a time.
        file:
            Its name should end in ``.mcap``. One that is there raises an OSError, unless ``overwrite``.
        ring_bytes:
            Of the memory between the steps and the thread that writes.
        chunk_bytes, flush_interval:
            A chunk is written when it is so large, or its first step that many seconds old. Of a program that is killed
            the last chunk is missing.
        sync:
            Force each chunk to disk, so that it survives a power cut, too.
        cpus:
            The cores of the thread that writes; any, unless given.
        """
        for name, size in (("ring_bytes", ring_bytes), ("chunk_bytes", chunk_bytes)):
            if size < 0:
                raise LeappValueError(f"{name}: expected 0 or more, found {size}")
        self._recorder = _runtime.Recorder(
            manager._manager, file, ring_bytes, chunk_bytes, float(flush_interval), sync, overwrite, list(cpus)
        )
        # When the program ends without close(), the file has all steps and its index nevertheless.
        self._end = weakref.finalize(self, self._recorder.finish)

    def record(self, tick: Tick | None = None) -> bool:
        """Take down the step that the manager has just done, also one that raised; with the times of a loop's tick.

        False when there was no room for it, recording has stopped, or there was no step since the last call.
        """
        return self._recorder.record(tick)

    @property
    def summary(self) -> RecorderSummary:
        """How it goes; may be asked from any thread."""
        return RecorderSummary(*self._recorder.summary)

    @property
    def error(self) -> str | None:
        """Why recording has stopped, if it has."""
        return self._recorder.error

    def close(self) -> None:
        """Write what is left, and the index that viewers use. Raise an OSError when recording had stopped."""
        self._recorder.close()
        self._end.detach()

    def __enter__(self) -> Recorder:
        """Do nothing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close; what went wrong inside matters more than a full disk."""
        try:
            self.close()
        except LeappError:
            if value is None:
                raise
