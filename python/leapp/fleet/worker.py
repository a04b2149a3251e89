# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""One unit of work: some episodes through the bundles, and the Parquet file that comes of it.

A unit depends on nothing but its episodes, the bundles and the options: who does it, and when, leaves no trace in the
file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leapp import _runtime
from leapp.errors import LeappValueError
from leapp.fleet.columns import PortSeries, fit, names_for, steps_of
from leapp.fleet.episodes import Contents, EpisodeError, Source, read_episode
from leapp.fleet.options import ReplayOptions
from leapp.fleet.parquet import arrow, to_bytes
from leapp.fleet.statistics import PortStatistics, describe
from leapp.ports import Port
from leapp.runtime import InferenceManager

__all__ = ["Unit", "Worker", "bundle_identity", "unit_key"]

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


def bundle_identity(bundle: str) -> str:
    """SHA-256 over the files of a bundle that matter: its YAML, models and initial values."""
    path = Path(bundle)
    folder = path if path.is_dir() else path.parent
    yaml = path / f"{path.name}.yaml" if path.is_dir() else path
    if not yaml.is_file():
        raise LeappValueError(f"{bundle}: there is no bundle here")
    digest = hashlib.sha256(yaml.read_bytes())
    suffixes = {".onnx", ".pt", ".pt2", ".data", ".safetensors"}
    for file in sorted(file for file in folder.rglob("*") if file.suffix in suffixes and file.is_file()):
        digest.update(f"\n{file.relative_to(folder).as_posix()} ".encode())
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


@dataclass
class _Prepared:
    """An episode, ready to be stepped."""

    source: Source
    steps: int
    contents: Contents
    inputs: dict[str, PortSeries]
    recorded: dict[str, PortSeries]


class Worker:
    """Loads the bundles once and does units, one after the other."""

    def __init__(self, options: ReplayOptions, identities: list[str]) -> None:
        """Load the bundles: what they raise names the file and what is wrong with it."""
        self._options = options
        self._identities = identities
        self._managers = [self._load(path, options.batch) for path in options.bundle_paths]
        self._single: dict[int, InferenceManager] = {}
        first = self._one_row(0)
        self._inputs, self._outputs = first.input_ports, first.output_ports
        if len(self._managers) == 2:
            other = self._one_row(1)
            theirs = {port.name: port for port in other.output_ports}
            self._outputs = [port for port in self._outputs if self._agrees(port, theirs)]
            self._inputs = self._inputs + [port for port in other.input_ports if port.name not in first.inputs]

    def _load(self, path: str, batch: int) -> InferenceManager:
        return InferenceManager(path, batch=batch, engine=self._options.engine)

    def _one_row(self, bundle: int) -> InferenceManager:
        if self._options.batch == 1:
            return self._managers[bundle]
        if bundle not in self._single:
            self._single[bundle] = self._load(self._options.bundle_paths[bundle], 1)
        return self._single[bundle]

    def _agrees(self, port: Port, theirs: dict[str, Port]) -> bool:
        other = theirs.get(port.name)
        if other is None:
            raise LeappValueError(
                f"the output {port.name} of {self._options.bundle_paths[0]} is not in {self._options.bundle_paths[1]}, "
                f"which has {', '.join(theirs) or 'none'}"
            )
        if (other.dtype, list(other.shape)) != (port.dtype, list(port.shape)):
            raise LeappValueError(
                f"{port.name} is {port.dtype}{list(port.shape)} in {self._options.bundle_paths[0]} and "
                f"{other.dtype}{list(other.shape)} in {self._options.bundle_paths[1]}"
            )
        return True

    # ---- reading ----

    def wanted(self) -> list[str]:
        """Columns that are of interest."""
        names = []
        for ports, role in ((self._inputs, "inputs"), (self._outputs, "outputs")):
            for port in ports:
                names += names_for(port, ports, self._options.columns, role)
        return names

    def prepare(self, source: Source) -> _Prepared:
        """Read an episode and find its columns; an EpisodeError says what is wrong with it."""
        contents = read_episode(source, self.wanted(), self._options.order_column)
        inputs: dict[str, PortSeries] = {}
        for port in self._inputs:
            series = self._find(port, self._inputs, "inputs", contents)
            if series is None:
                names = names_for(port, self._inputs, self._options.columns, "inputs")
                raise EpisodeError(
                    f"no column for the input {port.name}: expected {' or '.join(names)}, found "
                    f"{', '.join(sorted(contents.columns)) or 'none'}; --column {port.name}=NAME names it"
                )
            inputs[port.name] = series
        recorded: dict[str, PortSeries] = {}
        if len(self._managers) == 1:
            for port in self._outputs:
                series = self._find(port, self._outputs, "outputs", contents)
                if series is not None:
                    recorded[port.name] = series
        steps = steps_of({**inputs, **recorded})
        if steps == 0:
            raise EpisodeError("it has no steps")
        return _Prepared(source, steps, contents, inputs, recorded)

    def _find(self, port: Port, ports: list[Port], role: str, contents: Contents) -> PortSeries | None:
        for name in names_for(port, ports, self._options.columns, role):
            if name in contents.columns:
                return fit(contents.columns[name], port, name, self._options.cast)
        return None

    # ---- stepping ----

    def _step(self, bundle: int, alone: bool, episodes: list[_Prepared]) -> list[dict[str, Any]] | str:
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
            values = [episode.inputs[name].values for name in manager.inputs]
            arrays = [outputs[name] for name in manager.outputs]
            given.append((episode.steps, values, arrays, episode.contents.resets))
        failed = _runtime.run_episodes(manager._manager, given, self._options.reset)
        return results if failed is None else f"step {failed[0]}: {failed[1]}"

    def _run(self, bundle: int, episodes: list[_Prepared]) -> list[dict[str, Any] | str]:
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
        skipped: list[dict[str, str]] = []
        ready: list[_Prepared] = []
        for source in unit.sources:
            try:
                ready.append(self.prepare(source))
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

    def _results(self, episode: _Prepared, found: list[dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
        pyarrow = arrow()
        columns: dict[str, Any] = {
            "episode": pyarrow.array([episode.source.name] * episode.steps, pyarrow.string()),
            "step": pyarrow.array(np.arange(episode.steps, dtype=np.int64)),
        }
        ports: list[PortStatistics] = []
        for port in self._outputs:
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
            "ports": [asdict(one) for one in ports],
        }
        return pyarrow.table(columns), summary

    def _reference(self, port: Port, episode: _Prepared, found: list[dict[str, Any]]) -> Any | None:
        if len(found) == 2:
            return found[1][port.name]
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
