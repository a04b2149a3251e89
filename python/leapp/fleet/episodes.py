# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where episodes are, and what is in them."""

from __future__ import annotations

import os
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from leapp import _runtime
from leapp.errors import LeappError, LeappOSError, LeappValueError
from leapp.fleet.rows import Piece, RowRange, memory_for_data, partition_of, read_rows, row_ranges

__all__ = ["MANIFEST", "Contents", "EpisodeError", "Series", "Source", "find_episodes", "other_kinds", "read_episode"]

Kind = Literal["npz", "safetensors", "mcap", "parquet"]
_KINDS: dict[str, Kind] = {".npz": "npz", ".safetensors": "safetensors", ".mcap": "mcap", ".parquet": "parquet"}

MANIFEST = "replay.json"  # a folder that has it holds results


class EpisodeError(LeappValueError):
    """An episode that cannot be used, and why."""


@dataclass(frozen=True)
class Source:
    """One episode: its name in the results, and where it is. ``broken``: why it is none."""

    name: str
    kind: Kind
    pieces: tuple[Piece, ...]
    size: int
    stamps: tuple[tuple[int, int], ...]  # of each file: when it was written, and how long it is
    broken: str = ""


@dataclass(frozen=True)
class Series:
    """Values of a column, by step; ``dtype`` is that of a port ("bfloat16" is held as uint16)."""

    dtype: str
    values: np.ndarray[Any, Any]


@dataclass
class Contents:
    """What is in an episode: columns that are of interest, and the names of all. ``steps``: where every column has one
    value for each of so many; None where the columns' shapes say it.
    """

    columns: dict[str, Series]
    names: list[str]
    resets: list[int] = field(default_factory=list)
    note: str = ""
    steps: int | None = None


def _kind_of(path: Path) -> Kind | None:
    return _KINDS.get(path.suffix.lower())


def _is_data(parent: Path, folder: str) -> bool:
    """Not what is hidden, results of a replay, or what LeRobot's datasets have beside their episodes."""
    if folder.startswith(".") or (parent / folder / MANIFEST).is_file():
        return False
    return folder != "meta" or not (parent / folder / "info.json").is_file()


# Data, but not in a form that is read here.
_OTHERS = frozenset(
    (".arrow", ".bag", ".csv", ".db3", ".feather", ".h5", ".hdf5", ".npy", ".parq", ".pickle", ".pkl", ".pq", ".pt")
) | {".tfrecord", ".zarr"}


def _files(data: Path) -> list[tuple[Path, Kind]]:
    if data.is_file():
        if (kind := _kind_of(data)) is None:
            raise LeappValueError(f"{data}: expected a file of episodes ({', '.join(_KINDS)})")
        return [(data, kind)]
    if not data.is_dir():
        raise LeappOSError(f"{data}: expected a folder of episodes, or a file of them; there is none")
    found: list[Path] = []
    seen = set()  # a link may lead back to where one came from

    def refuse(error: OSError) -> None:
        raise LeappOSError(f"cannot read the folder {error.filename}: {error.strerror}")

    for folder, folders, names in os.walk(data, followlinks=True, onerror=refuse):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if _is_data(Path(folder), name))
        found += [Path(folder) / name for name in names if not name.startswith(".")]
    episodes = [(path, kind) for path in sorted(found) if (kind := _kind_of(path)) is not None]
    if not episodes:
        others = _of_other_kinds([data, *found])
        told = f", but {others}, which are not read" if others else ""
        raise LeappValueError(f"{data}: expected episodes ({', '.join(_KINDS)}), found none{told}")
    return episodes


def other_kinds(data: str | os.PathLike[str]) -> str:
    """What is in a folder of episodes that looks like data and is not read: a note, or nothing."""
    found = [Path(name) for _, folders, names in os.walk(data) for name in (*folders, *names)]
    others = _of_other_kinds(found)
    return f"{others}: files of these kinds are not read" if others else ""


def _of_other_kinds(found: list[Path]) -> str:
    counts = Counter(path.suffix.lower() for path in found if path.suffix.lower() in _OTHERS)
    return ", ".join(f"{count:,} {suffix}" for suffix, count in sorted(counts.items()))


def _name_of(path: Path, base: Path) -> str:
    """Names of files are bytes, and not always text."""
    return os.fsencode(path.relative_to(base).as_posix()).decode("utf-8", "backslashreplace")


def _goes_on(before: RowRange, now: RowRange, next_to_each_other: bool) -> bool:
    """Whether an episode of a file is the one of the same value in the file before. Steps that begin anew are another
    one; where there are no steps, the end of a file and the beginning of the next are one.
    """
    if before.order is not None and now.order is not None:
        return bool(now.order[0] > before.order[1])
    return next_to_each_other


