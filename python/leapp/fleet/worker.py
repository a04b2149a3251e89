# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""One unit of work: some episodes through the bundles, and the Parquet file that comes of it.

A unit depends on nothing but its episodes, the bundles and the options: who does it, and when, leaves no trace in the
file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from leapp import _runtime
from leapp.fleet.episodes import EpisodeError, Source
from leapp.fleet.matching import Matching, Prepared
from leapp.fleet.options import ReplayOptions
from leapp.fleet.parquet import arrow, to_bytes
from leapp.fleet.statistics import PortStatistics, describe
from leapp.runtime.manager import InferenceManager
from leapp.runtime.ports import Port

__all__ = ["Unit", "Worker", "bundle_identity", "drawing", "unit_key"]

SUMMARY = b"leapp.replay"


@dataclass(frozen=True)
class Unit:
    """Episodes that are done together."""

    number: int
    sources: tuple[Source, ...]

    @property
    def file(self) -> str:
        """Its file's name under ``steps/``."""
        return f"{self.number:06d}.parquet"


def drawing(bundle: str) -> str:
    """Whether a bundle's ONNX models draw random numbers: "none", "seeded" or "unseeded"."""
    files = [file for _, file in _runtime.bundle_files(bundle) if file.suffix == ".onnx"]
    kinds = {_runtime.draws_of(file) for file in files}
    return next((kind for kind in ("unseeded", "seeded") if kind in kinds), "none")


