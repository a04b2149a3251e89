# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Replay every episode of a dataset through one or two bundles."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from leapp.errors import LeappImportError, LeappValueError
from leapp.fleet.episodes import EpisodeError, Source, find_episodes, other_kinds
from leapp.fleet.options import ReplayOptions
from leapp.fleet.page import write_page
from leapp.fleet.parquet import arrow
from leapp.fleet.results import Results
from leapp.fleet.worker import Unit, Worker, bundle_identity, drawing

__all__ = ["Done", "ReplaySummary", "replay"]

Done = tuple[int, bytes, dict[str, Any]]


@dataclass(frozen=True)
class ReplaySummary:
    """What came of a replay. ``rows`` are the tables as lists: "episodes", "ports", "worst", "skipped"; ``notes`` what
    is to be known of episodes that were not left out.
    """

    folder: Path
    episodes: int
    steps: int
    skipped: int
    resumed: int
    seconds: float
    stepped: int
    where: str
    notes: list[str]
    rows: dict[str, list[dict[str, Any]]]

    @property
    def steps_per_second(self) -> float:
        """Of the steps that this run has done, reading and writing included."""
        return self.stepped / self.seconds if self.seconds else 0.0


class _Progress:
    """A line on a terminal."""

    def __init__(self, total: int, out: TextIO | None) -> None:
        self._total, self._out = total, out if out is not None and out.isatty() else None
        self._shown, self._start = 0.0, time.monotonic()

    def at(self, episodes: int, steps: int) -> None:
        now = time.monotonic()
        if self._out is None or (now - self._shown < 0.1 and episodes < self._total):
            return
        self._shown = now
        rate = steps / max(now - self._start, 1e-9)
        width = 30 * episodes // max(self._total, 1)
        bar = "#" * width + "." * (30 - width)
        self._out.write(f"\r[{bar}] {episodes}/{self._total} episodes, {rate:,.0f} steps/s ")
        self._out.flush()

    def end(self) -> None:
        if self._out is not None:
            self._out.write("\n")


def _units(sources: list[Source], batch: int) -> list[Unit]:
    groups = [tuple(sources[i : i + batch]) for i in range(0, len(sources), batch)]
    return [Unit(number, group) for number, group in enumerate(groups)]


def _here(worker: Worker, units: Iterable[Unit]) -> Iterator[Done]:
    for unit in units:
        content, summary = worker.do(unit)
        yield unit.number, content, summary


def _workers(options: ReplayOptions) -> int:
    """How many processes there will be; 0: this one."""
    installed = importlib.util.find_spec("ray") is not None
    if options.workers == 0 and options.address is None:
        return 0
    if not installed:
        if options.address is None and options.workers is None:
            return 0
        what = "address" if options.address is not None else "workers"
        raise LeappImportError(f"{what}: expected Ray for that, which is not installed: pip install 'ray[data]'")
    if options.workers:
        return options.workers
    clustered = options.address is not None or os.environ.get("RAY_ADDRESS")
    return -1 if clustered else len(os.sched_getaffinity(0))


