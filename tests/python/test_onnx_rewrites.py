# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's rewrites, without those that the engine leaves out: docs/design/onnx_runtime_rewrites.md."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
import rewrite_sweep
from rewrite_sweep import LEVELS, SHAPES, Finding, batches, compare, pairs, run_valid, session, walks

ROOT = Path(__file__).parents[2]
BATCH = 250  # chains in one model
BROKEN = ["divide_multiply", "matmul_batch_norm", "pad_max_pool", "transpose_gemm", "transpose_matmul"]


def left_out() -> list[str]:
    """The rewrites that the engine leaves out, from its source."""
    source = (ROOT / "src/engine/ort/session_options.cpp").read_text()
    found = re.search(r'kWrongRewrites =\s*"([^"]+)"', source)
    assert found
    return found[1].split(";")


def negative(name: str, shape: list[int], dtype: str) -> np.ndarray:
    if "int" in dtype:
        return np.arange(2, 2 + np.prod(shape)).reshape(shape)
    return -1 - rewrite_sweep.numbers(tuple(shape), "float32", len(name)) ** 2


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("level", [level for level in LEVELS if level != "off"])
def test_models_that_rewrites_break_are_right_without_these(name: str, level: str) -> None:
    data = (ROOT / f"tests/bundles/models/{name}.onnx").read_bytes()
    plain = session(data, "off")
    feeds = {one.name: negative(one.name, one.shape, one.type) for one in plain.get_inputs()}
    found = session(data, level, left_out()).run(None, feeds)
    assert rewrite_sweep.difference(plain.run(None, feeds), found) == ""


def find(opset: int, dtype: str, most: int, whole: bool) -> list[Finding]:
    """Pairs, and walks when `whole`; of levels only the highest, which does all that the others do."""
    rng = random.Random(opset)
    findings: list[Finding] = []
    for shape in [shape for shapes in SHAPES.values() for shape in shapes] if whole else [(3, 4), (2, 3, 4)]:
        chosen = list(pairs(shape, dtype, opset, rng, most, whole))
        if not whole:
            chosen = rng.sample(chosen, 800)
        else:
            chosen += walks(shape, dtype, opset, rng, 3000)
        for batch in batches(chosen, BATCH):
            dynamic = rng.random() < 0.15
            findings += compare(run_valid(batch, opset, dynamic), opset, "all", dynamic, left_out())
    return findings


def lines(findings: list[Finding]) -> str:
    return "\n".join(str(finding) for finding in findings if not divides_by_zero(finding))


def divides_by_zero(finding: Finding) -> bool:
    """Then a factor that is moved to the other side of a product makes another infinity or NaN of it."""
    return any(word in finding.text for word in ("inf", "nan"))


@pytest.mark.long
def test_a_sample_of_operator_pairs_is_not_broken_by_rewrites() -> None:
    assert lines(find(18, "float32", 1, whole=False)) == ""


@pytest.mark.long
@pytest.mark.parametrize("opset", [13, 18, 23])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_operator_pairs_are_not_broken_by_rewrites(opset: int, dtype: str) -> None:
    assert lines(find(opset, dtype, 3, whole=True)) == ""
