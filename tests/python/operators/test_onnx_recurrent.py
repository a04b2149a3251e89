# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks and cells as ONNX: 30 steps through ONNX Runtime against eager."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from onnx_run import Tensors, export_onnx, largest_error, named
from torch import Tensor, nn

STEPS = 30
BATCH = 2
FEATURES = 5
HIDDEN = 7
TOLERANCE = 1e-5

NETWORKS: dict[str, Any] = {
    "gru": nn.GRU,
    "lstm": nn.LSTM,
    "rnn_tanh": lambda *args, **kwargs: nn.RNN(*args, nonlinearity="tanh", **kwargs),
    "rnn_relu": lambda *args, **kwargs: nn.RNN(*args, nonlinearity="relu", **kwargs),
}
CELLS: dict[str, Any] = {
    "gru": nn.GRUCell,
    "lstm": nn.LSTMCell,
    "rnn_tanh": lambda *args, **kwargs: nn.RNNCell(*args, nonlinearity="tanh", **kwargs),
    "rnn_relu": lambda *args, **kwargs: nn.RNNCell(*args, nonlinearity="relu", **kwargs),
}
OPERATORS = {"gru": "GRU", "lstm": "LSTM", "rnn_tanh": "RNN", "rnn_relu": "RNN"}
VARIANTS = [
    {},
    {"num_layers": 2},
    {"num_layers": 3, "bidirectional": True},
    {"bidirectional": True},
    {"batch_first": True},
    {"bias": False},
    {"num_layers": 2, "bidirectional": True, "batch_first": True, "bias": False},
]


def variant_id(options: dict[str, Any]) -> str:
    return "-".join(f"{name}={value}" for name, value in options.items()) or "plain"


def sequence(options: dict[str, Any], batch: int = BATCH) -> Tensor:
    return torch.randn((batch, STEPS, FEATURES) if options.get("batch_first") else (STEPS, batch, FEATURES))


def states(kind: str, network: nn.RNNBase, batch: int = BATCH) -> Tensors:
    rows = network.num_layers * (2 if network.bidirectional else 1)
    found = {"h": torch.randn(rows, batch, network.proj_size or HIDDEN)}
    if kind == "lstm":
        found["c"] = torch.randn(rows, batch, HIDDEN)
    return found


def run(network: nn.RNNBase, x: Tensor, *state: Tensor) -> list[Tensor]:
    output, last = network(x, state if len(state) == 2 else state[0]) if state else network(x)
    return [output, *last] if isinstance(last, tuple) else [output, last]


def check_network(kind: str, network: nn.RNNBase, options: dict[str, Any], save_path: Path) -> list[str]:
    network.eval()
    first = {"x": sequence(options), **states(kind, network)}
    model = export_onnx(lambda *inputs: run(network, *inputs), first, save_path)
    fresh = {"x": sequence(options), **states(kind, network)}
    assert largest_error(model(fresh), named(run(network, *fresh.values()))) < TOLERANCE
    return model.operators()


