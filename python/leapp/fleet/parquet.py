# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Parquet files: the packages that read them, and results that come out the same byte for byte."""

from __future__ import annotations

from typing import Any

from leapp.errors import LeappImportError

__all__ = ["arrow", "parquet", "to_bytes"]


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


def to_bytes(table: Any) -> bytes:
    """A file in memory. The same table gives the same bytes."""
    sink = arrow().BufferOutputStream()
    parquet().write_table(
        table, sink, compression="zstd", compression_level=3, version="2.6", write_statistics=True, store_schema=True
    )
    return bytes(sink.getvalue().to_pybytes())
