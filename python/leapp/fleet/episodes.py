# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where episodes are, and what is in them."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from leapp import _runtime
from leapp.errors import LeappError, LeappOSError, LeappValueError
from leapp.fleet.parquet import read_rows, row_ranges

__all__ = ["Contents", "EpisodeError", "Series", "Source", "find_episodes", "read_episode"]

Kind = Literal["npz", "safetensors", "mcap", "parquet"]
_KINDS: dict[str, Kind] = {".npz": "npz", ".safetensors": "safetensors", ".mcap": "mcap", ".parquet": "parquet"}


class EpisodeError(LeappValueError):
    """An episode that cannot be used, and why."""


@dataclass(frozen=True)
class Piece:
    """Rows of a Parquet file; of other files all there is."""

    file: str
    first: int = 0
    rows: int = -1


@dataclass(frozen=True)
class Source:
    """One episode: its name in the results, and where it is. ``broken``: why it is none."""

    name: str
    kind: Kind
    pieces: tuple[Piece, ...]
    size: int
    changed: int
    broken: str = ""


@dataclass(frozen=True)
class Series:
    """Values of a column, by step; ``dtype`` is that of a port ("bfloat16" is held as uint16)."""

    dtype: str
    values: np.ndarray[Any, Any]


@dataclass
class Contents:
    """What is in an episode."""

    columns: dict[str, Series]
    resets: list[int] = field(default_factory=list)
    note: str = ""


def _files(data: Path) -> Iterable[Path]:
    if data.is_file():
        return [data]
    if not data.is_dir():
        raise LeappOSError(f"{data}: expected a folder of episodes, or a file of them; there is none")
    found = [Path(folder) / name for folder, _, names in os.walk(data, followlinks=True) for name in names]
    return sorted(path for path in found if path.suffix in _KINDS and not path.name.startswith("."))


def find_episodes(data: str | os.PathLike[str], episode_column: str) -> list[Source]:
    """Every episode in the order of the files' names, and of rows within a file."""
    root = Path(os.path.abspath(data))
    base = root.parent if root.is_file() else root
    sources: list[Source] = []
    last: object = None  # the episode that a Parquet file ends with
    for path in _files(root):
        kind, name = _KINDS[path.suffix], path.relative_to(base).as_posix()
        status = path.stat()
        if kind != "parquet":
            sources.append(Source(name, kind, (Piece(str(path)),), status.st_size, status.st_mtime_ns))
            last = None
            continue
        try:
            ranges = row_ranges(str(path), episode_column)
        except (OSError, ValueError) as error:
            sources.append(Source(name, kind, (Piece(str(path)),), status.st_size, status.st_mtime_ns, str(error)))
            last = None
            continue
        for value, first, rows in ranges:
            piece = Piece(str(path), first, rows)
            if first == 0 and value is not None and value == last:
                before = sources[-1]
                size, changed = before.size + rows, max(before.changed, status.st_mtime_ns)
                sources[-1] = Source(before.name, kind, (*before.pieces, piece), size, changed)
            else:
                whole = name if value is None else f"{name}#{value}"
                sources.append(Source(whole, kind, (piece,), rows, status.st_mtime_ns))
            last = value
    if not sources:
        raise LeappValueError(f"{data}: expected episodes ({', '.join(_KINDS)}), found none")
    return sources


def _from_bytes(columns: list[tuple[str, str, list[int], bytes]]) -> dict[str, Series]:
    series = {}
    for name, dtype, shape, data in columns:
        stored = "uint16" if dtype == "bfloat16" else dtype
        series[name] = Series(dtype, np.frombuffer(data, np.dtype(stored)).reshape(shape))
    return series


def _read_npz(file: str) -> dict[str, Series]:
    with open(file, "rb") as opened:
        archive = np.load(opened, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise EpisodeError("expected an archive of arrays")
        with archive:
            arrays = {name: archive[name] for name in archive.files}
    return {name: Series(array.dtype.name, np.ascontiguousarray(array)) for name, array in arrays.items()}


def _read(source: Source, wanted: list[str], order_column: str) -> Contents:
    file = source.pieces[0].file
    if source.kind == "npz":
        return Contents(_read_npz(file))
    if source.kind == "safetensors":
        columns, resets, note = _runtime.read_safetensors_episode(file)
        return Contents(_from_bytes(columns), resets, note)
    if source.kind == "mcap":
        columns, resets, note = _runtime.read_recorded_episode(file, False)
        return Contents(_from_bytes(columns), resets, note)
    pieces = [(piece.file, piece.first, piece.rows) for piece in source.pieces]
    arrays = read_rows(pieces, wanted, order_column)
    return Contents({name: Series(array.dtype.name, array) for name, array in arrays.items()})


def read_episode(source: Source, wanted: list[str], order_column: str) -> Contents:
    """Everything in it, of a Parquet file the ``wanted`` columns; raises EpisodeError, whatever is wrong with it."""
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
