# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's rewrites, without those that the engine leaves out: docs/design/onnx_runtime_rewrites.md."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import onnx_models
import pytest
import rewrite_sweep
import torch
from rewrite_operators import Shape
from rewrite_sweep import (
    FEW_SHAPES,
    LEVELS,
    SHAPES,
    Few,
    Finding,
    batches,
    compare,
    pairs,
    run,
    run_valid,
    session,
    walks,
)

ROOT = Path(__file__).parents[3]
BATCH = 60  # chains in one model: the time that rewrites take grows faster than the model
REWRITING = [level for level in LEVELS if level != "off"]
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
@pytest.mark.parametrize("level", REWRITING)
def test_models_that_rewrites_break_are_right_without_these(name: str, level: str) -> None:
    data = (ROOT / f"tests/bundles/models/{name}.onnx").read_bytes()
    plain = session(data, "off")
    feeds = {one.name: negative(one.name, one.shape, one.type) for one in plain.get_inputs()}
    found = session(data, level, left_out()).run(None, feeds)
    assert rewrite_sweep.difference(plain.run(None, feeds), found) == ""


NORM = torch.nn.BatchNorm1d(4).eval()
with torch.no_grad():
    NORM.running_mean.copy_(torch.arange(4.0))  # type: ignore[union-attr]
    NORM.weight.copy_(torch.arange(1.0, 5.0))

# Programs whose obvious form in ONNX a rewrite breaks: our files are right in any program that runs them.
PROGRAMS: dict[str, tuple[Callable[..., object], list[torch.Tensor]]] = {
    "transposed_matrix_times_vector": (lambda m, v: m.T @ v, [torch.randn(4, 4), torch.randn(4)]),
    "transposed_batch_times_vector": (lambda m, v: m.transpose(-1, -2) @ v, [torch.randn(2, 4, 4), torch.randn(4)]),
    "scaled_transposed_matrix_times_vector": (lambda m, v: (m.T * 0.5) @ v, [torch.randn(4, 4), torch.randn(4)]),
    "transposed_product_normalised": (
        lambda x, w: NORM((x @ w).transpose(1, 2)),
        [torch.randn(2, 4, 4), torch.randn(4, 4)],
    ),
    "padded_maximum": (
        lambda x: torch.nn.functional.max_pool2d(torch.nn.functional.pad(x, (1, 1, 1, 1)), 2),
        [-1 - torch.rand(1, 1, 4, 4)],
    ),
    "padded_average": (
        lambda x: torch.nn.functional.avg_pool2d(torch.nn.functional.pad(x, (1, 1, 1, 1)), 2, ceil_mode=True),
        [torch.randn(1, 1, 5, 5)],
    ),
    "one_divided_times_other": (
        lambda y, z: torch.div(1, y, rounding_mode="trunc") * z,
        [torch.tensor([1, 2, -1, 3]), torch.tensor([5, 7, 9, 11])],
    ),
    "reciprocal_times_other": (lambda y, z: (1.0 / y) * z, [torch.rand(3) + 1, torch.randn(2, 3)]),
    "transposed_output_that_a_layer_reads": (
        lambda x, w: (x.T, torch.addmm(torch.ones(3), x.T, w.T)),
        [torch.randn(4, 2), torch.randn(3, 4)],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("opset", [13, 18, 23])
def test_what_we_write_is_right_with_every_rewrite(name: str, opset: int, tmp_path: Path) -> None:
    program, inputs = PROGRAMS[name]
    exported = onnx_models.export(program, inputs, tmp_path, opset_version=opset)
    for level in LEVELS:
        plain = session(exported.bytes, level)
        feeds = {port.name: inputs[i].numpy() for port, i in zip(plain.get_inputs(), exported.inputs, strict=True)}
        for found, expected in zip(plain.run(None, feeds), exported.eager, strict=True):
            torch.testing.assert_close(torch.from_numpy(found), expected, msg=lambda text: f"{level}: {text}")  # noqa: B023


def find(
    opset: int, dtype: str, shapes: Iterable[Shape], few: Few | None, walked: int, levels: Sequence[str] = REWRITING
) -> list[Finding]:
    """What is found in pairs, and in so many walks from each shape."""
    rng = random.Random(opset)
    findings: list[Finding] = []
    for shape in shapes:
        chosen = list(pairs(shape, dtype, opset, rng, few))
        chosen += walks(shape, dtype, opset, rng, walked)
        for batch in batches(chosen, BATCH):
            dynamic = rng.random() < 0.15
            valid = run_valid(batch, opset, dynamic)
            for level in levels:
                findings += compare(valid, opset, level, dynamic, left_out())
    return findings


def lines(findings: list[Finding]) -> str:
    return "\n".join(str(finding) for finding in findings if not meets_infinities(finding))


def meets_infinities(finding: Finding) -> bool:
    """Of these a factor that moves to the other side of a product makes others, and the kernels of ONNX Runtime do not
    agree on the largest of numbers among which is NaN."""
    shown = dataclasses.replace(finding.chain, show_middle=True)
    (outputs,) = run([shown], finding.opset, "off", finding.dynamic)
    return any(one.dtype.kind == "f" and not np.isfinite(one).all() for one in outputs)


def test_a_sample_of_operator_pairs_is_not_broken_by_rewrites() -> None:
    assert lines(find(18, "float32", [(3, 4), (2, 3, 4)], Few(shapes=FEW_SHAPES, total=800), walked=0)) == ""


ALL_SHAPES = [shape for shapes in SHAPES.values() for shape in shapes]


@pytest.mark.long
@pytest.mark.parametrize("shape", ALL_SHAPES)
@pytest.mark.parametrize("opset", [13, 18, 23])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_every_operator_behind_every_operator_is_not_broken_by_rewrites(opset: int, dtype: str, shape: Shape) -> None:
    assert lines(find(opset, dtype, [shape], Few(ways=1), walked=200)) == ""


@pytest.mark.long
@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_operator_pairs_in_every_way_are_not_broken_by_rewrites(shape: Shape) -> None:
    assert lines(find(18, "float32", [shape], None, walked=2000, levels=["all"])) == ""