def bundle_identity(bundle: str) -> str:
    """SHA-256 over the files of a bundle that matter: its YAML, models and initial values."""
    digest = hashlib.sha256()
    for name, file in _runtime.bundle_files(bundle):
        digest.update(f"\n{name} ".encode())
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def unit_key(unit: Unit, options: ReplayOptions, bundles: list[str]) -> str:
    """Everything that a unit's results depend on, but for what is in the episodes' files."""
    told = {
        "bundles": bundles,
        "episodes": [(source.name, source.size) for source in unit.sources],
        "columns": sorted(options.columns.items()),
        **{name: getattr(options, name) for name in ("order_column", "cast", "reset", "engine", "rtol", "atol")},
        "batch": options.batch,
        "worst": options.worst,
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


class Worker:
    """Loads the bundles once and does units, one after the other."""

    def __init__(self, options: ReplayOptions, identities: list[str]) -> None:
        """Load the bundles: what they raise names the file and what is wrong with it."""
        self._options = options
        self._identities = identities
        self._draws = any(drawing(path) != "none" for path in options.bundle_paths)
        self._begin()
        rows = [self._one_row(bundle) for bundle in range(len(self._managers))]
        ports = [{"inputs": one.input_ports, "outputs": one.output_ports} for one in rows]
        self.matching = Matching(options, ports)

    def _begin(self) -> None:
        self._managers = [self._load(path, self._options.batch) for path in self._options.bundle_paths]
        self._single: dict[int, InferenceManager] = {}

    def _load(self, path: str, batch: int) -> InferenceManager:
        options = self._options
        return InferenceManager(
            path,
            batch=batch,
            engine=options.engine,
            allow_torchscript=options.allow_torchscript,
            timeout=options.timeout,
            memory_limit=options.memory_limit,
        )

    def _one_row(self, bundle: int) -> InferenceManager:
        if self._options.batch == 1:
            return self._managers[bundle]
        if bundle not in self._single:
            self._single[bundle] = self._load(self._options.bundle_paths[bundle], 1)
        return self._single[bundle]

    # ---- stepping ----

    def _step(self, bundle: int, alone: bool, episodes: list[Prepared]) -> list[dict[str, Any]] | str:
        """Outputs of each episode, or why a step failed."""
        ports = self._one_row(bundle).output_ports
        manager = self._one_row(bundle) if alone else self._managers[bundle]
        results: list[dict[str, Any]] = []
        given: list[tuple[int, list[Any], list[Any], list[int]]] = []
        for episode in episodes:
            outputs = {
                port.name: np.empty((episode.steps, *port.shape), "uint16" if port.dtype == "bfloat16" else port.dtype)
                for port in ports
            }
            results.append(outputs)
            values = [episode.inputs[bundle][name].values for name in manager.inputs]
            arrays = [outputs[name] for name in manager.outputs]
            given.append((episode.steps, values, arrays, episode.contents.resets))
        failed = _runtime.run_episodes(manager._manager, given, self._options.reset)
        return results if failed is None else f"step {failed[0]}: {failed[1]}"

    def _run(self, bundle: int, episodes: list[Prepared]) -> list[dict[str, Any] | str]:
        """The outputs of each episode, or why there are none. What fails together is tried one by one."""
        found = self._step(bundle, False, episodes)
        if not isinstance(found, str):
            return list(found)
        if len(episodes) == 1:
            return [found]
        alone = [self._step(bundle, True, [episode]) for episode in episodes]
        return [one if isinstance(one, str) else one[0] for one in alone]

    # ---- results ----

    def do(self, unit: Unit) -> tuple[bytes, dict[str, Any]]:
        """The file of the unit, and its summary, which is in the file too."""
        if self._draws:  # the sequence of numbers begins with the load: what was done before must leave no trace
            self._begin()
        skipped: list[dict[str, str]] = []
        ready: list[Prepared] = []
        for source in unit.sources:
            try:
                ready.append(self.matching.prepare(source))
            except EpisodeError as error:
                skipped.append({"episode": source.name, "why": str(error)})
        tables, episodes = [], []
        runs = [self._run(bundle, ready) for bundle in range(len(self._managers))] if ready else []
        for i, episode in enumerate(ready):
            results = [run[i] for run in runs]
            failed = next((one for one in results if isinstance(one, str)), None)
            if failed is not None:
                skipped.append({"episode": episode.source.name, "why": failed})
                continue
            table, summary = self._results(episode, [one for one in results if not isinstance(one, str)])
            tables.append(table)
            episodes.append(summary)
        return self._file(unit, tables, episodes, skipped)

    def leave_out(self, unit: Unit, why: str) -> tuple[bytes, dict[str, Any]]:
        """The same of a unit that is not done."""
        return self._file(unit, [], [], [{"episode": source.name, "why": why} for source in unit.sources])

    def _file(
        self, unit: Unit, tables: list[Any], episodes: list[dict[str, Any]], skipped: list[dict[str, str]]
    ) -> tuple[bytes, dict[str, Any]]:
        key = unit_key(unit, self._options, self._identities)
        told = {"key": key, "unit": unit.number, "episodes": episodes, "skipped": skipped}
        pyarrow = arrow()
        whole = pyarrow.concat_tables(tables) if tables else pyarrow.table({})
        whole = whole.replace_schema_metadata({SUMMARY: json.dumps(told, sort_keys=True).encode()})
        return to_bytes(whole), told

    def _results(self, episode: Prepared, found: list[dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
        pyarrow = arrow()
        columns: dict[str, Any] = {
            "episode": pyarrow.array([episode.source.name] * episode.steps, pyarrow.string()),
            "step": pyarrow.array(np.arange(episode.steps, dtype=np.int64)),
        }
        ports: list[PortStatistics] = []
        for port in self.matching.outputs:
            ours = found[0][port.name]
            theirs = self._reference(port, episode, found)
            columns[port.name] = _column(ours, port)
            statistics, difference = describe(port, ours, theirs, self._options)
            ports.append(statistics)
            if theirs is not None and difference is not None:
                columns[f"{port.name}:reference"] = _column(theirs, port)
                columns[f"{port.name}:difference"] = pyarrow.array(difference.worst)
                columns[f"{port.name}:outside"] = pyarrow.array(difference.outside)
        summary = {
            "episode": episode.source.name,
            "steps": episode.steps,
            "note": episode.contents.note,
            "ports": [one.plain() for one in ports],
        }
        return pyarrow.table(columns), summary

    def _reference(self, port: Port, episode: Prepared, found: list[dict[str, Any]]) -> Any | None:
        if len(found) == 2:
            return found[1][self.matching.pairs[port.name]]
        series = episode.recorded.get(port.name)
        if series is None:
            return None
        shape = (episode.steps, *port.shape)
        return np.ascontiguousarray(
            np.broadcast_to(series.values, shape) if series.held else series.values.reshape(shape)
        )


def _column(values: np.ndarray[Any, Any], port: Port) -> Any:
    """Steps as lists of one length; 16-bit floats as float32, which has all their values."""
    pyarrow = arrow()
    if port.dtype == "bfloat16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    elif port.dtype == "float16":
        values = values.astype(np.float32)
    flat = pyarrow.array(values.reshape(-1))
    each = values.size // max(len(values), 1)
    return pyarrow.FixedSizeListArray.from_arrays(flat, each) if each else pyarrow.array([[]] * len(values))
