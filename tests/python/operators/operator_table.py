# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What is known not to export, and the page docs/reports/operators.md made from it.

    python tests/python/operators/operator_table.py

writes the page anew from the tables, which the sweeps compare with what they find.
"""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

RESULTS = pytest.StashKey[dict[str, str]]()
ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reports" / "operators.md"

# The tables and the page are of one torch; what others know is tested with them, but has no row.
PINNED_TORCH = f"torch=={torch.__version__.partition('+')[0]}" in (ROOT / "requirements/torch.txt").read_text().split()
of_the_pinned_torch = pytest.mark.skipif(not PINNED_TORCH, reason="the tables are of another torch")

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
    "repeat_interleave": DATA_SHAPE,
    "tensor_split": DATA_SHAPE,
    "to_sparse": NOT_DENSE,
    "unique": DATA_SHAPE,
    "unique_consecutive": DATA_SHAPE,
}

SIGNS = "vectors may have either sign: exports where that cannot be seen (`U @ Vh`, `V @ D @ V.T`, values alone)"

# What ONNX cannot say, or we do not.
ONNX_GAPS: dict[str, str] = {
    "linalg.eig": "of matrices that are not symmetric",
    "linalg.eigh": SIGNS,
    "linalg.eigvals": "of matrices that are not symmetric",
    "linalg.svd": SIGNS,
    "pca_lowrank": SIGNS,
    "svd": SIGNS,
    "svd_lowrank": SIGNS,
    "to_sparse": NOT_DENSE,
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

_ANSWERS = """\
**Will mine export?** Look it up [below](#all-operators). A layer or a function that is no operator of its own is made
of operators, and exports if they do.

**What if not?** Nothing exports wrongly without a word: every written model is run and compared. With `"jit"`, what
cannot be exported is an error that names your line; the reasons are in a table below. With `"onnx"`, an operator that
LEAPP has no ONNX form for is replaced by the operators it is made of; if one of those has none either, the node goes to
PyTorch's `"onnx-dynamo"` exporter, with a line in the log; if that fails too, `NotImplementedError` names the operator,
your line and both reasons. `some arguments` below means that LEAPP knows the operator and refuses arguments that ONNX
or ONNX Runtime cannot express; then no other exporter is tried.

**How is this known?** Each operator of the database (`op_db`) that takes dense float32 tensors on the CPU is run under
capture with up to ten samples, exported, loaded with plain `torch.jit.load` or ONNX Runtime and compared with eager on
inputs that the export never saw. Complex results are looked at as pairs of real numbers, since a port cannot be
complex. So is every in-place variant (`add_`) and every `out=` variant (`add.out`), with up to fourteen destinations: a
tensor computed from the input and one made before the session, each whole, a slice, a row, transposed, reshaped, as a
diagonal and with a stride. A name with a dot is a variant of one operator.

**Does it run without ONNX Runtime?** The last column says what
[LEAPP's own engine](../how_to/run_a_bundle.md#which-engine) makes of the first two samples: `runs`, or
`falls back` when it does not cover one of them, which then runs on ONNX Runtime; all
samples are tried in the long tests. A sample that is wrong fails them."""

_SECTIONS = {"operators": "## Operators that do not export", "writes": "## Writes that do not export"}


def rows_on_the_page(section: str) -> dict[str, str]:
    """The table of failures as docs/reports/operators.md has it."""
    text = PAGE.read_text() if PAGE.exists() else ""
    _, _, rest = text.partition(_SECTIONS[section])
    return dict(re.findall(r"^\| `([^`]+)` \| (.+?) \|$", rest.partition("\n## ")[0], flags=re.MULTILINE))


def onnx_on_the_page() -> dict[str, OnnxRow]:
    """The columns of ONNX as docs/reports/operators.md has them."""
    _, _, rest = (PAGE.read_text() if PAGE.exists() else "").partition("## All operators")
    pattern = r"^\| `([^`]+)` \| \w+ \| ([\w ]+) \| ([\w ]*?) ?\| ([\w ]*?) ?\|$"
    rows = re.findall(pattern, rest, flags=re.MULTILINE)
    return {name: OnnxRow(native, fallback, own) for name, native, fallback, own in rows}


@dataclass
class Page:
    """Name → what went wrong, empty when nothing did."""

    operators: dict[str, str]
    writes: dict[str, str]
    onnx: dict[str, OnnxRow]  # every operator's


@dataclass(frozen=True)
class OnnxRow:
    native: str
    fallback: str
    own: str  # on LEAPP's own engine; empty: no sample is native


def onnx_rows(names: Iterable[str]) -> dict[str, OnnxRow]:
    """From the tables of the ONNX sweep."""
    from onnx_sweep import Own, Verdict
    from onnx_table import FALLBACK, NOT_NATIVE, OWN

    words = {
        Verdict.NATIVE: "yes",
        Verdict.REFUSED: "some arguments",
        Verdict.INEXPRESSIBLE: "no",
        Verdict.UNMAPPED: "no",
        Verdict.NOT_CAPTURED: "no",
    }
    rows = {}
    for name in names:
        native = words[NOT_NATIVE.get(name, Verdict.NATIVE)]
        own = OWN.get(name, Own.RUNS).value if native != "no" else ""
        rows[name] = OnnxRow(native, FALLBACK[name].value if name in FALLBACK else "", own)
    return rows


def write_page(page: Page) -> None:
    lines = [
        *_start(page),
        "",
        "## Operators that are not native in ONNX",
        "",
        *_gaps(page.onnx),
        "",
        _SECTIONS["operators"],
        "",
        *_failing(page.operators, OPERATORS),
        "",
        _SECTIONS["writes"],
        "",
        "What draws random numbers, and where torch itself is wrong: into contiguous destinations these pass too.",
        "",
        *_failing(page.writes, WRITES),
        "",
        "## All operators",
        "",
        *_all_operators(page),
        "",
        "## Writes that pass",
        "",
        *_passing(page.writes),
        "",
    ]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(lines))


def _start(page: Page) -> list[str]:
    """What a reader wants to know, and then how it is known."""
    names = [name for name, problem in page.operators.items() if not problem]
    native = sum(page.onnx[name].native == "yes" for name in names)
    runs = sum(page.onnx[name].native == "yes" and page.onnx[name].own == "runs" for name in names)
    rescued = sum(page.onnx[name].native != "yes" and page.onnx[name].fallback == "right" for name in names)
    return [
        "# Operators",
        "",
        "| of the operators of PyTorch's own database | |",
        "|---|---|",
        f'| export with `"jit"` | {_count(page.operators)} |',
        f'| of these, export with `"onnx"`, written by LEAPP itself | {native} |',
        f'| of the rest, export with `"onnx"` through PyTorch\'s exporter | {rescued} |',
        f"| of those written by LEAPP itself, run on LEAPP's own engine | {runs} |",
        f"| fall back to ONNX Runtime with a sample | {native - runs} |",
        "| are wrong on LEAPP's own engine | 0 |",
        f"| in-place and `out=` variants that export | {_count(page.writes)} |",
        "",
        *_ANSWERS.splitlines(),
        "",
        f"torch {torch.__version__}, {datetime.date.today().isoformat()}, opset 18. Written by",
        "`python tests/python/operators/onnx_sweep.py --write`; tests compare the tables with what they find,",
        "except for the column of PyTorch's exporter, which is measured when the page is written.",
    ]


def _gaps(rows: dict[str, OnnxRow]) -> list[str]:
    gaps = {name: row for name, row in sorted(rows.items()) if row.native != "yes" and row.fallback}
    lines = [f"| `{name}` | {row.native} | {row.fallback} | {ONNX_GAPS.get(name, '')} |" for name, row in gaps.items()]
    return ["| name | LEAPP | PyTorch's exporter | why |", "|---|---|---|---|", *lines]


def _all_operators(page: Page) -> list[str]:
    lines = ["| operator | jit | onnx native | onnx fallback | LEAPP's own engine |", "|---|---|---|---|---|"]
    for name, problem in sorted(page.operators.items()):
        row = page.onnx[name]
        lines.append(f"| `{name}` | {'no' if problem else 'yes'} | {row.native} | {row.fallback} | {row.own} |")
    return lines


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


def main() -> None:
    from test_inplace_sweep import NO_SAMPLE, VARIANTS
    from test_operator_sweep import BY_ID

    operators = {name: OPERATORS.get(name, "") for name in BY_ID}
    writes = {name: WRITES.get(name, "") for name in VARIANTS if name not in NO_SAMPLE}
    write_page(Page(operators, writes, onnx_rows(operators)))


if __name__ == "__main__":
    main()
