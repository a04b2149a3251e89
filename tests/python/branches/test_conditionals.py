# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Sides of a branch that could fail or are costly: in the model, but run only when they are taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import harness
import leapp
import numpy as np
import onnx
import onnx.reference
import pytest
import torch
from harness import assert_same
from leapp import annotate
from onnx_models import OnnxExported, export

Tensor = torch.Tensor
Function = Callable[..., Tensor]


class Net(torch.nn.Module):
    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        torch.manual_seed(size)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(size, hidden),
            torch.nn.ELU(),
            torch.nn.Linear(hidden, hidden),
            torch.nn.Linear(hidden, size),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


NET = Net(8, 96).eval()
OTHER = Net(8, 128).eval()
TABLE = torch.arange(24.0).reshape(3, 8)
X = torch.linspace(-1.0, 1.5, 8).reshape(1, 8)
INDEX = torch.tensor([1])
OUTSIDE = torch.tensor([99])


def looked_up(x: Tensor, i: Tensor) -> Tensor:
    return torch.where(x.sum() > 0, NET(x), TABLE[i] + x)


def divided(x: Tensor, i: Tensor) -> Tensor:
    return torch.where(i.sum() != 0, (x * 10).long() // i, torch.zeros(1, 8, dtype=torch.int64))


def two_networks(x: Tensor, i: Tensor) -> Tensor:
    return torch.where(x.mean() > i.sum() * 0.0, NET(x), OTHER(x)) * 2


def nested(x: Tensor, i: Tensor) -> Tensor:
    row = TABLE[i]
    inner = torch.where(row.sum() + x.sum() > 70, NET(row), row.cos())
    return torch.where(x.sum() > 0, inner, OTHER(x)).tanh()


def several(x: Tensor, i: Tensor) -> Tensor:
    taken = x.sum() > 0
    hidden = NET.layers[0](x)
    left = torch.where(taken, TABLE[i] * 2, x)
    right = torch.where(~taken, x.exp(), TABLE[i].mean() + x)
    small = torch.where(taken, x, x.neg())
    return torch.cat([left, right, small, left + hidden[:, :8]], 1)


def sides_of_other_types(x: Tensor, i: Tensor) -> Tensor:
    return torch.where(x.sum() > 0, i.repeat(8)[torch.argsort(x[0])], x.double())


def number_on_a_side(x: Tensor, i: Tensor) -> Tensor:
    return torch.where(x.sum() > 0, TABLE[i], -1.5)


def truth(x: Tensor, i: Tensor) -> Tensor:
    return torch.where(x.sum() > 0, (TABLE[i] > x) | (x > 0), x < 0)


def scattered(x: Tensor, i: Tensor) -> Tensor:
    return torch.where(x.sum() > 0, x.scatter(1, i.reshape(1, 1), 7.0), x.softmax(1))


def inverted(x: Tensor, i: Tensor) -> Tensor:
    matrix = torch.eye(8) + x.T @ x
    return torch.where(x.sum() > 0, torch.linalg.inv(matrix) @ x[0] + i, x[0])


PROGRAMS: dict[str, Function] = {
    fn.__name__: fn
    for fn in (
        looked_up,
        divided,
        two_networks,
        nested,
        several,
        sides_of_other_types,
        number_on_a_side,
        truth,
        scattered,
        inverted,
    )
}
SAMPLES = [(X, INDEX), (-X, INDEX), (X * 0.1, INDEX * 2), (-X * 3, INDEX), (X * 30, INDEX * 2), (X * 5, INDEX * 0 + 1)]


def jit(fn: Function, save_path: Path) -> harness.Exported:
    with torch.no_grad():
        return harness.export(fn, X, INDEX, save_path=save_path)


def onnx_model(fn: Function, save_path: Path, **backend_params: int) -> OnnxExported:
    with torch.no_grad():
        return export(fn, (X, INDEX), save_path, **backend_params)


def eager(fn: Function, *inputs: Tensor) -> list[Tensor]:
    with torch.no_grad():
        return [fn(*inputs)]


def ops_of(graph: onnx.GraphProto) -> list[str]:
    """By name, those inside other operators behind them."""
    found = []
    for node in graph.node:
        found.append(node.op_type)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found += ops_of(attribute.g)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_sides_are_right(name: str, tmp_path: Path) -> None:
    fn = PROGRAMS[name]
    script = jit(fn, tmp_path / "jit")
    assert "prim::If" in str(script.module.graph)
    model = onnx_model(fn, tmp_path / "onnx")
    assert "If" in ops_of(model.model.graph)
    for sample in SAMPLES:
        expected = eager(fn, *sample)
        assert_same(expected, script(*sample), rtol=1e-4)
        assert_same(expected, model(*sample), rtol=1e-4, atol=1e-5)


def test_the_side_that_is_not_taken_does_not_run(tmp_path: Path) -> None:
    script = jit(looked_up, tmp_path / "jit")
    model = onnx_model(looked_up, tmp_path / "onnx")
    expected = eager(lambda x: NET(x), X)
    assert_same(expected, script(X, OUTSIDE))
    assert_same(expected, model(X, OUTSIDE), rtol=1e-4)
    for run in (script, model):
        with pytest.raises(Exception, match=r"(?i)index|out of|bound"):
            run(-X, OUTSIDE)


def test_integers_are_not_divided_by_zero(tmp_path: Path) -> None:
    model = onnx_model(divided, tmp_path)
    assert_same([torch.zeros(1, 8, dtype=torch.int64)], model(X, INDEX * 0))
    assert_same(eager(divided, X, INDEX * 3), model(X, INDEX * 3))


@pytest.mark.parametrize("opset", [13, 15, 18, 21, 23])
def test_every_opset_and_the_reference_evaluator(opset: int, tmp_path: Path) -> None:
    model = onnx_model(nested, tmp_path, opset_version=opset)
    reference = onnx.reference.ReferenceEvaluator(model.model)
    for sample in SAMPLES[:4]:
        feeds = {f"x{i}": sample[i].numpy() for i in model.inputs}
        found = [torch.from_numpy(np.asarray(each)) for each in reference.run(None, feeds)]
        assert_same(eager(nested, *sample), found, rtol=1e-4, atol=1e-5)
        assert_same(eager(nested, *sample), model(*sample), rtol=1e-4, atol=1e-5)


def test_weights_are_initializers_of_the_main_graph(tmp_path: Path) -> None:
    graph = onnx_model(looked_up, tmp_path).model.graph
    names = [tensor.name for tensor in graph.initializer]
    assert "layers.0.weight" in names
    assert len(names) == len(set(names))
    sides = [attribute.g for node in graph.node if node.op_type == "If" for attribute in node.attribute]
    assert len(sides) == 2
    assert not any(side.initializer for side in sides)
    defined = [output for side in [graph, *sides] for node in side.node for output in node.output]
    assert len(defined) == len(set(defined))


def test_the_engine_of_ours_runs_it(tmp_path: Path) -> None:
    for name in ("looked_up", "two_networks", "nested", "several"):
        model = onnx_model(PROGRAMS[name], tmp_path / name)
        for sample in SAMPLES[:2]:
            assert_same(eager(PROGRAMS[name], *sample), model.own(*sample), rtol=1e-4, atol=1e-5)


def test_cheap_sides_stay_as_they_are(tmp_path: Path) -> None:
    def cheap(x: Tensor, i: Tensor) -> Tensor:
        return torch.where(x.sum() > i.sum(), x.sin() * 2, x.cos() + 1)

    assert "If" not in ops_of(onnx_model(cheap, tmp_path / "onnx").model.graph)
    assert "prim::If" not in str(jit(cheap, tmp_path / "jit").module.graph)


@pytest.mark.parametrize("backend", ["pt2", "onnx-torchscript", *(["onnx-dynamo"] if harness.LONG else [])])
def test_the_exporters_of_pytorch_take_it(backend: str, tmp_path: Path) -> None:
    if backend.startswith("onnx"):
        pytest.importorskip("onnxscript")
    leapp.start("graph", save_path=str(tmp_path))
    with torch.no_grad():
        for sample in SAMPLES[:2]:
            x, i = annotate.input_tensors("node", {"x": sample[0], "i": sample[1]})
            annotate.output_tensors("node", {"y": looked_up(x, i)}, export_with=backend)
    leapp.stop()
    assert leapp.compile_graph(visualize=False) == {"node": True}
    manager = leapp.InferenceManager(tmp_path / "graph")
    for sample in SAMPLES[:4]:
        found = manager({"node/x": sample[0], "node/i": sample[1]})["node/y"]
        assert_same(eager(looked_up, *sample), [found], rtol=1e-4, atol=1e-5)


def test_a_pipeline_is_fused_validated_and_drawn(tmp_path: Path) -> None:
    """Two nodes with the same names inside their branches become one session."""
    leapp.start("graph", save_path=str(tmp_path))
    with torch.no_grad():
        for sample in SAMPLES[:3]:
            x, i = annotate.input_tensors("first", {"x": sample[0], "i": sample[1]})
            middle = annotate.output_tensors("first", {"y": nested(x, i)}, export_with="onnx")
            x, i = annotate.input_tensors("second", {"x": middle, "i": sample[1]})
            annotate.output_tensors("second", {"y": looked_up(x, i)}, export_with="onnx")
    leapp.stop()
    assert leapp.compile_graph(visualize=True) == {"first": True, "second": True}
    assert "leapp::if" in (tmp_path / "graph/log.txt").read_text()
    assert "then: aten::" in (tmp_path / "graph/graph.html").read_text()
    for engine in ("onnxruntime", "native"):
        manager = leapp.InferenceManager(tmp_path / "graph", engine=engine)
        for sample in SAMPLES[:4]:
            x, i = sample
            expected = eager(lambda x, i: looked_up(nested(x, i), i), x, i)
            found = manager({"first/x": x, "first/i": i, "second/i": i})["second/y"]
            assert_same(expected, [found], rtol=1e-4, atol=1e-5)


def test_a_random_side_is_drawn_only_when_taken(tmp_path: Path) -> None:
    def noisy(x: Tensor, i: Tensor) -> Tensor:
        return torch.where(x.sum() > 0, TABLE[i] + torch.rand_like(x), x)

    script = jit(noisy, tmp_path)
    before = torch.get_rng_state()
    assert_same([-X], script(-X, INDEX))
    assert torch.equal(before, torch.get_rng_state())
    assert not torch.equal(script(X, INDEX)[0], script(X, INDEX)[0])


def test_a_wrong_side_is_found(tmp_path: Path) -> None:
    """Validation looks at what a branch gives, not inside it, and does not stumble over it."""
    gain = torch.ones(1)
    leapp.start("graph", save_path=str(tmp_path))
    with torch.no_grad():
        for sample in SAMPLES[:2]:
            x, i = annotate.input_tensors("node", {"x": sample[0], "i": sample[1]})
            annotate.output_tensors("node", {"y": looked_up(x * float(gain), i) + 1}, export_with="jit")
            gain += 1
    leapp.stop()
    with pytest.raises(leapp.errors.ValidationError, match="call 1 differs from call 0"):
        leapp.compile_graph(visualize=False)
