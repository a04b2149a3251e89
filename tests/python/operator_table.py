# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What is known not to export, and the page docs/operators.md made from it."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest
import torch

RESULTS = pytest.StashKey[dict[str, str]]()
PAGE = Path(__file__).parents[2] / "docs" / "operators.md"

DATA_SHAPE = "the output's shape depends on data"
NO_TENSOR = "returns no tensor"
NOT_DENSE = "the output is not a dense tensor"
NO_PORT_DTYPE = "the output's dtype is none that a bundle knows"
RANDOM_ORDER = "draws random numbers, and a destination that is not contiguous gets them in another order"
UNINITIALISED = "returns memory that nothing has written"
TORCH_STRIDES = "torch itself writes elsewhere when out= is not contiguous"

# These must be refused; a wrong model is never the answer.
LOUD = (DATA_SHAPE, NO_TENSOR, NOT_DENSE, NO_PORT_DTYPE)

OPERATORS: dict[str, str] = {
    "allclose": NO_TENSOR,
    "argwhere": DATA_SHAPE,
    "empty_like": UNINITIALISED,
    "equal": NO_TENSOR,
    "hash_tensor": NO_PORT_DTYPE,
    "item": NO_TENSOR,
    "masked_select": DATA_SHAPE,
    "new_empty": UNINITIALISED,
    "new_empty_strided": UNINITIALISED,
    "nonzero": DATA_SHAPE,
    "to_sparse": NOT_DENSE,
    "unique": DATA_SHAPE,
    "unique_consecutive": DATA_SHAPE,
}

# An in-place variant is written `add_`, an out= variant `add.out`.
WRITES: dict[str, str] = {
    "bernoulli.out": RANDOM_ORDER,
    "cauchy_": RANDOM_ORDER,
    "exponential_": RANDOM_ORDER,
    "geometric_": RANDOM_ORDER,
    "log_normal_": RANDOM_ORDER,
    "masked_select.out": DATA_SHAPE,
    "narrow_copy.out": TORCH_STRIDES,
    "nn.functional.avg_pool3d.out": TORCH_STRIDES,
    "nn.functional.gelu.out": TORCH_STRIDES,
    "nonzero.out": DATA_SHAPE,
    "normal.in_place_": RANDOM_ORDER,
    "normal.out": RANDOM_ORDER,
    "uniform_": RANDOM_ORDER,
}

_SECTIONS = {"operators": "## Operators that do not export", "writes": "## Writes that do not export"}


def rows_on_the_page(section: str) -> dict[str, str]:
    """The table of failures as docs/operators.md has it."""
    text = PAGE.read_text() if PAGE.exists() else ""
    _, _, rest = text.partition(_SECTIONS[section])
    return dict(re.findall(r"^\| `([^`]+)` \| (.+?) \|$", rest.partition("\n## ")[0], flags=re.MULTILINE))


def write_page(operators: dict[str, str], writes: dict[str, str]) -> None:
    """From what one run found. Name → what went wrong, empty when nothing did."""
    lines = [
        "# Operators",
        "",
        "Each operator of PyTorch's own database (`op_db`) that takes dense float32 tensors on the CPU is run under",
        "capture, exported as TorchScript, loaded with plain `torch.jit.load` and compared with eager on inputs that",
        "the export never saw. So is every in-place variant (`add_`) and every `out=` variant (`add.out`), with up to",
        "fourteen destinations: a tensor computed from the input and one made before the session, each whole, a slice,",
        "a row, transposed, reshaped, as a diagonal and with a stride. A name with a dot is a variant of one operator.",
        "",
        f"torch {torch.__version__}, {datetime.date.today().isoformat()}:"
        f" {_count(operators)} operators and {_count(writes)} writes pass.",
        "",
        "This page is written by `pytest tests/python/test_operator_sweep.py tests/python/test_inplace_sweep.py",
        "--write-operators`; tests compare its tables with what fails.",
        "",
        _SECTIONS["operators"],
        "",
        *_failing(operators, OPERATORS),
        "",
        _SECTIONS["writes"],
        "",
        "What draws random numbers, and where torch itself is wrong: into contiguous destinations these pass too.",
        "",
        *_failing(writes, WRITES),
        "",
        "## Operators that pass",
        "",
        *_passing(operators),
        "",
        "## Writes that pass",
        "",
        *_passing(writes),
        "",
    ]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(lines))


def _count(results: dict[str, str]) -> str:
    return f"{sum(not problem for problem in results.values())} of {len(results)}"


def _failing(results: dict[str, str], table: dict[str, str]) -> list[str]:
    names = sorted(name for name, problem in results.items() if problem)
    return ["| name | why |", "|---|---|", *(f"| `{name}` | {table.get(name, 'a fault')} |" for name in names)]


def _passing(results: dict[str, str]) -> list[str]:
    """One row of names per first letter."""
    by_letter: dict[str, list[str]] = {}
    for name in sorted(name for name, problem in results.items() if not problem):
        by_letter.setdefault(name.lstrip("_")[0].lower(), []).append(f"`{name}`")
    return ["| | |", "|---|---|", *(f"| {letter} | {' '.join(by_letter[letter])} |" for letter in sorted(by_letter))]
