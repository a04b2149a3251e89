# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""How far a model may be off when nobody says so: by rounding, which passes with a note, and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import onnx
import pytest
import torch
from onnx import helper
from validation_kit import edit_onnx, edit_torchscript, edit_weight, export, node_again, run_node

Tensor = torch.Tensor
Function = Callable[..., Any]


class Deep(torch.nn.Module):
    """Layers without normalisation whose values reach 1e5 and cancel at the end."""

    def __init__(self, gain: float = 2.5, depth: int = 12, width: int = 64) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(depth))
        self.head = torch.nn.Linear(width, 8)
        self.gain = gain

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = x + torch.tanh(layer(x)) * self.gain * x
        return self.head(x) - self.head(x.flip(-1))


def compiled(folder: Path, fn: Function, inputs: list[Tensor], export_with: str, **options: Any) -> Any:
    leapp.start("g", save_path=folder)
    with torch.no_grad():
        for x in inputs:
            run_node(fn, [x], export_with=export_with)
    leapp.stop()
    return leapp.compile_graph(visualize=False, strict=False, **options)


def draws(count: int, *shape: int, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    torch.manual_seed(7)
    return [torch.randn(*shape).to(dtype) for _ in range(count)]


# ---- what is rounding ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_large_activations_pass(tmp_path: Path, backend: str) -> None:
    results = compiled(tmp_path, Deep(), draws(3, 4, 64), backend)
    assert results.nodes["policy"].status == "passed", results.nodes["policy"].message


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_short_types_pass(tmp_path: Path, dtype: torch.dtype, backend: str) -> None:
    net = Deep(gain=0.1, depth=6).to(dtype)
    results = compiled(tmp_path, net, draws(3, 4, 64, dtype=dtype), backend)
    assert results.nodes["policy"].status == "passed", results.nodes["policy"].message


def denoise(net: torch.nn.Module) -> Function:
    """Five deterministic steps of a sampler that divides by small numbers."""
    alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.4, 50), 0)

    def run(x: Tensor) -> Tensor:
        for t in (49, 39, 29, 19, 9):
            before = alphas[t - 9]
            noise = net(x)
            clean = (x - (1 - alphas[t]).sqrt() * noise) / alphas[t].sqrt()
            x = before.sqrt() * clean + (1 - before).sqrt() * noise
        return x

    return run


def test_a_sampler_passes(tmp_path: Path) -> None:
    net = Deep(gain=0.3, depth=4, width=48)
    net.head = torch.nn.Linear(48, 48)
    results = compiled(tmp_path, denoise(net), draws(3, 16, 48), "onnx")
    assert results.nodes["policy"].status == "passed", results.nodes["policy"].message


def test_rounding_is_noted_and_blames_nobody(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, Deep(), [(x,) for x in draws(3, 4, 64)])
    # The same sum in another order: a file that is right, and not to the last digit.
    edit_onnx(folder / "policy.onnx", lambda model: edit_weight(model, "head.weight", lambda w: w.__imul__(1 + 6e-8)))
    result = node_again()
    assert result.status == "passed"
    [note] = [finding for finding in result.findings if finding.kind == "rounding"]
    assert not note.fails
    assert "rounding alone moves its elements by" in note.what
    assert "call to call" not in result.message
    report = json.loads((folder / "g_report.json").read_text())
    assert report["tolerance"] == {"rtol": None, "atol": None}
    assert node_again(rtol=1e-9, atol=0.0).status == "failed", "given tolerances decide alone"


def test_state_carries_rounding_from_pass_to_pass(tmp_path: Path) -> None:
    torch.manual_seed(0)
    matrix = torch.linalg.qr(torch.randn(16, 16))[0] * 1.6

    class Grows:
        h = torch.zeros(4, 16)

        def __call__(self, x: Tensor) -> Tensor:
            h = leapp.annotate.state_tensors("policy", {"h": self.h})
            h = h @ matrix + x
            self.h = leapp.annotate.update_state("policy", {"h": h})
            return self.h - self.h.flip(0).roll(1, 0)

    results = compiled(tmp_path, Grows(), draws(6, 4, 16), "onnx")
    assert results.nodes["policy"].status == "passed", results.nodes["policy"].message


# ---- what is not -----------------------------------------------------------------------------------------------------


class Actor(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(48, 256)
        self.second = torch.nn.Linear(256, 12)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.nn.functional.elu(self.first(x)))


