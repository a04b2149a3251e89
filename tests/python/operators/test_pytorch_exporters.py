# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own exporters, fed with captured graphs, and the operators for which ``onnx`` turns to them."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import onnx
import pytest
import torch
import yaml
from leapp import annotate
from onnx_run import OnnxModel, named
from operator_table import PINNED_TORCH, of_the_pinned_torch
from torch import Tensor, nn

BACKENDS = ["onnx-dynamo", "onnx-torchscript", "pt2"]
ONNX_BACKENDS = BACKENDS[:2]

pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated:FutureWarning")


@pytest.fixture(autouse=True)
def _nothing_on_the_console(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    printed = capfd.readouterr()
    assert printed.out == ""
    expected = ("leapp: error: ", "leapp: Bundle: ")
    assert [line for line in printed.err.splitlines() if not line.startswith(expected)] == []


def export(
    fn: Callable[..., Any], inputs: dict[str, Tensor], folder: Path, backend: str, **params: Any
) -> Callable[..., list[Tensor]]:
    """Outputs of ``fn`` are y0, y1, ... unless it names them. Returns the written file as a function."""
    leapp.start("graph", save_path=str(folder))
    live = annotate.input_tensors("node", dict(inputs))
    results = fn(*(live if isinstance(live, tuple) else (live,)))
    outputs = results if isinstance(results, dict) else named(results)
    annotate.output_tensors("node", outputs, export_with=backend, backend_params=params or None)
    leapp.stop()
    assert leapp.compile_graph(visualize=False).nodes["node"].status == "passed"
    return load(folder / "graph")


def load(folder: Path) -> Callable[..., list[Tensor]]:
    model = yaml.safe_load((folder / "graph.yaml").read_text())["models"]["node"]
    path = folder / model["parameters"]["model_path"]
    if path.suffix == ".pt2":
        module = torch.export.load(path).module()

        def run(*inputs: Tensor) -> list[Tensor]:
            result = module(*inputs)
            return [result] if isinstance(result, Tensor) else list(result)

        return run
    written = OnnxModel(path)
    assert [each.name for each in written.session.get_inputs()] == [port["name"] for port in model["inputs"]]
    assert [each.name for each in written.session.get_outputs()] == [port["name"] for port in model["outputs"]]
    assert sorted(each.name for each in folder.iterdir() if each.name.startswith("node.")) == ["node.onnx"]
    assert model["parameters"]["opset_version"] == written.proto.opset_import[0].version
    return lambda *inputs: list(
        written({port["name"]: value for port, value in zip(model["inputs"], inputs, strict=True)}).values()
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_mlp(backend: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    mlp = nn.Sequential(nn.Linear(6, 16), nn.ELU(), nn.LayerNorm(16), nn.Linear(16, 3), nn.Tanh())
    run = export(mlp, {"obs": torch.randn(2, 6)}, tmp_path, backend)
    fresh = torch.randn(2, 6)
    torch.testing.assert_close(run(fresh), [mlp(fresh).detach()], rtol=1e-5, atol=1e-6)
    log = (tmp_path / "graph" / "log.txt").read_text()
    assert backend != "onnx-torchscript" or not PINNED_TORCH or f"{backend} says:" in log


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_keep_their_names_and_are_stored_once(backend: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    model = nn.ModuleDict({"actor": nn.Sequential(nn.Linear(64, 64))})

    def twice(x: Tensor) -> Tensor:
        return model["actor"](model["actor"](x).sin())

    export(twice, {"x": torch.randn(2, 64)}, tmp_path, backend)
    path = tmp_path / "graph" / ("node.pt2" if backend == "pt2" else "node.onnx")
    assert path.stat().st_size < 64 * 65 * 4 + (12 << 10)  # a second copy would be 16 kB
    if backend == "pt2":
        names = list(torch.export.load(path).state_dict)
    else:
        names = [each.name for each in onnx.load(str(path)).graph.initializer]
    assert sorted(names) == ["0.bias", "0.weight"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_gru_with_state(backend: str, tmp_path: Path) -> None:
    torch.manual_seed(2)
    gru = nn.GRU(3, 4, num_layers=2)
    hidden = torch.zeros(2, 1, 4)
    leapp.start("graph", save_path=str(tmp_path))
    for _ in range(3):
        x = annotate.input_tensors("node", {"x": torch.randn(5, 1, 3)})
        y, after = gru(x, annotate.state_tensors("node", {"h": hidden}))
        hidden = annotate.update_state("node", {"h": after}).detach()
        annotate.output_tensors("node", {"y": y}, export_with=backend)
    leapp.stop()
    result = leapp.compile_graph(visualize=False).nodes["node"]
    assert (result.status, result.samples) == ("passed", 3)
    ports = yaml.safe_load((tmp_path / "graph" / "graph.yaml").read_text())
    before, behind = ("h", "h") if backend == "pt2" else ("h_in", "h_out")
    assert ports["pipeline"]["feedback_flow"] == {f"node/{behind}": [f"node/{before}"]}
    run = load(tmp_path / "graph")
    own = expected = torch.zeros(2, 1, 4)
    for _ in range(30):
        x = torch.randn(5, 1, 3)
        y, own = run(x, own)
        wanted, expected = gru(x, expected)
        torch.testing.assert_close((y, own), (wanted.detach(), expected.detach()), rtol=1e-5, atol=1e-5)


def odd_ports(*inputs: Tensor) -> dict[str, Tensor]:
    a, b, c, d = inputs
    total = torch.linalg.norm(a + b) + c.flip(0)
    return {"sin": total.sin(), "a b": a, "again": total, "class": total, "x.y": d.T.as_strided((3,), (2,), 1).cos()}


@pytest.mark.parametrize("backend", BACKENDS)
def test_ports_with_odd_names_and_outputs_that_are_inputs_or_twice_the_same(backend: str, tmp_path: Path) -> None:
    names = ("a b", "add", "linalg_vector_norm", "class")

    def values() -> dict[str, Tensor]:
        return {name: torch.randn(3, 2) if name == "class" else torch.randn(4) for name in names}

    run = export(odd_ports, values(), tmp_path, backend)
    fresh = values().values()
    torch.testing.assert_close(run(*fresh), list(odd_ports(*fresh).values()), rtol=1e-5, atol=1e-6)


def results_of_all_kinds(x: Tensor) -> list[Tensor]:
    low, high = x.chunk(2, 1)
    values, indices = x.sort(1)
    table = torch.arange(8)[:, None] * torch.ones(3)
    return [low * 2, high > 0, values, indices, table[indices], (x + 1).to(torch.float64) * 1.5, x.var(0)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_lists_tuples_numbers_and_dtypes(backend: str, tmp_path: Path) -> None:
    run = export(results_of_all_kinds, {"x": torch.randn(3, 8)}, tmp_path, backend)
    fresh = torch.randn(3, 8)
    torch.testing.assert_close(run(fresh), results_of_all_kinds(fresh), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["onnx-dynamo", "pt2"])
def test_numbers_stay_numbers(backend: str, tmp_path: Path) -> None:
    def fn(x: Tensor) -> list[Tensor]:
        return [x.half() + 1.5, x.long() + True, x.long() * 0.5, x.clamp(min=-1), x.half() + torch.tensor(1.5)]

    run = export(fn, {"x": torch.tensor([-2.25, 0.5, 1.75, 3.0])}, tmp_path, backend)
    fresh = torch.tensor([-4.5, -0.125, 2.25, 5.0])  # no rounding, which ONNX Runtime may leave out between casts
    torch.testing.assert_close(run(fresh), fn(fresh), rtol=0, atol=0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_twice_is_the_same_bytes(backend: str, tmp_path: Path) -> None:
    layer = nn.Linear(3, 3)
    leapp.start("graph", save_path=str(tmp_path))
    x = annotate.input_tensors("node", {"x": torch.randn(2, 3)})
    annotate.output_tensors("node", {"y": layer(x).relu()}, export_with=backend)
    leapp.stop()
    written = []
    for _ in range(2):
        leapp.compile_graph(visualize=False)
        folder = tmp_path / "graph"
        written.append({path.name: path.read_bytes() for path in folder.iterdir() if path.name != "log.txt"})
    assert written[0] == written[1]


def lacking(x: Tensor) -> Tensor:
    return torch.ops.aten.sigmoid_backward(x * 2, x)


def test_an_operator_that_only_pytorch_exports_goes_there(tmp_path: Path) -> None:
    run = export(lacking, {"x": torch.randn(5)}, tmp_path, "onnx")
    fresh = torch.randn(5)
    torch.testing.assert_close(run(fresh), [lacking(fresh)], rtol=1e-4, atol=1e-5)
    log = (tmp_path / "graph" / "log.txt").read_text()
    assert "[info] node 'node': aten::sigmoid_backward at " in log
    assert "trying 'onnx-dynamo'" in log


def impossible(x: Tensor) -> Tensor:
    return torch.view_as_real(torch.linalg.eigvals(x * torch.eye(5)))


@pytest.mark.parametrize("backend", ["onnx", *ONNX_BACKENDS])
def test_what_none_can_do_names_operator_and_line(backend: str, tmp_path: Path) -> None:
    line = inspect.getsourcelines(impossible)[1] + 1
    where = rf"aten::linalg_eigvals at .*test_pytorch_exporters\.py:{line}"
    with pytest.raises(NotImplementedError, match=where) as caught:
        export(impossible, {"x": torch.rand(5) + 1}, tmp_path, backend)
    assert "'node'" in str(caught.value)


def test_pt2_can_do_what_onnx_cannot(tmp_path: Path) -> None:
    run = export(impossible, {"x": torch.rand(5) + 1}, tmp_path, "pt2")
    fresh = torch.rand(5) + 1
    torch.testing.assert_close(run(fresh), [impossible(fresh)])


@pytest.mark.parametrize("backend", ONNX_BACKENDS)
def test_versions_and_options(backend: str, tmp_path: Path) -> None:
    options = {"optimize": False, "verify": True, "report": True}
    export(torch.sin, {"x": torch.rand(5)}, tmp_path, backend, opset_version=20, ir_version=10, **options)
    model = onnx.load(str(tmp_path / "graph" / "node.onnx"))
    assert (model.opset_import[0].version, model.ir_version) == (20, 10)
    export(torch.sin, {"x": torch.rand(5)}, tmp_path, backend)
    assert onnx.load(str(tmp_path / "graph" / "node.onnx")).ir_version == 8


@of_the_pinned_torch  # before 2.9 it fails otherwise, with its own words
def test_versions_that_cannot_be_are_value_errors(tmp_path: Path) -> None:
    def normalised(x: Tensor) -> Tensor:
        return nn.functional.layer_norm(x, (5,))

    with pytest.raises(ValueError, match=r"'node'.*opset_version: 13 was asked for.*gives 18"):
        export(normalised, {"x": torch.rand(2, 5)}, tmp_path, "onnx-dynamo", opset_version=13)
    with pytest.raises(ValueError, match=r"'node'.*ir_version: expected at least 8.*found 4"):
        export(torch.sin, {"x": torch.rand(5)}, tmp_path, "onnx-dynamo", ir_version=4)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnxscript" else find_spec(name))
    with pytest.raises(NotImplementedError, match=r"'node'.*onnx-dynamo.*needs the package 'onnxscript'"):
        export(torch.sin, {"x": torch.rand(5)}, tmp_path, "onnx-dynamo")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", [torch.inference_mode, lambda: torch.autocast("cpu", torch.bfloat16)])
def test_the_modes_of_the_caller_do_not_matter(backend: str, mode: Callable[[], Any], tmp_path: Path) -> None:
    x = torch.randn(3, 3)
    leapp.start("graph", save_path=str(tmp_path))
    live = annotate.input_tensors("node", {"x": x})
    annotate.output_tensors("node", {"y": live @ live}, export_with=backend)
    leapp.stop()
    with mode():
        assert leapp.compile_graph(visualize=False).nodes["node"].status == "passed"
    torch.testing.assert_close(load(tmp_path / "graph")(x), [x @ x], rtol=1e-5, atol=1e-6)


def test_loggers_and_streams_are_as_before(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    handlers = logging.Logger.callHandlers
    with contextlib.suppress(NotImplementedError):
        export(impossible, {"x": torch.rand(5) + 1}, tmp_path, "onnx-dynamo")
    capfd.readouterr()
    print("still here")
    assert capfd.readouterr().out == "still here\n"
    assert logging.Logger.callHandlers is handlers


# ---- What the exporter by TorchScript lacks ----


def written(x: Tensor, write: Callable[[Tensor], Any]) -> Tensor:
    y = x.clone()
    write(y)
    return y


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize(
    "fn",
    [
        lambda x: written(x, lambda y: y[:, 1:3].copy_(x[:, 0:2] * 2)),
        lambda x: written(x, lambda y: y[:, ::2].copy_(x[:, 1::2])),
        lambda x: written(x, lambda y: y[1].copy_(x[0] * 2)),
        lambda x: written(x, lambda y: y[:, -1].fill_(3.0)),
        lambda x: written(x[:, :3], lambda y: y.diagonal().copy_(x[0, :3])),
        lambda x: written(x, lambda y: y.view(-1)[2:5].fill_(1.0)),
        lambda x: written(x, lambda y: y.t()[1:3, 0].fill_(5.0)),
        lambda x: written(x > 0, lambda y: y[:, 1:3].fill_(True)),
        lambda x: torch.sort(x, dim=0, stable=True, descending=True),
        lambda x: torch.argsort(x, dim=1, stable=True),
        lambda x: torch.from_numpy(np.sort(x.numpy())),
        lambda x: torch.from_numpy(np.argsort(x.numpy(), axis=0)),
    ],
    ids=[
        "slice",
        "step",
        "row",
        "column",
        "diagonal",
        "flat",
        "turned",
        "bool",
        "stable",
        "argsort",
        "np",
        "np_argsort",
    ],
)
def test_writes_and_sorts_by_torchscript(fn: Callable[[Tensor], Any], opset: int, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = export(fn, {"x": torch.randn(3, 4)}, tmp_path, "onnx-torchscript", opset_version=opset)
    for _ in range(2):
        x = torch.randn(3, 4)
        for expected, found in zip(named(fn(x)).values(), model(x), strict=True):
            torch.testing.assert_close(found, expected)


def test_torchs_exporter_is_as_it_was_afterwards(tmp_path: Path) -> None:
    export(lambda x: written(x, lambda y: y[0].fill_(1.0)), {"x": torch.randn(3, 4)}, tmp_path, "onnx-torchscript")
    from leapp.exporters import torchscript_symbolics

    try:
        from torch.onnx._internal.torchscript_exporter import registration
    except ModuleNotFoundError:  # before torch 2.9
        from torch.onnx._internal import registration

    for name in torchscript_symbolics._SYMBOLICS:
        group = registration.registry.get_function_group(name)
        assert group is None or group.get(18) not in torchscript_symbolics._SYMBOLICS.values()
