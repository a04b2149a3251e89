# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes in the rows of Parquet files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

import numpy as np

from leapp import _runtime
from leapp.errors import LeappValueError
from leapp.fleet.parquet import arrow, parquet

__all__ = [
    "EPISODE_COLUMNS",
    "ORDER_COLUMNS",
    "Piece",
    "RowRange",
    "Rows",
    "memory_for_data",
    "partition_of",
    "read_range",
    "read_rows",
    "row_ranges",
]

# Where nobody says which they are: ours, and those of LeRobot's datasets.
EPISODE_COLUMNS = ("episode", "episode_index")
ORDER_COLUMNS = ("step", "frame_index")
TIME_COLUMN = "timestamp"  # not sorted by unless it is asked for, but looked at


@dataclass(frozen=True)
class Piece:
    """Rows of a Parquet file; of other files all there is. ``among``: those of them that have, in this column, what the
    first of them has.
    """

    file: str
    first: int = 0
    rows: int = -1
    among: str = ""


@dataclass(frozen=True)
class RowRange:
    """Rows of a file that belong to an episode. ``value``: None where no column tells episodes apart."""

    value: Any
    piece: Piece
    count: int
    order: tuple[Any, Any] | None  # the first and the last step, if there is a column of them


@dataclass(frozen=True)
class Rows:
    """Columns of an episode in the order of its steps. ``names``: all that the files have."""

    columns: dict[str, np.ndarray[Any, Any]]
    names: list[str]
    count: int
    note: str


def _compute() -> Any:
    arrow()
    import pyarrow.compute

    return pyarrow.compute


# ---- columns ----


def _plain(values: Any) -> Any:
    """What is stored, of types that are only another look at it."""
    pyarrow = arrow()
    while isinstance(values, pyarrow.ExtensionArray) or pyarrow.types.is_dictionary(values.type):
        if pyarrow.types.is_dictionary(values.type):
            values = values.dictionary_decode()
            continue
        order = getattr(values.type, "permutation", None)
        if order is not None and list(order) != sorted(order):
            raise LeappValueError(f"its elements are stored in another order ({values.type})")
        values = values.storage
    return values