def one_weight(w: np.ndarray[Any, Any]) -> None:
    w.flat[17] += 1e-3


def swapped(w: np.ndarray[Any, Any]) -> None:
    w[0], w[1] = w[1].copy(), w[0].copy()


def one_bias(w: np.ndarray[Any, Any]) -> None:
    w[3] += 1e-4


@pytest.mark.parametrize(
    ("name", "edit"), [("second.weight", one_weight), ("second.weight", swapped), ("second.bias", one_bias)]
)
@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_a_wrong_number_fails(
    tmp_path: Path, name: str, edit: Callable[[np.ndarray[Any, Any]], None], backend: str
) -> None:
    folder, _ = export(tmp_path, Actor(), [(x,) for x in draws(2, 1, 48)], export_with=backend)
    if backend == "onnx":
        edit_onnx(folder / "policy.onnx", lambda model: edit_weight(model, name, edit))
    else:

        def change(module: torch.jit.ScriptModule) -> None:
            weights = dict(module.named_parameters()) | dict(module.named_buffers())
            [tensor] = [value for key, value in weights.items() if key.replace("_", ".").endswith(name)]
            edit(tensor.numpy())

        edit_torchscript(folder / "policy.pt", change)
    result = node_again()
    assert result.status == "failed"
    assert result.findings[0].kind == "mismatch"
    assert "differ by more than rounding explains" in result.message


def test_a_missing_operator_of_small_effect_fails(tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        y = torch.tanh(x) + 1e-4
        return y * 2

    folder, _ = export(tmp_path, fn, [(x,) for x in draws(2, 4, 8)])

    def without(model: onnx.ModelProto) -> None:
        [add] = [node for node in model.graph.node if node.op_type == "Add"]
        copy = helper.make_node("Identity", add.input[:1], add.output)
        add.CopyFrom(copy)

    edit_onnx(folder / "policy.onnx", without)
    result = node_again()
    assert result.status == "failed"
    assert "aten::add" in result.message


def test_the_wrong_sign_of_tiny_outputs_fails(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, lambda x: torch.sin(x) * 1e-6, [(x,) for x in draws(2, 4, 8)])

    def negated(model: onnx.ModelProto) -> None:
        [sine] = [node for node in model.graph.node if node.op_type == "Sin"]
        changed = f"{sine.output[0]}_negated"
        for node in model.graph.node:
            node.input[:] = [changed if name == sine.output[0] else name for name in node.input]
        at = list(model.graph.node).index(sine) + 1
        model.graph.node.insert(at, helper.make_node("Neg", sine.output[:1], [changed]))

    edit_onnx(folder / "policy.onnx", negated)
    assert node_again().status == "failed"


def test_whole_numbers_are_equal_or_wrong(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, lambda x: (x * 1000).round().to(torch.int64) + 100_000, [(x,) for x in draws(2, 4, 8)])

    def off_by_one(model: onnx.ModelProto) -> None:
        add = next(node for node in model.graph.node if node.op_type == "Add")
        name = next(i.name for i in model.graph.initializer if i.name in add.input)
        edit_weight(model, name, lambda w: w.__iadd__(1))

    edit_onnx(folder / "policy.onnx", off_by_one)
    assert node_again().status == "failed"
    assert node_again(rtol=1e-3, atol=1e-5).status == "passed", "the tolerance that was given decides alone"


def test_a_value_that_changes_from_call_to_call_is_still_told(tmp_path: Path) -> None:
    class Counts:
        n = 0

        def __call__(self, x: Tensor) -> Tensor:
            self.n += 1
            return x + 1e-4 * self.n

    result = compiled(tmp_path, Counts(), draws(3, 4, 8), "onnx").nodes["policy"]
    assert result.status == "failed"
    assert result.findings[0].kind == "baked_number"


def test_a_close_decision_is_told_in_words(tmp_path: Path) -> None:
    x = torch.tensor([0.7, 1.3])
    folder, _ = export(tmp_path, lambda x: torch.where(x / 3.0 * 3.0 > x, x * 7, x), [(x,)])

    def decides_otherwise(model: onnx.ModelProto) -> None:
        next(node for node in model.graph.node if node.op_type == "Greater").op_type = "GreaterOrEqual"

    edit_onnx(folder / "policy.onnx", decides_otherwise)
    result = node_again()
    assert result.status == "passed", result.message
    assert "rounding decides at aten::gt" in result.message