def _sample(sources: list[Source]) -> list[Source]:
    """The first, and some of the others: where they all have the same fault there is no need to read all."""
    first, others = sources[:20], sources[20:]
    return first + others[:: max(1, len(others) // 80)]


def _check_some(worker: Worker, sources: list[Source]) -> None:
    """What is wrong with every episode is an error before any work, and no list of all of them."""
    problems: list[str] = []
    for source in _sample(sources):
        try:
            worker.matching.prepare(source)
            return
        except EpisodeError as error:
            problems.append(f"{source.name}: {error}")
    looked = "" if len(problems) == len(sources) else f" of {len(problems)} that were looked at"
    raise LeappValueError(f"no episode{looked} can be used; the first: {problems[0]}")


def _check_places(options: ReplayOptions) -> None:
    data, output = (os.path.realpath(path) for path in (options.data, options.output))
    if data == output:
        raise LeappValueError(f"output: expected a folder for the results, found {options.output}, which is the data")


def _notes(options: ReplayOptions, results: Results, worker: Worker) -> list[str]:
    notes = [f"{one['episode']}: {one['note']}" for one in results.episodes if one["note"]]
    for path in options.bundle_paths:
        if drawing(path) == "unseeded":
            notes.insert(
                0, f"{os.path.basename(path)} draws random numbers without a seed: another run gives other results"
            )
    unrecorded: dict[str, list[bool]] = {}
    for one in results.episodes:
        for port in one["ports"]:
            unrecorded.setdefault(port["port"], []).append(not port["counts"])
    for name, alone in unrecorded.items():
        if any(alone) and not all(alone):
            notes.insert(0, f"{name} is not recorded in {sum(alone):,} of {len(alone):,} episodes")
    if others := other_kinds(options.data):
        notes.insert(0, others)
    if unpaired := worker.matching.only_in_second:
        notes.insert(0, f"only in the second bundle, compared with nothing: {', '.join(unpaired)}")
    return notes


def _collect(
    options: ReplayOptions, results: Results, units: list[Unit], done: Iterable[Done], out: TextIO | None
) -> int:
    by_number = {unit.number: unit for unit in units}
    total = sum(len(unit.sources) for unit in units)
    progress, episodes, steps = _Progress(total, out), 0, 0
    try:
        for number, content, summary in done:
            if summary["skipped"] and options.strict:
                first = summary["skipped"][0]
                raise LeappValueError(
                    f"{first['episode']}: {first['why']} (--strict stops here; what was done is kept)"
                )
            results.add(by_number[number], content, summary)
            episodes += len(by_number[number].sources)
            steps += sum(episode["steps"] for episode in summary["episodes"])
            progress.at(episodes, steps)
    finally:
        results.flush()
        progress.end()
    return steps


def replay(options: ReplayOptions, out: TextIO | None = None) -> ReplaySummary:
    """Do all episodes that are not done, and write tables and a page of all of them.

    The folder ``output`` then has ``steps/`` (every step's outputs), ``episodes.parquet``, ``ports.parquet``,
    ``worst.parquet``, ``skipped.parquet`` and ``replay.html``. They are the same, byte for byte, whoever did the work
    and however often it was interrupted.

    Raises
    ------
    ValueError
        Bundles that cannot be loaded or do not agree; columns that fit no port; with ``strict``, an episode that
        cannot be used; results of another replay in ``output``.
    OSError
        Something cannot be read or written. What was done is kept.
    ImportError
        pyarrow, or Ray where it was asked for, is not installed.
    """
    arrow()
    workers = _workers(options)
    _check_places(options)
    identities = [bundle_identity(path) for path in options.bundle_paths]
    sources = find_episodes(options.data, options.episode_column, options.order_column)
    worker = Worker(options, identities)
    _check_some(worker, sources)
    units = _units(sources, options.batch)
    results = Results(options, units, identities)
    with results.claimed():
        todo = results.find_done()
        start = time.monotonic()
        if workers == 0 or not todo:
            done, where = _here(worker, todo), "in this process"
        else:
            from leapp.fleet.on_ray import run_on_ray

            done = run_on_ray(options, identities, todo, workers)
            where = f"on Ray, {workers} workers" if workers > 0 else "on Ray"
        stepped = _collect(options, results, todo, done, out or sys.stderr)
        seconds = time.monotonic() - start
        rows = results.finish()
        notes = _notes(options, results, worker)
        write_page(results, options, rows, notes)
    return ReplaySummary(
        folder=results.folder,
        episodes=len(results.episodes),
        steps=sum(episode["steps"] for episode in results.episodes),
        skipped=len(results.skipped),
        resumed=len(units) - len(todo),
        seconds=seconds,
        stepped=stepped,
        where=where,
        notes=notes,
        rows=rows,
    )
