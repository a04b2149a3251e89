# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Weights beside an ONNX model, in a file of their own."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from harness import read_yaml
from leapp import annotate

LARGE = "LEAPP_TEST_LARGE_MODEL"


def export(model: torch.nn.Module, x: torch.Tensor, folder: Path, **backend_params: int) -> dict[str, Any]:
    """One node; its parameters in the YAML."""
    leapp.start("graph", save_path=str(folder), max_cached_io=0)
    with torch.no_grad():
        y = model(annotate.input_tensors("node", {"x": x}))
    annotate.output_tensors("node", {"y": y}, export_with="onnx", backend_params=backend_params or None)
    leapp.stop()
    results = leapp.compile_graph(visualize=False)
    assert results.nodes["node"].status == "passed"
    parameters: dict[str, Any] = read_yaml(folder / "graph")["models"]["node"]["parameters"]
    return parameters


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 24):
            digest.update(piece)
    return digest.hexdigest()


def run(path: Path, x: torch.Tensor) -> torch.Tensor:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return torch.from_numpy(np.asarray(session.run(None, {"x": x.numpy()})[0]))


def test_weights_above_the_limit_are_beside_the_model_and_hashed(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Linear(32, 8))
    x = torch.randn(3, 64)
    parameters = export(model, x, tmp_path, external_data_above=1000)
    folder = tmp_path / "graph"
    assert parameters["external_data"] == {"node.onnx.data": sha256(folder / "node.onnx.data")}
    assert (folder / "node.onnx").stat().st_size < 3000
    torch.testing.assert_close(run(folder / "node.onnx", x), model(x).detach())

    inside = export(model, x, tmp_path)
    assert "external_data" not in inside
    assert not (folder / "node.onnx.data").exists()


def test_weights_beside_a_model_count_as_memory(tmp_path: Path) -> None:
    model = torch.nn.Linear(500, 500, bias=False)
    export(model, torch.randn(1, 500), tmp_path, external_data_above=1000)
    leapp.InferenceManager(str(tmp_path / "graph"), memory_limit=1_100_000)
    with pytest.raises(leapp.LeappValueError, match=r"makes a tensor of 1.0 MB, .*500.0 kB"):
        leapp.InferenceManager(str(tmp_path / "graph"), memory_limit=500_000)
    with (tmp_path / "graph/node.onnx.data").open("ab") as data:
        data.truncate(2_000_000)  # a file is mapped whole, whatever is used of it
    with pytest.raises(leapp.LeappValueError, match=r"the weights beside it need 2.0 MB of memory.*1.1 MB"):
        leapp.InferenceManager(str(tmp_path / "graph"), memory_limit=1_100_000)


def test_a_model_of_the_users_with_weights_beside_it(tmp_path: Path) -> None:
    weights = onnx.numpy_helper.from_array(np.arange(400, dtype=np.float32), "w")
    node = onnx.helper.make_node("Add", ["x", "w"], ["y"])
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [400]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", ports[:1], ports[1:], [weights])
    opset = [onnx.helper.make_opsetid("", 18)]
    path = tmp_path / "mine.onnx"
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=opset, ir_version=8),
        str(path),
        save_as_external_data=True,
        location="mine.onnx.data",
        size_threshold=0,
    )
    leapp.start("graph", save_path=str(tmp_path), max_cached_io=0)
    for name in ("one", "two"):
        x = annotate.input_tensors(name, {"x": torch.zeros(400)})
        annotate.output_tensors(name, {"y": x + torch.arange(400.0)}, backend_params={"model_path": str(path)})
    leapp.stop()
    leapp.compile_graph(visualize=False)
    models = read_yaml(tmp_path / "graph")["models"]
    expected = {"mine.onnx.data": sha256(tmp_path / "graph" / "mine.onnx.data")}
    assert [models[name]["parameters"]["external_data"] for name in ("one", "two")] == [expected, expected]


def test_large_weights_are_beside_the_model(tmp_path: Path) -> None:
    model = torch.nn.Linear(16384, 4200, bias=False)
    x = torch.randn(1, 16384)
    assert "external_data" in export(model, x, tmp_path)
    assert (tmp_path / "graph" / "node.onnx.data").stat().st_size == 16384 * 4200 * 4 > 256 << 20


@pytest.mark.skipif(not os.environ.get(LARGE), reason=f"{LARGE}=1 runs it: 12 GB of memory, 5 GB of disk, a minute")
def test_more_weights_than_one_file_can_hold(tmp_path: Path) -> None:
    model = torch.nn.Linear(16384, 34000, bias=False)
    x = torch.randn(1, 16384)
    parameters = export(model, x, tmp_path)
    folder = tmp_path / "graph"
    data = folder / "node.onnx.data"
    assert data.stat().st_size == 16384 * 34000 * 4 > 2**31
    assert parameters["external_data"] == {"node.onnx.data": sha256(data)}
    assert (folder / "node.onnx").stat().st_size < 3000
    torch.testing.assert_close(run(folder / "node.onnx", x), model(x).detach(), rtol=1e-3, atol=1e-4)
