# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX on LEAPP's own engine: the same numbers as ONNX Runtime, operator by operator and dtype by dtype."""

from __future__ import annotations

from pathlib import Path

import leapp
import numpy as np
import pytest
from native_cases import CASES, Case, model_of, on_onnxruntime, on_ours
from onnx import TensorProto, helper, numpy_helper


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_node_gives_what_onnxruntime_gives(case: Case, tmp_path: Path) -> None:
    model, feeds = model_of(case)
    expected = on_onnxruntime(model, feeds)
    for found, right in zip(on_ours(model, feeds, expected, tmp_path), expected, strict=True):
        assert (found.dtype, found.shape) == (right.dtype, right.shape)
        np.testing.assert_allclose(
            found.astype(np.float64), right.astype(np.float64), rtol=case.tolerance * 10, atol=case.tolerance
        )


def test_a_model_that_takes_neither_ones_nor_zeros_is_loaded(tmp_path: Path) -> None:
    """What a pipeline tries before its first step is nothing that the values of a step have to be."""
    table = numpy_helper.from_array(np.array([3, 5, 7], np.float32), "table")
    ten = numpy_helper.from_array(np.array([10], np.int64), "ten")
    nodes = [
        helper.make_node("Sub", ["i", "ten"], ["at"]),
        helper.make_node("Gather", ["table", "at"], ["y"], name="look_up"),
    ]
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, [1])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [table, ten])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    feeds = {"i": np.array([11], np.int64)}
    assert on_ours(model, feeds, on_onnxruntime(model, feeds), tmp_path)[0].tolist() == [5.0]
    (tmp_path / "wrong").mkdir()
    with pytest.raises(leapp.LeappRuntimeError, match='an index is out of range in Gather "look_up"'):
        on_ours(model, {"i": np.array([14], np.int64)}, [np.array([0], np.float32)], tmp_path / "wrong")
