# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Parquet files: episodes in rows, and results that come out the same byte for byte."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from leapp.errors import LeappImportError, LeappValueError

__all__ = ["arrow", "parquet", "read_rows", "row_ranges", "to_bytes", "write_file"]


def arrow() -> Any:
    """The package pyarrow."""
    try:
        import pyarrow
    except ImportError as error:
        raise LeappImportError(
            f"replaying episodes needs pyarrow, which cannot be imported ({error}); pip install pyarrow"
        ) from error
    return pyarrow


def parquet() -> Any:
    """The module that reads and writes files."""
    arrow()
    import pyarrow.parquet

    return pyarrow.parquet


def row_ranges(file: str, episode_column: str) -> list[tuple[Any, int, int]]:
    """Episodes of a file as (value of the column, first row, rows); one with the value None without that column."""
    opened = parquet().ParquetFile(file)
    rows = opened.metadata.num_rows
    if episode_column not in opened.schema_arrow.names:
        return [(None, 0, rows)] if rows else []
    values = opened.read(columns=[episode_column]).column(0).to_pylist()
    starts = [0] if rows else []
    starts += [i for i in range(1, rows) if values[i] != values[i - 1]]
    seen: set[Any] = set()
    for start in starts:
        if values[start] in seen:
            raise LeappValueError(
                f"the rows of episode {values[start]!r} ({episode_column}) are not next to each other: row {start}"
            )
        seen.add(values[start])
    ends = [*starts[1:], rows]
    return [(values[start], start, end - start) for start, end in zip(starts, ends, strict=True)]


def _rows_of(file: str, first: int, count: int, columns: list[str]) -> Any:
    opened = parquet().ParquetFile(file)
    names = [name for name in columns if name in opened.schema_arrow.names]
    groups: list[int] = []
    begin = at = 0
    for i in range(opened.metadata.num_row_groups):
        rows = opened.metadata.row_group(i).num_rows
        if at < first + count and at + rows > first:
            if not groups:
                begin = at
            groups.append(i)
        at += rows
    return opened.read_row_groups(groups, columns=names).slice(first - begin, count)


def _dense(column: Any, name: str) -> np.ndarray[Any, Any]:
    """A column as an array whose first axis is the row."""
    types = arrow().types
    values = column.combine_chunks()
    if values.null_count:
        raise LeappValueError(f"column {name}: {values.null_count} rows have no value")
    rows, shape = len(values), []
    while types.is_list(values.type) or types.is_large_list(values.type) or types.is_fixed_size_list(values.type):
        flat = values.flatten()
        if rows and (len(values) == 0 or len(flat) % len(values)):
            raise LeappValueError(f"column {name}: the lists are not all of one length")
        each = len(flat) // len(values) if len(values) else 0
        lengths = values.value_lengths() if hasattr(values, "value_lengths") else None
        if lengths is not None and len(set(lengths.to_pylist())) > 1:
            raise LeappValueError(f"column {name}: the lists are not all of one length")
        shape.append(each)
        values = flat
        if values.null_count:
            raise LeappValueError(f"column {name}: {values.null_count} elements have no value")
    if not (types.is_integer(values.type) or types.is_floating(values.type) or types.is_boolean(values.type)):
        raise LeappValueError(f"column {name}: expected numbers or lists of them, found {column.type}")
    return np.ascontiguousarray(values.to_numpy(zero_copy_only=False)).reshape([rows, *shape])


def read_rows(
    pieces: list[tuple[str, int, int]], wanted: list[str], order_column: str
) -> dict[str, np.ndarray[Any, Any]]:
    """The wanted columns of an episode, in the order of ``order_column`` if there is one."""
    tables = [_rows_of(file, first, rows, [*wanted, order_column]) for file, first, rows in pieces]
    table = arrow().concat_tables(tables)
    arrays = {name: _dense(table.column(name), name) for name in table.column_names if name in wanted}
    if order_column not in table.column_names:
        return arrays
    order = _dense(table.column(order_column), order_column)
    places = np.argsort(order, kind="stable")
    if np.array_equal(places, np.arange(len(places))):
        return arrays
    return {name: np.ascontiguousarray(array[places]) for name, array in arrays.items()}


def to_bytes(table: Any) -> bytes:
    """A file in memory. The same table gives the same bytes."""
    sink = arrow().BufferOutputStream()
    parquet().write_table(
        table, sink, compression="zstd", compression_level=3, version="2.6", write_statistics=True, store_schema=True
    )
    return bytes(sink.getvalue().to_pybytes())


def write_file(path: Path, content: bytes) -> None:
    """Put the file in its place in one step: it is there whole, or as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
