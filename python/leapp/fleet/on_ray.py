# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Units of work on Ray Data: actors that load the bundles once, episodes that stream through them."""

from __future__ import annotations

import json
import os
import pickle
import socket
from collections.abc import Iterator
from typing import Any

from leapp.errors import LeappError, LeappValueError
from leapp.fleet.options import ReplayOptions
from leapp.fleet.worker import Unit, Worker, bundle_identity

__all__ = ["run_on_ray"]

_RESTARTS = 3


class _Actor:
    """One process. What goes wrong while it starts is told by its first result: Ray would only try again."""

    def __init__(self, options: ReplayOptions, identities: list[str]) -> None:
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
        content, summary = self._worker.do(unit)
        return {"unit": unit.number, "content": content, "summary": json.dumps(summary)}


def _start(options: ReplayOptions, workers: int) -> Any:
    import ray

    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if not ray.is_initialized():
        told: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        if options.address is None:
            told |= {"num_cpus": workers, "include_dashboard": False}
        else:
            told["address"] = options.address
        ray.init(**told)
    return ray


def run_on_ray(
    options: ReplayOptions, identities: list[str], units: list[Unit], workers: int
) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    """Results as they come. A worker that dies is replaced, and its episode done again; one that keeps dying ends it."""
    ray = _start(options, workers)
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.max_errored_blocks = 0
    if workers < 0:
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    blocks = min(len(units), max(workers * 16, 64))
    rows = [{"unit": pickle.dumps(unit)} for unit in units]
    data = ray.data.from_items(rows, override_num_blocks=blocks).map(
        _Actor,
        fn_constructor_args=(options, identities),
        concurrency=min(workers, blocks),
        num_cpus=1,
        max_restarts=_RESTARTS,
        max_task_retries=_RESTARTS,
    )
    try:
        for row in data.iter_rows():
            if row["unit"] < 0:
                raise LeappValueError(f"a worker could not begin on {row['summary']}")
            yield row["unit"], row["content"], json.loads(row["summary"])
    except ray.exceptions.RayError as error:
        first = str(error).strip().splitlines()
        raise LeappValueError(
            f"Ray ended the replay: {type(error).__name__}: {first[0] if first else ''} (what was done is kept: run the "
            "same command again to go on)"
        ) from error