def _is_list(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _flattened(values: Any, name: str) -> tuple[Any, list[int]]:
    """Elements of lists in lists, and how many there are on each level."""
    shape: list[int] = []
    values = _plain(values)
    while _is_list(values.type):
        if values.null_count:
            raise LeappValueError(f"column {name}: {values.null_count} rows have no value")
        lengths = _compute().min_max(_compute().list_value_length(values)).as_py()
        if lengths["min"] != lengths["max"]:
            raise LeappValueError(
                f"column {name}: the lists are not all of one length, but {lengths['min']} to {lengths['max']}"
            )
        rows, values = len(values), _plain(values.flatten())
        shape.append(len(values) // rows if rows else 0)
    if values.null_count:
        raise LeappValueError(f"column {name}: {values.null_count} {'elements' if shape else 'rows'} have no value")
    return values, shape


def _whole(column: Any) -> Any:
    values = column.combine_chunks()
    return arrow().concat_arrays(values.chunks) if hasattr(values, "chunks") else values


def _dense(column: Any, name: str) -> np.ndarray[Any, Any]:
    """A column as an array whose first axis is the row."""
    types = arrow().types
    values, shape = _flattened(_whole(column), name)
    if not (types.is_integer(values.type) or types.is_floating(values.type) or types.is_boolean(values.type)):
        raise LeappValueError(f"column {name}: expected numbers or lists of them, found {column.type}")
    return np.ascontiguousarray(values.to_numpy(zero_copy_only=False)).reshape([len(column), *shape])


def _scalars(column: Any, name: str) -> Any:
    """One value for each row; lists of one are that."""
    values, shape = _flattened(_whole(column), name)
    if any(length != 1 for length in shape):
        raise LeappValueError(f"column {name}: expected one value in each row, found {column.type}")
    if arrow().types.is_floating(values.type) and _compute().any(_compute().is_nan(values)).as_py():
        raise LeappValueError(f"column {name}: a row has no number (NaN)")
    return values


def _order(column: Any, name: str) -> np.ndarray[Any, Any]:
    """What the steps are sorted by."""
    pyarrow = arrow()
    values = _scalars(column, name)
    if pyarrow.types.is_temporal(values.type):
        values = values.cast(pyarrow.int32() if values.type.bit_width == 32 else pyarrow.int64())
    if not (pyarrow.types.is_integer(values.type) or pyarrow.types.is_floating(values.type)):
        raise LeappValueError(f"column {name}: expected numbers or times to sort steps by, found {column.type}")
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _chosen(given: str | None, usual: tuple[str, ...], names: list[str], what: str) -> str:
    """The column that was named, or one of the usual ones; "" when there is none."""
    if given:
        if given not in names:
            raise LeappValueError(f"no column {given} ({what}), found {', '.join(names) or 'none'}")
        return given
    return "" if given == "" else next((name for name in usual if name in names), "")


# ---- how much there is of it ----

_MOST_EPISODES = 1_000_000  # of one file


def memory_for_data() -> int:
    """What an episode may take: a quarter of the memory, as bundles. A file of a few kilobytes is soon made that says
    of every one of its billions of rows that it is the same.
    """
    return _runtime.default_memory_limit()


_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}


def _check_size(opened: Any, groups: Iterable[int], names: list[str]) -> None:
    """That those columns of those groups of rows, as they are in memory, are not too large."""
    limit, total = memory_for_data(), 0
    for group in groups:
        about = opened.metadata.row_group(group)
        for i in range(about.num_columns):
            column = about.column(i)
            path = column.path_in_schema
            if not any(path == name or path.startswith(f"{name}.") for name in names):
                continue
            total += max(column.total_uncompressed_size, column.num_values * _WIDTHS.get(column.physical_type, 8))
            if total > limit:
                raise LeappValueError(
                    f"column {path}: it and those before it take {total:,} bytes, which is more than {limit:,}, a "
                    "quarter of the memory"
                )


# ---- which rows are an episode ----


def _starts(values: Any) -> list[int]:
    """Rows that have another value than the row before."""
    if len(values) == 0:
        return []
    other = _compute().not_equal(values.slice(1), values.slice(0, len(values) - 1))
    return [0, *(np.flatnonzero(other.to_numpy(zero_copy_only=False)) + 1).tolist()]


def _span(order: np.ndarray[Any, Any] | None) -> tuple[Any, Any] | None:
    return None if order is None or not len(order) else (order.min().item(), order.max().item())


def partition_of(file: str) -> dict[str, str]:
    """Columns in the names of folders (``robot=7/episode=12/part-0.parquet``), as Hive and Spark write them."""
    pairs = (folder.partition("=") for folder in PurePath(file).parent.parts)
    return {name: unquote(value) for name, sign, value in pairs if name and sign}


def row_ranges(file: str, episode_column: str | None, order_column: str | None) -> list[RowRange]:
    """Episodes of a file, in the order of their first rows; one with the value None if no column tells them apart."""
    opened = parquet().ParquetFile(file)
    rows, names, folders = opened.metadata.num_rows, opened.schema_arrow.names, partition_of(file)
    in_file = set(names) & ({episode_column} if episode_column else set(EPISODE_COLUMNS))
    known = names if in_file else [*names, *folders]
    by = _chosen(episode_column, EPISODE_COLUMNS, known, "--episode-column")
    if not by:
        return [RowRange(None, Piece(file, 0, rows), rows, None)]
    if rows == 0:
        raise LeappValueError("it has no steps")
    sorted_by = _chosen(order_column, ORDER_COLUMNS, names, "--order-column")
    looked_at = [name for name in (by, sorted_by) if name in names]
    _check_size(opened, range(opened.metadata.num_row_groups), looked_at)
    table = opened.read(columns=looked_at)
    order = _order(table.column(sorted_by), sorted_by) if sorted_by else None
    if by not in names:
        return [RowRange(folders[by], Piece(file, 0, rows), rows, _span(order))]
    values = _scalars(table.column(by), by)
    starts = _starts(values)
    if len(starts) > _MOST_EPISODES:
        raise LeappValueError(
            f"column {by}: expected at most {_MOST_EPISODES:,} episodes in a file, found {len(starts):,}"
        )
    runs: dict[Any, list[tuple[int, int]]] = {}
    for start, end in zip(starts, [*starts[1:], rows], strict=True):
        runs.setdefault(values[start].as_py(), []).append((start, end))
    ranges = []
    for value, parts in runs.items():
        first, end = parts[0][0], parts[-1][1]
        if len(parts) > 1 and not sorted_by:
            raise LeappValueError(
                f"the rows of episode {value!r} ({by}) are not next to each other: row {parts[1][0]}, and there is no "
                "column of steps to sort them by"
            )
        span = _span(None if order is None else np.concatenate([order[a:b] for a, b in parts]))
        piece = Piece(file, first, end - first, by if len(parts) > 1 else "")
        ranges.append(RowRange(value, piece, sum(b - a for a, b in parts), span))
    return ranges


# ---- what is in them ----


def _with_fields(schema: Any) -> list[str]:
    """Columns; of those that are structures their fields too, as ``column.field``."""
    names: list[str] = []
    for one in schema:
        names.append(one.name)
        if arrow().types.is_struct(one.type):
            names += [f"{one.name}.{field}" for field in _with_fields(one.type)]
    return names


def _spread(table: Any, names: list[str]) -> Any:
    """Structures as their fields, until all names were there. A structure may be among them itself."""
    if not names:
        return table.select([])
    found: dict[str, Any] = {}
    before: list[str] = []
    while len(found) < len(names) and table.column_names != before:
        found |= {name: table.column(name) for name in names if name in table.column_names and name not in found}
        before, table = table.column_names, table.flatten()
    return arrow().table({name: found[name] for name in names})


def read_range(piece: Piece, columns: list[str]) -> tuple[Any, list[str]]:
    """Those of the columns that the file has, as a table, and the names of all that it has."""
    opened = parquet().ParquetFile(piece.file)
    known = _with_fields(opened.schema_arrow)
    names = [name for name in dict.fromkeys([*columns, piece.among]) if name in known]
    groups: list[int] = []
    begin = at = 0
    for i in range(opened.metadata.num_row_groups):
        rows = opened.metadata.row_group(i).num_rows
        if at < piece.first + piece.rows and at + rows > piece.first:
            if not groups:
                begin = at
            groups.append(i)
        at += rows
    _check_size(opened, groups, names)
    table = _spread(opened.read_row_groups(groups, columns=names).slice(piece.first - begin, piece.rows), names)
    if piece.among:
        values = _scalars(table.column(piece.among), piece.among)
        table = table.filter(_compute().equal(values, values[0]))
    return table.select([name for name in table.column_names if name in columns]), known


def _gaps(order: np.ndarray[Any, Any], name: str) -> str:
    """Where steps are further apart than they usually are. ``order`` is sorted, and no value comes twice."""
    if len(order) < 3:
        return ""
    apart = np.diff(order.astype(np.float64))
    places = np.flatnonzero(apart > 1.5 * np.median(apart))
    if not len(places):
        return ""
    first = int(places[0])
    more = f", and {len(places) - 1} more" if len(places) > 1 else ""
    return f"steps are missing: {name} goes from {order[first]} to {order[first + 1]}{more}"


def _sorted_rows(order: np.ndarray[Any, Any], name: str) -> tuple[np.ndarray[Any, Any], str]:
    """Where each step's row is, and what is missing."""
    places = np.argsort(order, kind="stable")
    order = order[places]
    twice = np.flatnonzero(order[1:] == order[:-1])
    if len(twice):
        at = int(twice[0])
        raise LeappValueError(
            f"column {name} has {order[at]} twice, in rows {places[at]} and {places[at + 1]} of the episode: which "
            "step comes first is not known; --order-column '' takes the rows as they stand"
        )
    return places, _gaps(order, name)


def _going_back(tables: list[Any]) -> str:
    """Rows that are taken as they stand, although their times say otherwise."""
    try:
        times = np.concatenate([_order(table.column(TIME_COLUMN), TIME_COLUMN) for table in tables])
    except (KeyError, LeappValueError):
        return ""
    back = np.flatnonzero(times[1:] < times[:-1])
    if not len(back):
        return ""
    return (
        f"{TIME_COLUMN} goes back in row {back[0] + 1}, and rows were taken as they stand: --order-column "
        f"{TIME_COLUMN} sorts them"
    )


def _joined(name: str, tables: list[Any], pieces: list[Piece]) -> np.ndarray[Any, Any]:
    """A column of an episode that is in several files."""
    parts = [_dense(table.column(name), name) for table in tables]
    for piece, part in zip(pieces, parts, strict=True):
        if (part.dtype, part.shape[1:]) != (parts[0].dtype, parts[0].shape[1:]):
            raise LeappValueError(
                f"column {name} is {part.dtype.name}{list(part.shape[1:])} in {piece.file}, where the episode goes on, "
                f"and {parts[0].dtype.name}{list(parts[0].shape[1:])} in {pieces[0].file}"
            )
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def read_rows(pieces: list[Piece], wanted: list[str], order_column: str | None) -> Rows:
    """The wanted columns of an episode, in the order of the column of steps if there is one."""
    usual = [*ORDER_COLUMNS, TIME_COLUMN]
    looked_for = [order_column] if order_column else [] if order_column == "" else usual
    read = [read_range(piece, [*wanted, *looked_for]) for piece in pieces]
    tables, names = [table for table, _ in read], read[0][1]
    for piece, (table, _) in zip(pieces, read, strict=True):
        if set(table.column_names) != set(tables[0].column_names):
            raise LeappValueError(
                f"the episode goes on in {piece.file}, which has the columns {', '.join(table.column_names)}; "
                f"{pieces[0].file} has {', '.join(tables[0].column_names)}"
            )
    arrays = {name: _joined(name, tables, pieces) for name in tables[0].column_names if name in wanted}
    count = sum(map(len, tables))
    by = _chosen(order_column, ORDER_COLUMNS, tables[0].column_names, "--order-column")
    if not by:
        return Rows(arrays, names, count, "" if order_column == "" else _going_back(tables))
    order = np.concatenate([_order(table.column(by), by) for table in tables])
    places, note = _sorted_rows(order, by)
    if not np.array_equal(places, np.arange(len(places))):
        arrays = {name: np.ascontiguousarray(array[places]) for name, array in arrays.items()}
    return Rows(arrays, names, count, note)
