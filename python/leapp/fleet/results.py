# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of results: what is done, and the tables that are made of it at the end."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from leapp.errors import LeappOSError, LeappValueError
from leapp.fleet.episodes import MANIFEST
from leapp.fleet.files import UNFINISHED, FileGroup, write_file
from leapp.fleet.options import ReplayOptions
from leapp.fleet.parquet import parquet, to_bytes
from leapp.fleet.rows import Piece
from leapp.fleet.tables import Summary, episode_rows, port_rows, table_of, worst_rows
from leapp.fleet.worker import SUMMARY, Unit, unit_key

__all__ = ["Results"]

_SECOND = 1_000_000_000
_OURS = re.compile(r"\d{6,}\.parquet")


def _stamp_of(unit: Unit) -> int:
    """The time that the file of a unit is given: the latest of its data's, whose nanoseconds are a sum over all of
    them. Data that has been changed since, be it to something older, gives another; the file's bytes have no trace
    of it, so that they are the same wherever the data was copied to.
    """
    stamps = [stamp for source in unit.sources for stamp in source.stamps]
    digest = hashlib.sha256(repr(stamps).encode()).digest()
    return max(when for when, _ in stamps) // _SECOND * _SECOND + int.from_bytes(digest[:8], "big") % _SECOND


def _same_time(found: int, expected: int) -> bool:
    """Some file systems know only (even) seconds."""
    return found == expected or (found % _SECOND == 0 and abs(found - expected) < 2 * _SECOND)


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
            "data": os.path.abspath(options.data),
            "columns": dict(sorted(options.columns.items())),
        }
        told = ("episode_column", "order_column", "cast", "reset", "batch", "engine", "rtol", "atol", "worst")
        self._identity |= {name: getattr(options, name) for name in told}
        self._files = FileGroup()
        self.summaries: dict[int, Summary] = {}

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """While this is open the folder is ours. Results of another replay are an error, unless they may be replaced;
        so is another replay that is at work here.
        """
        self._check_folder()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise self._unwritten(self.folder, error) from error
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    raise LeappOSError(f"{self.folder}: another replay is at work in this folder") from error
                # A file system without locks: what is written is whole either way.
            self._remove_unfinished()
            manifest = json.dumps(self._identity, indent=2).encode() + b"\n"
            if not (self.folder / MANIFEST).is_file() or (self.folder / MANIFEST).read_bytes() != manifest:
                self._write(self.folder / MANIFEST, manifest)
            yield
        finally:
            os.close(lock)

    def _remove_unfinished(self) -> None:
        """What a run that was killed was about to write."""
        for folder in (self.folder, self.folder / "steps"):
            for path in folder.glob(UNFINISHED):
                with suppress(OSError):
                    path.unlink()

    def _check_folder(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise LeappOSError(f"{self.folder}: expected a folder for the results, found a file")
        for place in (self.folder / "steps", self.folder / MANIFEST):
            if place.is_symlink():  # whoever made it chooses where we would write
                raise LeappOSError(f"{place}: expected no link, as leapp replay makes none")
        manifest = self.folder / MANIFEST
        if manifest.is_file():
            self._check_manifest(manifest)
            return
        try:
            found = sorted(path.name for path in self.folder.iterdir()) if self.folder.is_dir() else []
        except OSError as error:
            raise LeappOSError(f"cannot read the folder {self.folder}: {error.strerror or error}") from error
        if found and not self._options.overwrite:
            raise LeappValueError(
                f"{self.folder}: expected an empty folder or the results of a replay, found {', '.join(found[:3])}; "
                "--overwrite puts the results beside it"
            )

    def _check_manifest(self, manifest: Path) -> None:
        try:
            found = json.loads(manifest.read_text())
        except (OSError, ValueError):
            found = None
        if found == self._identity or self._options.overwrite:
            return
        there = found if isinstance(found, dict) else {}
        differing = [
            f"{key} is {json.dumps(there.get(key))} there, {json.dumps(value)} here"
            for key, value in self._identity.items()
            if there.get(key) != value
        ]
        raise LeappValueError(
            f"{self.folder} has the results of another replay ({'; '.join(differing)}): expected the same, "
            "to go on with; --overwrite replaces them"
        )

    def _unwritten(self, path: Path, error: OSError) -> LeappOSError:
        done, all_units = len(self.summaries), len(self._units)
        kept = f"; {done} of {all_units} units are done and kept: run the same command again to go on" if done else ""
        return LeappOSError(f"cannot write {path}: {error.strerror or error}{kept}")

    def _write(self, path: Path, content: bytes) -> None:
        try:
            write_file(path, content)
        except OSError as error:
            raise self._unwritten(path, error) from error

    def write(self, name: str, content: bytes) -> None:
        """A file beside the tables."""
        self._write(self.folder / name, content)

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
        try:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or not _same_time(status.st_mtime_ns, _stamp_of(unit)):
                return None
        except OSError:
            return None
        summary = _metadata(path)
        if summary is None:
            return None
        good = summary["key"] == unit_key(unit, self._options, self._identities) and not summary["skipped"]
        return summary if good else None

    def add(self, unit: Unit, content: bytes, summary: Summary) -> None:
        """A unit is done. It is kept, whatever happens, once :meth:`flush` has returned, every second or so."""
        path = self.path_of(unit)

        def kept() -> None:
            self.summaries[unit.number] = summary

        try:
            self._files.add(path, content, _stamp_of(unit), kept)
        except OSError as error:
            self.flush()
            raise self._unwritten(path, error) from error
        if self._files.due:
            self.flush()

    def flush(self) -> None:
        """Wait until the units that were added are on the disk."""
        try:
            self._files.flush()
        except OSError as error:
            raise self._unwritten(self.folder / "steps", error) from error

    # ---- at the end ----

    @property
    def skipped(self) -> list[dict[str, str]]:
        """Episodes that were left out, and why, in their order."""
        return [one for unit in self._units for one in self.summaries.get(unit.number, {"skipped": []})["skipped"]]

    @property
    def episodes(self) -> list[Summary]:
        """What was found of each of the others, in their order."""
        return [one for unit in self._units for one in self.summaries[unit.number]["episodes"]]

    def rows_of(self, episode: str) -> Piece:
        """Where its steps are. REQUIRES: it was not left out."""
        for unit in self._units:
            first = 0
            for one in self.summaries[unit.number]["episodes"]:
                if one["episode"] == episode:
                    return Piece(str(self.path_of(unit)), first, one["steps"])
                first += one["steps"]
        raise KeyError(episode)

    def finish(self) -> dict[str, list[Summary]]:
        """Write the tables. Files of units that are none any more are removed."""
        wanted = {unit.file for unit in self._units}
        for path in (self.folder / "steps").glob("*.parquet"):
            ours = path.name not in wanted and _OURS.fullmatch(path.name) and stat.S_ISREG(path.lstat().st_mode)
            if ours and _metadata(path) is not None:
                path.unlink()
        rows = {"episodes": episode_rows(self.episodes), "ports": port_rows(self.episodes)}
        rows["worst"] = worst_rows(self.episodes, self._options.worst)
        rows["skipped"] = [dict(one) for one in self.skipped]
        for name, table in rows.items():
            self._write(self.folder / f"{name}.parquet", to_bytes(table_of(name, table)))
        return rows


def _metadata(path: Path) -> Summary | None:
    """What a file that we have written says of itself."""
    try:
        found: Summary = json.loads((parquet().read_schema(path).metadata or {})[SUMMARY])
    except (OSError, ValueError, KeyError):
        return None
    return found
