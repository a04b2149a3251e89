# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What is known not to export, and the page docs/operators.md made from it."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest
import torch

OPERATORS_PAGE = pytest.StashKey[dict[str, str]]()
PAGE = Path(__file__).parents[2] / "docs" / "operators.md"

DATA_SHAPE = "the output's shape depends on data"
NO_TENSOR = "returns no tensor"
NOT_DENSE = "the output is not a dense tensor"
RANDOM = "draws random numbers"
NO_PORT_DTYPE = "the output's dtype is none that a bundle knows"
UNINITIALISED = "returns memory that nothing has written"

EXPECTED_FAILURES: dict[str, str] = {
    "allclose": NO_TENSOR,
    "equal": NO_TENSOR,
    "hash_tensor": NO_PORT_DTYPE,
    "item": NO_TENSOR,
    "to_sparse": NOT_DENSE,
    "argwhere": DATA_SHAPE,
    "nonzero": DATA_SHAPE,
    "masked_select": DATA_SHAPE,
    "unique": DATA_SHAPE,
    "unique_consecutive": DATA_SHAPE,
    "empty_like": UNINITIALISED,
    "new_empty": UNINITIALISED,
    "new_empty_strided": UNINITIALISED,
}


def failing_rows() -> dict[str, str]:
    """The table of failures as the page has it."""
    if not PAGE.exists():
        return {}
    return dict(re.findall(r"^\| `([^`]+)` \| (.+?) \|$", PAGE.read_text(), flags=re.MULTILINE))


def write_page(results: dict[str, str]) -> None:
    """`results`: operator → what went wrong, empty when nothing did."""
    passing = sorted(name for name, problem in results.items() if not problem)
    failing = sorted(name for name, problem in results.items() if problem)
    lines = [
        "# Operators",
        "",
        "Each operator of PyTorch's own database (`op_db`) that takes dense float32 tensors on the CPU is run under",
        "capture, exported as TorchScript, loaded with plain `torch.jit.load` and compared with eager on inputs that the",
        "export never saw. Entries with a dot are variants of one operator.",
        "",
        f"torch {torch.__version__}, {datetime.date.today().isoformat()}: {len(results)} entries, {len(passing)} pass,"
        f" {len(failing)} do not.",
        "Written by `pytest tests/python/test_operator_sweep.py --write-operators`; a test compares the table with it.",
        "",
        "## What does not export",
        "",
        "| operator | why |",
        "|---|---|",
        *(f"| `{name}` | {EXPECTED_FAILURES.get(name, 'unexpected: see the test')} |" for name in failing),
        "",
        "In-place (`add_`) and `out=` variants, into live tensors, plain tensors and views of both, are swept in",
        "`tests/python/test_inplace_sweep.py`.",
        "",
        "## What passes",
        "",
        *_columns(passing),
        "",
    ]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(lines))


def _columns(names: list[str]) -> list[str]:
    """One line of names per first letter."""
    by_letter: dict[str, list[str]] = {}
    for name in names:
        by_letter.setdefault(name.lstrip("_")[0].lower(), []).append(name)
    rows = (f"| {letter} | {', '.join(f'`{name}`' for name in by_letter[letter])} |" for letter in sorted(by_letter))
    return ["| | operators |", "|---|---|", *rows]
