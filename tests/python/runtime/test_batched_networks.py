# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Many rows in one step against as many pipelines, each by itself: never a wrong row."""

from __future__ import annotations

import shutil
from pathlib import Path

import closed_loop
import numpy as np
import pytest
from batched_networks import NETWORKS
from batched_policies import POLICIES
from fleet_bundles import written
from leapp import InferenceManager
from row_graphs import RowGraph

ROWS, STEPS = 5, 6


def assert_rows(found: np.ndarray, alone: list[np.ndarray], what: str) -> None:
    """Rows stand one after the other in memory, whatever the port's shape."""
    for row, (ours, theirs) in enumerate(zip(found.reshape(len(alone), -1), alone, strict=True)):
        expected = theirs.reshape(-1)
        if expected.dtype.kind != "f":
            np.testing.assert_array_equal(ours, expected, f"{what}, row {row}")
            continue
        coarse = 1e-2 if expected.dtype == np.float16 else 1e-5
        largest = np.abs(expected[np.isfinite(expected)]).max(initial=0)
        np.testing.assert_allclose(
            ours.astype(np.float64), expected, coarse, coarse * max(largest, 1e-6), err_msg=f"{what}, row {row}"
        )


def check(bundle: Path, engine: str) -> str:
    """Why it was not widened; empty: it was."""
    many = InferenceManager(bundle, batch=ROWS, engine=engine)
    alone = [InferenceManager(bundle, engine=engine) for _ in range(ROWS)]
    random = np.random.default_rng(0)
    for step in range(STEPS):
        if step == STEPS // 2:  # one of them begins anew while the others go on
            many.reset_row(2)
            alone[2].reset()
        given = {}
        for port in many.input_ports:
            values = random.standard_normal(port.shape) * random.choice(
                [0.3, 1.0, 4.0], (ROWS, *[1] * (len(port.shape) - 1))
            )
            given[port.name] = values.astype(port.dtype)
        found = many(given)
        rows = []
        for row, manager in enumerate(alone):
            shapes = {port.name: port.shape for port in manager.input_ports}
            rows.append(manager({name: one[row].reshape(shapes[name]) for name, one in given.items()}))
        for name, values in found.items():
            assert_rows(np.asarray(values), [np.asarray(one[name]) for one in rows], f"step {step}, {name}")
    return many.widened


def sweep(seeds: range, folder: Path) -> int:
    """How many were widened."""
    widened = 0
    for seed in seeds:
        graph = RowGraph(seed)
        pipeline = {"inputs": {"node": [name for name, _ in graph.inputs]}, "outputs": {"node": ["y"]}}
        bundle = written(folder / f"g{seed}", {"node": graph.model()}, pipeline)
        try:
            widened += check(bundle, "onnxruntime" if seed % 2 else "auto") == ""
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        shutil.rmtree(bundle.parent)
    return widened


def test_random_graphs_give_every_row_its_own(tmp_path: Path) -> None:
    assert sweep(range(60), tmp_path) >= 55


@pytest.mark.long
def test_many_random_graphs_give_every_row_its_own(tmp_path: Path) -> None:
    assert sweep(range(60, 4000), tmp_path) >= 3500


@pytest.mark.parametrize("name", [*NETWORKS, *POLICIES])
def test_no_row_is_wrong(name: str, tmp_path: Path) -> None:
    network = (NETWORKS | POLICIES)[name]
    bundle = closed_loop.export(network.make, tmp_path, backend="onnx", shape=network.shape, strict=False)
    for engine in ("auto", "onnxruntime"):
        why = check(bundle, engine)
        assert (why == "") == network.widened, why
