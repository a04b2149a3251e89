# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A callback at a fixed rate, actions played back between steps, and what guards found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from leapp import _runtime
from leapp._runtime import Tick
from leapp.errors import LeappValueError
from leapp.runtime.ports import Port

if TYPE_CHECKING:
    from leapp.runtime.manager import InferenceManager

__all__ = ["ChunkPlayer", "Durations", "GuardEvent", "Loop", "LoopSummary", "Tick"]


@dataclass(frozen=True)
class GuardEvent:
    """One element of the last step that was not as it should be, and what was done: ``str(event)`` says it.

    ``cause`` is "non_finite", "below", "above" or "rate", ``action`` "pass", "clamp", "hold" or "fail".
    """

    port: str
    element: int
    cause: str
    action: str
    found: float
    limit: float
    became: float
    text: str

    def __str__(self) -> str:
        """Say it in a sentence."""
        return self.text


@dataclass(frozen=True)
class Durations:
    """How long something took, in seconds."""

    count: int
    mean: float
    p50: float
    p99: float
    p999: float
    max: float


@dataclass(frozen=True)
class LoopSummary:
    """How a loop went: ``step`` is the callback, ``lateness`` how long after its time it was called."""

    calls: int
    overruns: int
    skipped: int
    step: Durations
    lateness: Durations
    input_age: Durations


class Loop:
    """Calls a function at a fixed rate. Deadlines are absolute, so nothing drifts.

    >>> loop = Loop(manager.frequency)
    >>> def step(tick):
    ...     robot.apply(manager({"policy/obs": robot.observe()})["policy/action"])
    ...     return robot.is_on()
    >>> loop.run(step)
    >>> print(loop.statistics.overruns, loop.statistics.lateness.p99)
    """

    def __init__(
        self,
        frequency: float | None,
        *,
        overrun: Literal["skip", "stop"] = "skip",
        cpus: Sequence[int] = (),
        fifo_priority: int = 0,
        lock_memory: bool = False,
        required: bool = False,
    ) -> None:
        """Prepare a loop, on the thread that will run it.

        Parameters
        ----------
        frequency:
            In Hz: ``manager.frequency``, or one of your own.
        overrun:
            When a call took too long: leave out the periods that are over, or end with a RuntimeError.
        cpus, fifo_priority, lock_memory:
            The thread runs on these cores only, with SCHED_FIFO and that priority; no page is ever written out.
        required:
            What the system refuses of these is a RuntimeError; else ``notes`` tells it.
        """
        if frequency is None:
            raise LeappValueError(
                "frequency: expected one in Hz, found None: the bundle has none (GraphConfigs(frequency=...) at export)"
            )
        if overrun not in ("skip", "stop"):
            raise LeappValueError(f'overrun: expected "skip" or "stop", found {overrun!r}')
        self._loop = _runtime.Loop(
            float(frequency), overrun == "stop", list(cpus), fifo_priority, lock_memory, required
        )

    def run(self, call: Callable[[Tick], Any]) -> None:
        """Call ``call(tick)`` until it returns False, raises, or ``stop`` is called; the first time at once."""
        self._loop.run(call)

    def stop(self) -> None:
        """End the loop after the call that is running; from any thread."""
        self._loop.stop()

    @property
    def frequency(self) -> float:
        """In Hz."""
        return self._loop.frequency

    @property
    def notes(self) -> list[str]:
        """What the system refused, a sentence each."""
        return self._loop.notes

    @property
    def statistics(self) -> LoopSummary:
        """How it goes; may be asked from any thread while it runs."""
        found = self._loop.statistics
        durations = {name: Durations(**found[name]) for name in ("step", "lateness", "input_age")}
        return LoopSummary(found["calls"], found["overruns"], found["skipped"], **durations)


class ChunkPlayer:
    """Plays an output that has an axis of moments (``TemporalAxis``) back between steps.

    >>> player = ChunkPlayer(manager, "policy/actions", mode="blend", overlap_ms=40)
    >>> manager(inputs); player.take(time.monotonic())  # every 20 ms
    >>> state, action = player.play(time.monotonic())  # every millisecond

    Times are seconds of ``time.monotonic()``. "hold" gives the row whose time has come, "linear" the straight line
    between two, "blend" goes over from the chunk before to the new one within the overlap.
    """

    def __init__(
        self,
        manager: InferenceManager,
        output: str,
        *,
        mode: Literal["hold", "linear", "blend"] = "linear",
        overlap_ms: float = 0,
    ) -> None:
        """Play ``output``, "node/port", of that manager. Raises a ValueError when it has no axis of moments."""
        self._player = _runtime.ChunkPlayer(manager._manager, output, mode, overlap_ms)

    def take(self, start: float) -> None:
        """What the output holds now is the newest chunk; its first row is for ``start``."""
        self._player.take(start)

    def play(self, time: float) -> tuple[Literal["playing", "before", "ended", "empty"], Any]:
        """Give what is due: "ended" comes with the last row, "before" with what was before, "empty" with None."""
        return self._player.play(time)

    @property
    def port(self) -> Port:
        """What is played: the output without its axis of moments; for a ``NameMap``."""
        return Port(*self._player.port)

    @property
    def length(self) -> float:
        """From the first row to the last, in seconds."""
        return self._player.length
