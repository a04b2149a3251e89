# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The model file itself: names, size, bytes, lines, no warnings."""

from __future__ import annotations

from pathlib import Path

import onnxruntime
import pytest
import torch
from harness import assert_same, line_of
from onnx_models import WARNINGS_ARE_ERRORS, OnnxExported, export, session_options
from torch import nn


def mlp() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(48, 256), nn.ELU(), nn.Linear(256, 128), nn.ELU(), nn.Linear(128, 12)).eval()


@pytest.fixture(name="policy")
def exported_policy(tmp_path: Path) -> OnnxExported:
    return export(mlp(), [torch.randn(1, 48)], tmp_path)


def test_a_policy_is_small_and_clean(policy: OnnxExported) -> None:
    weights = sum(p.numel() * p.element_size() for p in mlp().parameters())
    assert len(policy.bytes) <= 1.02 * weights + 64 * 1024
    assert [node.op_type for node in policy.model.graph.node] == ["Gemm", "Elu", "Gemm", "Elu", "Gemm"]
    x = torch.randn(1, 48)
    assert_same([mlp()(x)], policy(x))


def test_weights_keep_their_names(policy: OnnxExported) -> None:
    names = {tensor.name for tensor in policy.model.graph.initializer}
    assert {name for name, _ in mlp().named_parameters()} <= {name.split("/")[-1] for name in names}


def test_the_same_model_gives_the_same_bytes(policy: OnnxExported, tmp_path: Path) -> None:
    again = export(mlp(), [torch.randn(1, 48)], tmp_path / "again")
    assert again.bytes == policy.bytes


def test_ports_have_their_names_and_shapes(policy: OnnxExported) -> None:
    (port,) = policy.session.get_inputs()
    assert (port.name, port.shape, port.type) == ("x0", [1, 48], "tensor(float)")
    (port,) = policy.session.get_outputs()
    assert (port.name, port.shape, port.type) == ("y0", [1, 12], "tensor(float)")
    assert policy.yaml["models"]["node"]["parameters"]["opset_version"] == 18
    assert policy.yaml["models"]["node"]["parameters"]["backend"] == "onnx"


def test_it_loads_without_a_warning(policy: OnnxExported, capfd: pytest.CaptureFixture[str]) -> None:
    options = session_options()
    options.log_severity_level = WARNINGS_ARE_ERRORS
    onnxruntime.InferenceSession(policy.bytes, options, providers=["CPUExecutionProvider"])
    assert capfd.readouterr().err == ""


def test_one_weight_used_twice_is_stored_once(tmp_path: Path) -> None:
    weight = torch.randn(64, 64)
    exported = export(lambda x: torch.relu(x @ weight) @ weight, [torch.randn(1, 64)], tmp_path)
    assert len(exported.model.graph.initializer) == 1


def test_nodes_name_the_users_line(tmp_path: Path) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = torch.sin(x)  # here
        return y + 1

    exported = export(program, [torch.randn(3)], tmp_path)
    expected = f"{Path(__file__).name}:{line_of(program, '# here')}"
    (sin,) = (node for node in exported.model.graph.node if node.op_type == "Sin")
    assert sin.doc_string.endswith(expected)


def test_inputs_and_values_may_be_returned_twice(tmp_path: Path) -> None:
    def program(x: torch.Tensor) -> list[torch.Tensor]:
        y = torch.sin(x)
        return [x, y, y.clone(), x.clone()]

    x = torch.randn(3)
    exported = export(program, [x], tmp_path)
    assert_same(program(x), exported(x))


@pytest.mark.parametrize(("opset", "ir"), [(13, 7), (15, 8), (18, 8), (19, 9), (21, 10), (23, 11)])
def test_the_lowest_ir_version_that_is_legal(opset: int, ir: int, tmp_path: Path) -> None:
    model = export(torch.sin, [torch.randn(3)], tmp_path, opset_version=opset).model
    assert model.ir_version == ir
    assert model.producer_name == "leapp"
    assert export(torch.sin, [torch.randn(3)], tmp_path, opset_version=opset, ir_version=11).model.ir_version == 11
