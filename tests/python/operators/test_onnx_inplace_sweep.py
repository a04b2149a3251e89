# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Every in-place and out= variant of PyTorch's database in ONNX Runtime: what passes with jit passes here.

    python tests/python/operators/test_onnx_inplace_sweep.py [NAME...]

runs every destination and prints what fails. As a test, each variant writes into two, which take turns so that over the
variants every destination has its turn; with LEAPP_LONG=1 into all.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import sweep
from harness import LONG, cloned, difference, reset, seed_all
from onnx_models import export
from onnx_table import NOT_NATIVE
from op_samples import op_id
from operator_table import WRITES
from test_inplace_sweep import DESTINATIONS, NO_SAMPLE, VARIANTS, Variant, case_runs, write_case

pytestmark = pytest.mark.filterwarnings("ignore")  # the database calls what torch has deprecated


def cases_of(variant: Variant) -> list[sweep.Case]:
    fewest = min(template.dim() for template in variant.templates)
    places = [where for where in DESTINATIONS if where.fewest_dims <= fewest]
    return [write_case(variant, where, live) for where in places for live in (True, False)]


def problem_of(case: sweep.Case, save_path: Path) -> str | None:
    """What ONNX Runtime computes otherwise than eager on fresh inputs."""
    context = case.setup()
    try:
        exported = export(lambda *inputs: case.fn(context, *inputs), case.inputs, save_path, leaks="constant")
    except Exception as failure:
        reset()
        return f"{type(failure).__name__}: {failure}"
    if any(node.op_type.startswith("Random") for node in exported.model.graph.node):
        return None
    expected = case.expected(fresh=True)
    seed_all(sweep.SEED)
    return difference(expected, exported(*cloned(case.fresh)))


def failures_of(name: str, save_path: Path, chosen: slice) -> list[str]:
    find, op = VARIANTS[name]
    variant = find(op)
    if variant is None or op_id(op) in NOT_NATIVE:
        return []
    cases = [case for case in cases_of(variant)[chosen] if case_runs(case)]
    problems = {case.node: problem_of(case, save_path) for case in cases}
    return [f"{node}: {problem}" for node, problem in problems.items() if problem]


# What jit exports, of operators that are native; the number chooses destinations.
EXPORTED = [
    pytest.param(number, name, id=name)
    for number, (name, (_, op)) in enumerate(VARIANTS.items())
    if name not in WRITES and name not in NO_SAMPLE and op_id(op) not in NOT_NATIVE
]


@pytest.mark.parametrize(("number", "name"), EXPORTED)
def test_write(number: int, name: str, tmp_path: Path) -> None:
    assert not failures_of(
        name, tmp_path, slice(None) if LONG else slice(number % len(DESTINATIONS), None, len(DESTINATIONS))
    )


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or VARIANTS:
        with tempfile.TemporaryDirectory() as folder:
            for failure in failures_of(name, Path(folder), slice(None)):
                print(f"{name}: {' '.join(failure.split())[:300]}", flush=True)


if __name__ == "__main__":
    main()
