# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Every operator of PyTorch's database that takes dense float32 tensors: capture → .pt → fresh inputs → as eager."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import sweep
import torch
from harness import LONG, as_ports
from op_samples import Call, calls, invoke, op_id, operators
from operator_table import OPERATORS, of_the_pinned_torch, rows_on_the_page

pytestmark = pytest.mark.filterwarnings("ignore")  # the database calls what torch has deprecated

SAMPLES = 10
FEW_SAMPLES = 3  # of operators that pass by the table, unless everything is asked for

# What these return holds nothing of the input's values; a term of the input makes it an output of the node.
ONLY_SHAPE = {"zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "zero_"}

BY_ID = {op_id(op): op for op in operators()}


def case_of(name: str, number: int, call: Call, fresh: list[torch.Tensor]) -> sweep.Case:
    def fn(_: Any, *inputs: torch.Tensor) -> list[torch.Tensor]:
        results = as_ports(invoke(BY_ID[name], call, list(inputs)))
        if name in ONLY_SHAPE:
            results = [result + inputs[0].sum() for result in results]
        return results

    return sweep.Case(f"sample_{number}", fn, call.tensors, fresh)


def failures_of(name: str, save_path: Path, samples: int) -> list[sweep.Failure]:
    found = list(itertools.islice(calls(BY_ID[name]), samples))
    assert found, f"the database has no sample of {name} that runs here"
    cases = [case_of(name, i, call, fresh) for i, (call, fresh) in enumerate(found)]
    return sweep.run(cases, save_path)


@pytest.mark.parametrize("name", BY_ID)
def test_operator(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    whole = LONG or name in OPERATORS or request.config.getoption("--write-operators")
    failures = failures_of(name, tmp_path, SAMPLES if whole else FEW_SAMPLES)
    sweep.compare_with_table("operator", name, OPERATORS, failures, request.config)


@of_the_pinned_torch
def test_the_table_names_operators_of_the_database() -> None:
    assert set(OPERATORS) <= set(BY_ID), "the table has entries that no test looks at"
    assert len(BY_ID) >= 490


@of_the_pinned_torch
def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--write-operators"):
        return  # written at the end of the run
    assert rows_on_the_page("operators") == OPERATORS, "docs/reports/operators.md says how to write it anew"
