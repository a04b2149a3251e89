# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Units of work on Ray Data: actors that load the bundles once, episodes that stream through them."""

from __future__ import annotations

import json
import logging
import os
import pickle
import socket
from collections.abc import Iterator
from typing import Any

from leapp.errors import LeappError, LeappOSError, LeappValueError
from leapp.fleet.options import ReplayOptions
from leapp.fleet.worker import Unit, Worker, bundle_identity

__all__ = ["run_on_ray"]

_MOST_ATTEMPTS = 3


class _Attempts:
    """How often each unit was begun: one that takes its worker down every time must not go on for ever."""

    def __init__(self) -> None:
        self._begun: dict[int, int] = {}

    def begin(self, unit: int) -> int:
        self._begun[unit] = self._begun.get(unit, 0) + 1
        return self._begun[unit]


class _Actor:
    """One process. What goes wrong while it starts is told by its first result: Ray would only try again."""

    def __init__(self, options: ReplayOptions, identities: list[str], attempts: Any) -> None:
        self._attempts = attempts
        self._worker: Worker | None = None
        self._error = ""
        try:
            for path, expected in zip(options.bundle_paths, identities, strict=True):
                if bundle_identity(path) != expected:
                    raise LeappValueError(f"{path}: expected the same bundle on every node, found another one here")
            self._worker = Worker(options, identities)
        except (LeappError, OSError, RuntimeError) as error:
            self._error = f"{socket.gethostname()}: {error}"

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        if self._worker is None:
            return {"unit": -1, "content": b"", "summary": self._error}
        unit: Unit = pickle.loads(row["unit"])
        import ray

        if ray.get(self._attempts.begin.remote(unit.number)) > _MOST_ATTEMPTS:
            content, summary = self._worker.leave_out(unit, f"its worker died {_MOST_ATTEMPTS} times")
        else:
            content, summary = self._worker.do(unit)
        return {"unit": unit.number, "content": content, "summary": json.dumps(summary)}


def _knock(address: str) -> None:
    """Whether anybody is there: Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return  # "auto" and the like
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=20).close()
    except (OSError, OverflowError) as error:
        raise LeappOSError(f"address: expected a Ray cluster at {address}, found none: {error}") from error


def _start(options: ReplayOptions, workers: int) -> Any:
    # Ray's own notes on how it works are not ours to print; what matters comes as an exception.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Its workers would run with niceness 15: on a machine that does anything else they get next to nothing.
    os.environ.setdefault("RAY_worker_niceness", "0")
    import ray
    import ray.data

    if ray.is_initialized():
        return ray
    told: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    address = options.address or os.environ.get("RAY_ADDRESS")
    # Without an address Ray would join a cluster that happens to run on this machine, and refuse what we ask for.
    told |= {"address": address} if address else {"address": "local", "num_cpus": workers, "include_dashboard": False}
    if address:
        _knock(address)
    try:
        ray.init(**told)
    except Exception as error:  # of Ray's, of gRPC's, and of those they stand on
        at = f" at {address}" if address else ""
        lines = str(error).strip().splitlines()
        raise LeappOSError(f"Ray{at} cannot be used: {type(error).__name__}: {lines[0] if lines else ''}") from error
    return ray


def run_on_ray(
    options: ReplayOptions, identities: list[str], units: list[Unit], workers: int
) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    """Give results as they come. A worker that dies is replaced and its units done again, three times at most."""
    ray = _start(options, workers)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.max_errored_blocks = 0
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    if workers < 0:
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    blocks = min(len(units), max(workers * 16, 64))
    rows = [{"unit": pickle.dumps(unit)} for unit in units]
    # If it dies, counting begins anew.
    attempts = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Attempts).remote()
    data = ray.data.from_items(rows, override_num_blocks=blocks).map(
        _Actor,
        fn_constructor_args=(options, identities, attempts),
        compute=ray.data.ActorPoolStrategy(size=min(workers, blocks)),
        num_cpus=1,
    )
    try:
        for row in data.iter_rows():
            if row["unit"] < 0:
                raise LeappValueError(f"a worker could not begin on {row['summary']}")
            yield row["unit"], row["content"], json.loads(row["summary"])
    except ray.exceptions.RayError as error:
        first = str(error).strip().splitlines()
        raise LeappValueError(
            f"Ray ended the replay: {type(error).__name__}: {first[0] if first else ''} "
            "(what was done is kept: run the same command again to go on)"
        ) from error