class _Finder:
    """Takes files in their order; an episode of a Parquet file may go on in the next."""

    def __init__(self, base: Path, episode_column: str | None, order_column: str | None) -> None:
        self._base, self._columns = base, (episode_column, order_column)
        self._open: dict[Any, tuple[int, RowRange]] = {}  # episodes of the last file: their place in `sources`
        self.sources: list[Source] = []

    def add(self, path: Path, kind: Kind) -> None:
        name = _name_of(path, self._base)
        before, self._open = self._open, {}
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if not stat.S_ISREG(status.st_mode):
                raise EpisodeError("expected a file")
            ranges = row_ranges(str(path), *self._columns) if kind == "parquet" else []
        except Exception as error:  # bytes of strangers may end in any of them
            why = str(error) if isinstance(error, (LeappError, OSError)) else f"{type(error).__name__}: {error}"
            self.sources.append(Source(name, kind, (Piece(str(path)),), 0, ((0, 0),), why))
            return
        if kind != "parquet":
            self.sources.append(Source(name, kind, (Piece(str(path)),), status.st_size, (stamp,)))
            return
        for i, rows in enumerate(ranges):
            self._add_rows(name, stamp, rows, before, first=i == 0)

    def _add_rows(
        self, name: str, stamp: tuple[int, int], rows: RowRange, before: dict[Any, tuple[int, RowRange]], first: bool
    ) -> None:
        key = (*partition_of(rows.piece.file).items(), rows.value)
        known = before.get(key) if rows.value is not None else None
        last = known is not None and known[0] == max(at for at, _ in before.values())
        if known is not None and _goes_on(known[1], rows, first and last):
            at, source = known[0], self.sources[known[0]]
            pieces, stamps = (*source.pieces, rows.piece), (*source.stamps, stamp)
            self.sources[at] = replace(source, pieces=pieces, size=source.size + rows.count, stamps=stamps)
        else:
            at, whole = len(self.sources), name if rows.value is None else f"{name}#{rows.value}"
            self.sources.append(Source(whole, "parquet", (rows.piece,), rows.count, (stamp,)))
        self._open[key] = (at, rows)


def find_episodes(data: str | os.PathLike[str], episode_column: str | None, order_column: str | None) -> list[Source]:
    """Every episode in the order of the files' names, and of rows within a file."""
    root = Path(os.path.abspath(data))
    finder = _Finder(root.parent if root.is_file() else root, episode_column, order_column)
    for path, kind in _files(root):
        finder.add(path, kind)
    return finder.sources


def _of_interest(names: list[str], wanted: list[str]) -> Iterator[str]:
    looked_for = set(wanted)
    return (name for name in names if name in looked_for)


def _from_bytes(columns: list[tuple[str, str, list[int], bytes]], wanted: list[str]) -> dict[str, Series]:
    series, looked_for = {}, set(wanted)
    for name, dtype, shape, data in columns:
        if name in looked_for:
            stored = "uint16" if dtype == "bfloat16" else dtype
            series[name] = Series(dtype, np.frombuffer(data, np.dtype(stored)).reshape(shape))
    return series


def _array(archive: Any, name: str) -> np.ndarray[Any, Any]:
    try:
        array: np.ndarray[Any, Any] = archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise EpisodeError(
            f"column {name}: expected an array of numbers, found objects of Python (lists of several lengths are "
            "stored so), which are not read from files"
        ) from error
    return array


def _check_sizes(archive: zipfile.ZipFile, names: set[str]) -> None:
    """Before they are inflated: no more than the archive says comes out of it."""
    total = sum(one.file_size for one in archive.infolist() if one.filename.removesuffix(".npy") in names)
    if total > (limit := memory_for_data()):
        raise EpisodeError(f"its columns take {total:,} bytes, which is more than {limit:,}, a quarter of the memory")


def _read_npz(file: str, wanted: list[str]) -> Contents:
    """What nobody asked for is not looked at: objects of Python, for one, are not read from strangers' files."""
    with open(file, "rb") as opened:
        archive = np.load(opened, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise EpisodeError("expected an archive of arrays")
        with archive:
            names = list(archive.files)
            if archive.zip is not None:
                _check_sizes(archive.zip, set(_of_interest(names, wanted)))
            arrays = {name: _array(archive, name) for name in _of_interest(names, wanted)}
    native = {name: array.astype(array.dtype.newbyteorder("="), "C", copy=False) for name, array in arrays.items()}
    return Contents({name: Series(array.dtype.name, array) for name, array in native.items()}, names)


def _read(source: Source, wanted: list[str], order_column: str | None) -> Contents:
    file = source.pieces[0].file
    if source.kind == "npz":
        return _read_npz(file, wanted)
    if source.kind in ("safetensors", "mcap"):
        recorded = source.kind == "mcap"
        read = _runtime.read_recorded_episode(file, False) if recorded else _runtime.read_safetensors_episode(file)
        columns, resets, note = read
        steps = columns[0][2][0] if recorded and columns else None
        return Contents(_from_bytes(columns, wanted), [name for name, *_ in columns], resets, note, steps)
    rows = read_rows(list(source.pieces), wanted, order_column)
    series = {name: Series(array.dtype.name, array) for name, array in rows.columns.items()}
    return Contents(series, rows.names, note=rows.note, steps=rows.count)


def read_episode(source: Source, wanted: list[str], order_column: str | None) -> Contents:
    """The ``wanted`` columns; raises EpisodeError, whatever is wrong with it."""
    if source.broken:
        raise EpisodeError(source.broken)
    try:
        return _read(source, wanted, order_column)
    except EpisodeError:
        raise
    except (LeappError, OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise EpisodeError(
            f"{type(error).__name__}: {error}" if not isinstance(error, LeappError) else str(error)
        ) from error
    except Exception as error:  # zlib's, struct's and the like: bytes of strangers may end in any of them
        raise EpisodeError(f"it cannot be read: {type(error).__name__}: {error}") from error
