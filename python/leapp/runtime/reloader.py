# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Another bundle for a manager that is running, between two of its steps."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from leapp import _runtime
from leapp.runtime.signing import Key, Signature, key_texts

if TYPE_CHECKING:
    from leapp.runtime.manager import InferenceManager

__all__ = ["ReloadReport", "Reloader"]


@dataclass(frozen=True)
class ReloadReport:
    """How the newest request goes.

    ``state`` is "idle", "loading", "ready", "swapped" or "failed", and then ``error`` says why; what ran before runs
    on. ``state_kept`` is of the pipeline's state, once it is swapped.
    """

    state: Literal["idle", "loading", "ready", "swapped", "failed"]
    number: int
    bundle: str
    error: str
    signature: Signature | None
    state_kept: bool


class Reloader:
    """Loads, verifies and warms bundles on a thread of its own, and swaps them in between two steps.

    >>> reloader = Reloader(manager, trusted_keys=["release.public.pem"])
    >>> reloader.request("walk_v2")  # from any thread
    >>> while robot.is_on():
    ...     reloader.swap_if_ready()  # the loop's thread
    ...     robot.apply(manager({"policy/obs": robot.observe()})["policy/action"])
    >>> reloader.report.error  # why not, if it was refused

    The new bundle's inputs and outputs have to agree with the running one's: names, dtypes, shapes, kinds, element
    names, moments; and the frequency. ``NameMap``, ``ChunkPlayer`` and guards that were made before go on working. Of
    several requests the newest counts.
    """

    def __init__(
        self,
        manager: InferenceManager,
        *,
        trusted_keys: Sequence[Key] = (),
        minimum_serial: int = 0,
        state: Literal["reset", "keep_if_same", "keep"] = "reset",
        reset: Literal["exported", "zeros", "first_frame"] = "exported",
        watch: str | PathLike[str] | None = None,
        poll: float = 0.5,
        **load: Any,
    ) -> None:
        """Prepare to swap bundles of that manager.

        Parameters
        ----------
        trusted_keys, minimum_serial:
            A new bundle has to be signed by one of these, whatever the running one was loaded with. If that was signed
            too, an earlier serial than its is refused.
        state:
            What the state holds after a swap: what ``reset`` says; what it held if both bundles have the same state; or
            what it held in any case, and a bundle with other state is refused.
        watch, poll:
            A bundle that is loaded whenever it changes; it is looked at every ``poll`` seconds.
        load:
            As of ``InferenceManager``: ``engine``, ``threads``, ``fuse``, ... Those that are not given are what the
            manager was loaded with.
        """
        options = {**manager._options, **load}
        options |= {"trusted_keys": key_texts(trusted_keys), "minimum_serial": minimum_serial}
        self._manager = manager
        self._reloader = _runtime.Reloader(
            manager._manager, state, reset, "" if watch is None else os.fspath(watch), poll, **options
        )
        # Its thread must be gone before Python is.
        self._end = weakref.finalize(self, self._reloader.close)

    def request(self, bundle: str | PathLike[str]) -> int:
        """Load ``bundle`` next, and return the request's number. Earlier ones that are not swapped in never will be."""
        return self._reloader.request(bundle)

    def swap_if_ready(self) -> bool:
        """Take what is ready; True when the next step is the new bundle's. Call it between two steps.

        False, and ``report`` says why, when it does not fit after all: a guard is set on state that it does not have,
        say.
        """
        if not self._reloader.swap():
            return False
        self._manager._swapped()
        return True

    @property
    def report(self) -> ReloadReport:
        """How the newest request goes. That it was swapped is known a moment after the swap."""
        return self.wait(0)

    def wait(self, timeout: float, *, swapped: bool = False) -> ReloadReport:
        """Wait until the newest request is loaded, or with ``swapped`` until it runs; or it has failed."""
        state, number, bundle, error, signature, kept = self._reloader.wait(timeout, not swapped)
        return ReloadReport(state, number, bundle, error, Signature(*signature) if signature else None, kept)

    @property
    def swaps(self) -> int:
        """How often a bundle was swapped in."""
        return self._reloader.swaps

    def close(self) -> None:
        """End the loading thread, once it is done with what it is loading. The manager runs on."""
        self._end()

    def __enter__(self) -> Reloader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
