# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Models that are spoiled after they were written: what validation says, to the digit, and where it points."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import onnx
import pytest
import torch
from harness import line_of
from onnx import helper
from validation_kit import (
    edit_code,
    edit_onnx,
    edit_torchscript,
    edit_weight,
    export,
    node_again,
    node_of,
    run_file,
    run_node,
    statistics,
)

RTOL, ATOL = 1e-3, 1e-5


class Actor(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(6, 16)
        self.second = torch.nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.first(x)  # the first layer
        h = torch.relu(h)  # the bend
        h = h * 1.5  # the scale
        return self.second(h)  # the second layer


def calls(count: int = 3, shape: tuple[int, ...] = (4, 6)) -> list[tuple[torch.Tensor]]:
    torch.manual_seed(1)
    return [(torch.randn(*shape),) for _ in range(count)]


def check(
    folder: Path, given: list[list[torch.Tensor]], inputs: list[Any], suffix: str, marker: str, operator: str
) -> Any:
    """Every number of the first sample is right, and the finding points at the line with `marker`."""
    result = node_again(rtol=RTOL, atol=ATOL)
    assert result.status == "failed"
    [finding] = [one for one in result.findings if one.fails]
    found = run_file(folder / f"policy{suffix}", inputs[0])[0]
    expected = statistics(found, given[0][0].numpy(), RTOL, ATOL)
    shape = ",".join(map(str, found.shape))
    assert finding.details[0] == f"policy/y0, sample 0: float32[{shape}]: {expected}"
    assert (finding.file, finding.line) == (__file__, line_of(Actor.forward, marker))
    assert finding.code in inspect.getsource(Actor.forward)
    assert f"{operator} is the first of" in finding.details[1]
    assert finding.what in result.message
    return finding


WEIGHT: list[tuple[str, str, str, str]] = [
    ("onnx", "first.weight", "# the first layer", "aten::linear"),
    ("onnx", "second.bias", "# the second layer", "aten::linear"),
    ("jit", "first.weight", "# the first layer", "aten::linear"),
    ("jit", "second.bias", "# the second layer", "aten::linear"),
]


def spoil_weight(path: Path, name: str, value: float | None = None) -> None:
    def in_onnx(model: onnx.ModelProto) -> None:
        names = [tensor.name for tensor in model.graph.initializer]
        wanted = next(one for one in names if one.startswith(name))

        def edit(array: np.ndarray[Any, Any]) -> None:
            array.flat[2] = array.flat[2] + 1 if value is None else value

        edit_weight(model, wanted, edit)

    def in_torchscript(module: torch.jit.ScriptModule) -> None:
        weight = dict(module.named_parameters())[name].view(-1)
        weight[2] = weight[2] + 1 if value is None else value

    if path.suffix == ".onnx":
        edit_onnx(path, in_onnx)
    else:
        edit_torchscript(path, in_torchscript)


@pytest.mark.parametrize(("backend", "name", "marker", "operator"), WEIGHT)
def test_one_weight(backend: str, name: str, marker: str, operator: str, tmp_path: Path) -> None:
    inputs = calls()
    folder, given = export(tmp_path, Actor(), inputs, export_with=backend)
    suffix = ".onnx" if backend == "onnx" else ".pt"
    spoil_weight(folder / f"policy{suffix}", name)
    finding = check(folder, given, inputs, suffix, marker, operator)
    assert "in all 3 samples" in finding.what


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_one_operator(backend: str, tmp_path: Path) -> None:
    inputs = calls()
    folder, given = export(tmp_path, Actor(), inputs, export_with=backend)

    def bend(model: onnx.ModelProto) -> None:
        node_of(model, "Relu").op_type = "Tanh"

    if backend == "onnx":
        edit_onnx(folder / "policy.onnx", bend)
        check(folder, given, inputs, ".onnx", "# the bend", "aten::relu")
    else:
        edit_code(folder / "policy.pt", "torch.relu(", "torch.tanh(")
        check(folder, given, inputs, ".pt", "# the bend", "aten::relu")


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_nan_in_a_bias(backend: str, tmp_path: Path) -> None:
    folder, _ = export(tmp_path, Actor(), calls(), export_with=backend)
    spoil_weight(folder / ("policy.onnx" if backend == "onnx" else "policy.pt"), "second.bias", float("nan"))
    [finding] = node_again(rtol=RTOL, atol=ATOL).findings
    assert finding.kind == "nan"
    assert finding.details[0] == (
        "policy/y0, sample 0: float32[4,5]: NaN in the exported output: 4 of 20 elements (20 %)"
    )
    assert finding.line == line_of(Actor.forward, "# the second layer")
    report = json.loads((folder / "g_report.json").read_text())
    problem = report["nodes"][0]["problems"][0]
    assert (problem["exported"]["nan"], problem["source"]["nan"]) == (4, 0)


def test_nan_that_the_program_makes_is_traced_to_its_line(tmp_path: Path) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x - 1
        z = torch.log(y)  # of a negative number
        return z * 2

    leapp.start("g", save_path=tmp_path)
    run_node(program, [torch.zeros(3)])
    leapp.stop()
    [finding] = leapp.compile_graph(visualize=False, strict=False).nodes["policy"].findings
    assert (finding.kind, finding.line) == ("nan", line_of(program, "# of a negative number"))
    assert "the program itself gives NaN there" in finding.remedy
    assert finding.code == "z = torch.log(y)"


def square(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return torch.sigmoid(y)  # square


def test_a_transposed_output(tmp_path: Path) -> None:
    folder, given = export(tmp_path, square, [(torch.arange(9.0).reshape(3, 3),)])

    def transpose(model: onnx.ModelProto) -> None:
        last = next(node for node in model.graph.node if node.output[0] == "y0")
        last.output[0] = "before"
        model.graph.node.append(helper.make_node("Transpose", ["before"], ["y0"], perm=[1, 0]))

    edit_onnx(folder / "policy.onnx", transpose)
    [finding] = node_again(rtol=RTOL, atol=ATOL).findings
    assert finding.line == line_of(square, "# square")
    found = run_file(folder / "policy.onnx", [torch.arange(9.0).reshape(3, 3)])[0]
    assert statistics(found, given[0][0].numpy(), RTOL, ATOL) in finding.details[0]


def test_another_shape(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, square, [(torch.arange(6.0).reshape(2, 3),)])

    def transpose(model: onnx.ModelProto) -> None:
        last = next(node for node in model.graph.node if node.output[0] == "y0")
        last.output[0] = "before"
        model.graph.node.append(helper.make_node("Transpose", ["before"], ["y0"], perm=[1, 0]))
        dims = model.graph.output[0].type.tensor_type.shape.dim
        dims[0].dim_value, dims[1].dim_value = 3, 2

    edit_onnx(folder / "policy.onnx", transpose)
    result = node_again(rtol=RTOL, atol=ATOL)
    assert result.status == "failed"
    assert "output 'y0': expected float32[2,3], found float32[3,2]" in result.message


def test_an_extra_output(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, Actor(), calls(1))
    hidden: list[str] = []

    def add(model: onnx.ModelProto) -> None:
        hidden.append(node_of(model, "Relu").output[0])
        model.graph.output.append(helper.make_tensor_value_info(hidden[0], onnx.TensorProto.FLOAT, [4, 16]))

    edit_onnx(folder / "policy.onnx", add)
    result = node_again(rtol=RTOL, atol=ATOL)
    assert result.status == "failed"
    assert f"expected 1 outputs, found 2 (y0, {hidden[0]})" in result.message


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_the_gate_order_of_a_gru(backend: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    gru = torch.nn.GRU(4, 3)

    def program(x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = x * 2
        out, after = gru(x, h)  # three gates
        return out + 1, after

    inputs = [(torch.randn(5, 1, 4), torch.randn(1, 1, 3))]
    folder, given = export(tmp_path, program, inputs, export_with=backend)

    def swap(rows: Any) -> None:
        rows[..., :3, :], rows[..., 3:6, :] = rows[..., 3:6, :].copy(), rows[..., :3, :].copy()

    def swap_gates(model: onnx.ModelProto) -> None:
        edit_weight(model, node_of(model, "GRU").input[1], swap)

    def swap_in_torchscript(module: torch.jit.ScriptModule) -> None:
        weight = dict(module.named_parameters())["weight_ih_l0"]
        weight[:6] = weight[:6].clone().roll(3, 0)

    if backend == "onnx":
        edit_onnx(folder / "policy.onnx", swap_gates)
    else:
        edit_torchscript(folder / "policy.pt", swap_in_torchscript)
    [finding] = node_again(rtol=RTOL, atol=ATOL).findings
    assert finding.line == line_of(program, "# three gates")
    assert "aten::gru.input is the first" in finding.details[-1]
    for i, found in enumerate(run_file(folder / f"policy{'.onnx' if backend == 'onnx' else '.pt'}", inputs[0])):
        assert statistics(found, given[0][i].numpy(), RTOL, ATOL) in finding.details[i]


def test_rounding_that_depends_on_the_opset(tmp_path: Path) -> None:
    """Opsets before 11 have no Round, which rounds halves to even: floor(x + 0.5) in its place rounds them up."""

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 0.5
        y = torch.round(y)  # halves
        return y * 0.25

    inputs = [(torch.arange(-8.0, 8.0).reshape(4, 4),)]
    folder, given = export(tmp_path, program, inputs)

    def round_up(model: onnx.ModelProto) -> None:
        nodes = list(model.graph.node)
        at = next(i for i, node in enumerate(nodes) if node.op_type == "Round")
        old = nodes[at]
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0.5, np.float32), "half"))
        nodes[at : at + 1] = [
            helper.make_node("Add", [old.input[0], "half"], ["raised"]),
            helper.make_node("Floor", ["raised"], list(old.output)),
        ]
        del model.graph.node[:]
        model.graph.node.extend(nodes)

    edit_onnx(folder / "policy.onnx", round_up)
    [finding] = node_again(rtol=RTOL, atol=ATOL).findings
    assert finding.line == line_of(program, "# halves")
    found = run_file(folder / "policy.onnx", inputs[0])[0]
    assert statistics(found, given[0][0].numpy(), RTOL, ATOL) in finding.details[0]


def test_tolerances_decide(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, Actor(), calls())
    spoil_weight(folder / "policy.onnx", "second.bias", 0.01)
    assert node_again(rtol=0.0, atol=10.0).status == "passed"
    assert not (folder / "g_report.json").exists()
    assert node_again(rtol=0.0, atol=1e-6).status == "failed"
    assert (folder / "g_report.json").exists()


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["rtol", "atol"])
def test_tolerances_that_make_no_sense(name: str, value: float, tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    run_node(square, [torch.ones(3)])
    leapp.stop()
    with pytest.raises(ValueError, match=name):
        leapp.compile_graph(visualize=False, **{name: value})
