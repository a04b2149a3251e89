# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of results: what is done, and the tables that are made of it at the end."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from leapp.errors import LeappOSError, LeappValueError
from leapp.fleet.options import ReplayOptions
from leapp.fleet.parquet import arrow, parquet, to_bytes, write_file
from leapp.fleet.statistics import EDGES, quantile
from leapp.fleet.worker import SUMMARY, Unit, unit_key

__all__ = ["Results"]

Summary = dict[str, Any]


class Results:
    """A folder with ``steps/``, one file for each unit, and what is made of them when all are there."""

    def __init__(self, options: ReplayOptions, units: list[Unit], identities: list[str]) -> None:
        """Look at what is there. Results of another replay are an error, unless they may be replaced."""
        self.folder = Path(options.output)
        self._options = options
        self._units = units
        self._identities = identities
        self._identity = {
            "bundles": identities,
            "reset": options.reset,
            "batch": options.batch,
            "engine": options.engine,
            "cast": options.cast,
            "columns": dict(sorted(options.columns.items())),
            "rtol": options.rtol,
            "atol": options.atol,
        }
        self._check_folder()
        self.summaries: dict[int, Summary] = {}

    def _check_folder(self) -> None:
        manifest = self.folder / "replay.json"
        if self.folder.exists() and not self.folder.is_dir():
            raise LeappOSError(f"{self.folder}: expected a folder for the results, found a file")
        if not manifest.exists():
            found = sorted(path.name for path in self.folder.iterdir())[:3] if self.folder.is_dir() else []
            if found and not self._options.overwrite:
                raise LeappValueError(
                    f"{self.folder}: expected an empty folder or the results of a replay, found {', '.join(found)}; "
                    "--overwrite puts the results beside it"
                )
        else:
            self._check_manifest(manifest)
        self._write(manifest, json.dumps(self._identity, indent=2).encode() + b"\n")

    def _check_manifest(self, manifest: Path) -> None:
        try:
            found = json.loads(manifest.read_text())
        except ValueError:
            found = None
        if found == self._identity or self._options.overwrite:
            return
        differing = [
            key for key in self._identity if not isinstance(found, dict) or found.get(key) != self._identity[key]
        ]
        raise LeappValueError(
            f"{self.folder} has the results of another replay (other {', '.join(differing)}): expected the same, "
            "to go on with; --overwrite replaces them"
        )

    def _write(self, path: Path, content: bytes) -> None:
        try:
            write_file(path, content)
        except OSError as error:
            done = len(self.summaries) if hasattr(self, "summaries") else 0
            raise LeappOSError(
                f"cannot write {path}: {error.strerror or error}; {done} of {len(self._units)} units are done and "
                "kept: run the same command again to go on"
            ) from error

    def path_of(self, unit: Unit) -> Path:
        """The file of a unit."""
        return self.folder / "steps" / unit.file

    def find_done(self) -> list[Unit]:
        """Take note of what an earlier run has left; returns what is still to be done."""
        todo = []
        for unit in self._units:
            summary = self._summary_of(unit)
            if summary is None:
                todo.append(unit)
            else:
                self.summaries[unit.number] = summary
        return todo

    def _summary_of(self, unit: Unit) -> Summary | None:
        """What is in a file that is whole, of these episodes as they are now, and without any that were left out."""
        path = self.path_of(unit)
        if not path.exists() or path.stat().st_mtime_ns < max(source.changed for source in unit.sources):
            return None
        try:
            metadata = parquet().read_schema(path).metadata or {}
            summary: Summary = json.loads(metadata[SUMMARY])
        except (OSError, ValueError, KeyError):
            return None
        good = summary["key"] == unit_key(unit, self._options, self._identities) and not summary["skipped"]
        return summary if good else None

    def add(self, unit: Unit, content: bytes, summary: Summary) -> None:
        """A unit is done."""
        self._write(self.path_of(unit), content)
        self.summaries[unit.number] = summary

    # ---- at the end ----

    @property
    def skipped(self) -> list[dict[str, str]]:
        """Episodes that were left out, and why, in their order."""
        return [one for unit in self._units for one in self.summaries.get(unit.number, {"skipped": []})["skipped"]]

    @property
    def episodes(self) -> list[Summary]:
        """What was found of each of the others, in their order."""
        return [one for unit in self._units for one in self.summaries[unit.number]["episodes"]]

    def finish(self) -> dict[str, list[Summary]]:
        """Write the tables. Files of units that are none any more are removed."""
        wanted = {unit.file for unit in self._units}
        for path in (self.folder / "steps").glob("*.parquet"):
            if path.name not in wanted:
                path.unlink()
        rows = {"episodes": self._episode_rows(), "ports": self._port_rows(), "worst": self._worst_rows()}
        rows["skipped"] = [dict(one) for one in self.skipped]
        for name, table in rows.items():
            shown = table[: self._options.worst] if name == "worst" else table
            self._write(self.folder / f"{name}.parquet", to_bytes(_table(name, shown)))
        return rows

    def _episode_rows(self) -> list[Summary]:
        rows = []
        for episode in self.episodes:
            for port in episode["ports"]:
                worst = port["worst"][0] if port["worst"] else {}
                row = {"episode": episode["episode"], "steps": episode["steps"], "note": episode["note"]}
                row |= {key: value for key, value in port.items() if key not in ("worst", "counts")}
                row |= {"worst_step": worst.get("step"), "worst_place": worst.get("place")}
                rows.append(row)
        return rows

    def _port_rows(self) -> list[Summary]:
        rows: dict[str, Summary] = {}
        for episode in self.episodes:
            for port in episode["ports"]:
                row = rows.setdefault(port["port"], _empty_port(port["port"]))
                _add_port(row, port, episode)
        for row in rows.values():
            compared, total, squares = row["compared"], row.pop("_sum"), row.pop("_squares")
            if compared:
                row["mean_difference"], row["rms_difference"] = total / compared, math.sqrt(squares / compared)
            if not any(row["counts"]):
                row |= {"steps_outside": None, "episodes_outside": None}
            else:
                for name, part in (("p50", 0.5), ("p99", 0.99)):
                    row[name] = min(quantile(row["counts"], part), row["largest_difference"])
        return list(rows.values())

    def _worst_rows(self) -> list[Summary]:
        found = [
            {"episode": episode["episode"], "port": port["port"], **worst}
            for episode in self.episodes
            for port in episode["ports"]
            for worst in port["worst"]
            if worst["difference"] > 0
        ]
        # Sorting is stable: equal ones stay in the order of episodes and steps.
        return sorted(found, key=lambda row: -row["difference"])


