# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Parquet files: the packages that read them, and results that come out the same byte for byte."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from leapp.errors import LeappImportError

__all__ = ["arrow", "parquet", "to_bytes", "write_file"]


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


def write_file(path: Path, content: bytes, when: int | None = None) -> None:
    """Put the file in its place in one step: it is there whole, or as it was. ``when``: the time it is given, in
    nanoseconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".leapp-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        if when is not None:
            os.utime(name, ns=(when, when))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
