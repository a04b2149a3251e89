# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Every operator of PyTorch's database that takes dense float32 tensors: right in ONNX Runtime, or refused.

The same on LEAPP's own engine: of every sixth operator, of all in the long tests.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import operator_table
import pytest
from harness import LONG
from onnx_sweep import BY_ID, FEW_SAMPLES, SAMPLES, Own, Verdict, find
from onnx_table import FALLBACK, NOT_NATIVE, OWN

pytestmark = pytest.mark.filterwarnings("ignore")  # the database calls what torch has deprecated


@pytest.mark.parametrize("name", BY_ID)
def test_operator(name: str, tmp_path: Path) -> None:
    own = LONG or zlib.crc32(name.encode()) % 6 == 0
    found = find(name, tmp_path, SAMPLES if LONG or name in NOT_NATIVE else FEW_SAMPLES, own=own)
    assert found.verdict is not Verdict.WRONG, found.text
    expected = NOT_NATIVE.get(name, Verdict.NATIVE)
    assert found.verdict is expected, f"onnx_table.py says '{expected.value}': {found.verdict.value}: {found.text}"
    if found.own is None:
        return
    assert found.own is not Own.WRONG, found.own_text
    # The first samples may run where later ones do not.
    known = {OWN.get(name, Own.RUNS), Own.RUNS} if not LONG else {OWN.get(name, Own.RUNS)}
    assert found.own in known, f"onnx_table.py knows {known}: {found.own.value}: {found.own_text}"


@operator_table.of_the_pinned_torch
def test_the_table_names_operators_of_the_database() -> None:
    assert set(NOT_NATIVE) | set(OWN) <= set(BY_ID), "the table has entries that no test looks at"


@operator_table.of_the_pinned_torch
def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--write-operators"):
        return  # written at the end of the run
    assert set(FALLBACK) == {name for name, verdict in NOT_NATIVE.items() if verdict is not Verdict.NOT_CAPTURED}
    assert operator_table.onnx_on_the_page() == operator_table.onnx_rows(BY_ID), (
        "docs/reports/operators.md says how to write it"
    )