def _empty_port(name: str) -> Summary:
    row: Summary = {"port": name, "episodes": 0, "steps": 0, "compared": 0, "steps_outside": 0, "episodes_outside": 0}
    row |= dict.fromkeys(("least", "most", "largest_difference", "mean_difference", "rms_difference", "p50", "p99"))
    return row | {"not_finite": 0, "counts": [0] * len(EDGES), "_sum": 0.0, "_squares": 0.0}


def _add_port(row: Summary, port: Summary, episode: Summary) -> None:
    row["episodes"] += 1
    row["steps"] += episode["steps"]
    for key, choose in (("least", min), ("most", max), ("largest_difference", max)):
        if port[key] is not None:
            row[key] = port[key] if row[key] is None else choose(row[key], port[key])
    row["not_finite"] += port["not_finite"]
    row["compared"] += port["compared"]
    row["steps_outside"] += port["steps_outside"] or 0
    row["episodes_outside"] += 1 if port["steps_outside"] else 0
    if port["compared"]:
        row["_sum"] += port["mean_difference"] * port["compared"]
        row["_squares"] += port["rms_difference"] ** 2 * port["compared"]
    for i, count in enumerate(port["counts"]):
        row["counts"][i] += count


def _table(name: str, rows: list[Summary]) -> Any:
    pyarrow = arrow()
    text, whole, real = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    of_port = [("least", real), ("most", real), ("not_finite", whole), ("compared", whole), ("mean_difference", real)]
    of_port += [("rms_difference", real), ("largest_difference", real), ("steps_outside", whole)]
    schemas = {
        "episodes": [
            ("episode", text),
            ("port", text),
            ("steps", whole),
            ("mean", real),
            *of_port,
            ("first_outside", whole),
            ("worst_step", whole),
            ("worst_place", text),
            ("note", text),
        ],
        "ports": [
            ("port", text),
            ("episodes", whole),
            ("steps", whole),
            ("episodes_outside", whole),
            *of_port,
            ("p50", real),
            ("p99", real),
            ("counts", pyarrow.list_(whole)),
        ],
        "worst": [
            ("episode", text),
            ("step", whole),
            ("port", text),
            ("element", whole),
            ("place", text),
            ("difference", real),
            ("found", real),
            ("expected", real),
        ],
        "skipped": [("episode", text), ("why", text)],
    }
    schema = pyarrow.schema(schemas[name])
    return pyarrow.Table.from_pylist([{key: row.get(key) for key in schema.names} for row in rows], schema=schema)