@pytest.mark.parametrize("options", VARIANTS, ids=variant_id)
@pytest.mark.parametrize("kind", NETWORKS)
def test_network(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    operators = check_network(kind, NETWORKS[kind](FEATURES, HIDDEN, **options), options, tmp_path)
    assert operators.count(OPERATORS[kind]) == options.get("num_layers", 1)
    assert not {"Loop", "Scan", "If", "MatMul", "Gemm"} & set(operators)


@pytest.mark.parametrize("kind", NETWORKS)
def test_initial_state_left_out(kind: str, tmp_path: Path) -> None:
    network = NETWORKS[kind](FEATURES, HIDDEN, num_layers=2).eval()
    model = export_onnx(lambda x: run(network, x), {"x": sequence({})}, tmp_path)
    assert "Slice" not in model.operators()  # zeros are what ONNX assumes
    fresh = {"x": sequence({})}
    assert largest_error(model(fresh), named(run(network, fresh["x"]))) < TOLERANCE


@pytest.mark.parametrize("kind", NETWORKS)
def test_state_fed_back_step_by_step(kind: str, tmp_path: Path) -> None:
    """As on a robot: one step a call, the state handed from call to call."""
    network = NETWORKS[kind](FEATURES, HIDDEN, num_layers=2).eval()
    first = {"x": torch.randn(1, 1, FEATURES), **states(kind, network, batch=1)}
    model = export_onnx(lambda *inputs: run(network, *inputs), first, tmp_path)
    state = states(kind, network, batch=1)
    eager_state = dict(state)
    worst = 0.0
    for _ in range(STEPS):
        x = torch.randn(1, 1, FEATURES)
        found = model({"x": x, **state})
        expected = named(run(network, x, *eager_state.values()))
        worst = max(worst, largest_error(found, expected))
        state = {name: found[f"y{i + 1}"] for i, name in enumerate(state)}
        eager_state = {name: expected[f"y{i + 1}"] for i, name in enumerate(state)}
    assert worst < TOLERANCE


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no_bias"])
@pytest.mark.parametrize("kind", CELLS)
def test_cell(kind: str, bias: bool, tmp_path: Path) -> None:
    """The cell called 30 times in one graph."""
    cell = CELLS[kind](FEATURES, HIDDEN, bias=bias).eval()

    def unrolled(x: Tensor, *state: Tensor) -> list[Tensor]:
        current: Any = state if len(state) == 2 else state[0]
        outputs = []
        for step in x:
            current = cell(step, current)
            outputs.append(current[0] if isinstance(current, tuple) else current)
        return [torch.stack(outputs), *(current if isinstance(current, tuple) else (current,))]

    def inputs() -> Tensors:
        found = {"x": torch.randn(STEPS, BATCH, FEATURES), "h": torch.randn(BATCH, HIDDEN)}
        return {**found, "c": torch.randn(BATCH, HIDDEN)} if kind == "lstm" else found

    model = export_onnx(unrolled, inputs(), tmp_path)
    fresh = inputs()
    assert largest_error(model(fresh), named(unrolled(*fresh.values()))) < TOLERANCE


@pytest.mark.parametrize("kind", CELLS)
def test_cell_without_batch(kind: str, tmp_path: Path) -> None:
    cell = CELLS[kind](FEATURES, HIDDEN).eval()

    def call(x: Tensor) -> Any:
        return cell(x)

    model = export_onnx(call, {"x": torch.randn(FEATURES)}, tmp_path)
    fresh = torch.randn(FEATURES)
    assert largest_error(model({"x": fresh}), named(call(fresh))) < TOLERANCE


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}], ids=variant_id)
def test_lstm_with_projections(options: dict[str, Any], tmp_path: Path) -> None:
    """ONNX's LSTM has no projection: it is spelled out."""
    network = nn.LSTM(FEATURES, HIDDEN, proj_size=3, **options)
    operators = check_network("lstm", network, options, tmp_path)
    assert "LSTM" not in operators


@pytest.mark.parametrize("kind", NETWORKS)
def test_float64(kind: str, tmp_path: Path) -> None:
    network = NETWORKS[kind](FEATURES, HIDDEN, bidirectional=True).double().eval()

    def inputs() -> Tensors:
        return {name: value.double() for name, value in {"x": sequence({}), **states(kind, network)}.items()}

    model = export_onnx(lambda *given: run(network, *given), inputs(), tmp_path)
    fresh = inputs()
    assert largest_error(model(fresh), named(run(network, *fresh.values()))) < 1e-12


@pytest.mark.parametrize("lengths", [[4, 4, 4], [5, 3, 1]], ids=["alike", "ragged"])
@pytest.mark.parametrize("kind", NETWORKS)
def test_packed_sequences(kind: str, lengths: list[int], tmp_path: Path) -> None:
    network = NETWORKS[kind](FEATURES, HIDDEN, num_layers=2, bidirectional=True).eval()

    def call(x: Tensor) -> list[Tensor]:
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths))
        output, last = network(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(output, padding_value=-1.0, total_length=max(lengths) + 1)
        return [output.data, padded, *(last if isinstance(last, tuple) else (last,))]

    def given() -> Tensors:
        return {"x": torch.randn(max(lengths), len(lengths), FEATURES)}

    model = export_onnx(call, given(), tmp_path)
    fresh = given()
    assert largest_error(model(fresh), named(call(fresh["x"]))) < TOLERANCE


@pytest.mark.parametrize("opset", [13, 23])
@pytest.mark.parametrize("kind", NETWORKS)
def test_oldest_and_newest_opset(kind: str, opset: int, tmp_path: Path) -> None:
    network = NETWORKS[kind](FEATURES, HIDDEN, num_layers=2, bidirectional=True).eval()
    first = {"x": sequence({}), **states(kind, network)}
    model = export_onnx(lambda *inputs: run(network, *inputs), first, tmp_path, {"opset_version": opset})
    assert model.proto.opset_import[0].version == opset
    fresh = {"x": sequence({}), **states(kind, network)}
    assert largest_error(model(fresh), named(run(network, *fresh.values()))) < TOLERANCE


def test_reordered_weights_are_stored_once(tmp_path: Path) -> None:
    network = nn.GRU(32, 64).eval()
    model = export_onnx(lambda x: run(network, x), {"x": torch.randn(3, 1, 32)}, tmp_path)
    weights = sum(parameter.numel() * 4 for parameter in network.parameters())
    assert model.path.stat().st_size < 1.02 * weights + 4096
