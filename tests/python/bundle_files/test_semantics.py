# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""TensorSemantics, kinds, temporal axes, extra keys and configs of the graph: what the YAML says about them."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from harness import read_yaml
from leapp import GraphConfigs, InputKindEnum, OutputKindEnum, TemporalAxis, TensorSemantics, annotate


def exported(tmp_path: Path, inputs: Any, static: Any = None, **options: Any) -> dict[str, Any]:
    leapp.start("g", save_path=tmp_path)
    found = annotate.input_tensors("n", inputs)
    first = found[0] if isinstance(found, tuple) else found
    annotate.output_tensors("n", {"y": first * 2}, static_outputs=static, export_with="jit")
    leapp.stop()
    leapp.compile_graph(**options)
    return read_yaml(tmp_path / "g")


def port(tmp_path: Path, **fields: Any) -> dict[str, Any]:
    found = exported(tmp_path, TensorSemantics("x", **fields))["models"]["n"]["inputs"]
    assert len(found) == 1
    return found[0]


BUILT_IN = {"name": "x", "dtype": "float32", "type": "tensor"}


@pytest.mark.parametrize(
    ("shape", "given", "written"),
    [
        ((1,), "s", [["s"]]),
        ((2,), ["a", "b"], [["a", "b"]]),
        ((1, 2), ["a", "b"], [["a", "b"]]),
        ((2,), ("a", "b"), [["a", "b"]]),
        ((1, 2), [None, ["a", "b"]], [None, ["a", "b"]]),
        ((2, 1), [["a", "b"], None], [["a", "b"], None]),
        ((2, 2), [["a", "b"], ["c", "d"]], [["a", "b"], ["c", "d"]]),
        ((3,), ["on", "null", "1"], [["on", "null", "1"]]),
        ((3, 2), [None, None], [None, None]),
    ],
)
def test_element_names(shape: tuple[int, ...], given: Any, written: Any, tmp_path: Path) -> None:
    semantics = TensorSemantics("x", torch.ones(shape), element_names=given)
    assert semantics.to_dict() == {"element_names": written}
    found = port(tmp_path, ref=torch.ones(shape), element_names=given)
    assert found == BUILT_IN | {"shape": list(shape), "element_names": written}


@pytest.mark.parametrize("position", [0, 1])
def test_temporal_axis(position: int, tmp_path: Path) -> None:
    names: list[Any] = [["a", "b"], ["a", "b"]]
    names[position] = TemporalAxis(20.0)
    written = [["a", "b"], ["a", "b"]]
    written[position] = "__temporal_axis__"  # type: ignore[call-overload]
    fields = {"element_names": written, "temporal_period_ms": 20.0}
    assert TensorSemantics("x", torch.ones(2, 2), element_names=names).to_dict() == fields
    data = exported(tmp_path, TensorSemantics("x", torch.ones(2, 2), element_names=names))
    assert data["models"]["n"]["inputs"] == [BUILT_IN | {"shape": [2, 2]} | fields]
    assert data["system information"]["leapp config version"] == "1.3"


class Mine(enum.Enum):
    KIND = "mine/kind"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (InputKindEnum.BODY_VEL, "state/body/velocity"),
        (OutputKindEnum.KD, "kd"),
        ("any text", "any text"),
        (Mine.KIND, "mine/kind"),
    ],
)
def test_kinds(kind: Any, text: str, tmp_path: Path) -> None:
    assert TensorSemantics("x", None, kind).to_dict() == {"kind": text}
    assert port(tmp_path, ref=torch.ones(1), kind=kind)["kind"] == text


def test_the_kinds_that_there_are() -> None:
    """Their names and values are part of the format."""
    assert len(InputKindEnum) == 20
    assert len(OutputKindEnum) == 11
    values = [kind.value for kind in (*InputKindEnum, *OutputKindEnum)]
    assert len(set(values)) == 31
    assert {value.split("/")[0] for value in values} == {"state", "command", "target", "kp", "kd"}
    assert InputKindEnum.COMMAND_POSE.value == "command/body/pose"
    assert OutputKindEnum("target/joint/torques") is OutputKindEnum.JOINT_TORQUES


def test_extra(tmp_path: Path) -> None:
    extra = {"unit": "rad", "limits": [-1.5, 1.5], "nested": {"a": None, "b": True}, "n": 3, "e": Mine.KIND}
    extra["scalar"] = np.float32(0.5)
    found = port(tmp_path, ref=torch.ones(1), extra=extra)
    assert found == BUILT_IN | {"shape": [1]} | extra | {"e": "mine/kind", "scalar": 0.5}
    assert TensorSemantics("x", None, extra={"unit": "rad"}).to_dict() == {"unit": "rad"}
    assert TensorSemantics("x", None).to_dict() == {}


def test_lists_and_static_outputs(tmp_path: Path) -> None:
    static = TensorSemantics("kp", torch.tensor([20.0, 10.0]), OutputKindEnum.KP, ["hip", "knee"])
    inputs = [TensorSemantics("a", torch.ones(1), "first"), TensorSemantics("b", torch.ones(2), "second")]
    data = exported(tmp_path, inputs, [static])
    (kept,) = data["models"]["n"]["inputs"]  # b reaches no output
    assert (kept["name"], kept["kind"]) == ("a", "first")
    y, kp = data["models"]["n"]["outputs"]
    assert "kind" not in y
    assert (kp["name"], kp["kind"], kp["element_names"]) == ("kp", "kp", [["hip", "knee"]])
    assert data["system information"]["leapp config version"] == "1.1"


def test_semantics_of_outputs(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    back = annotate.output_tensors("n", TensorSemantics("y", x * 2, "target"), export_with="jit")
    assert back.tolist() == [2.0, 2.0]
    leapp.stop()
    leapp.compile_graph()
    assert read_yaml(tmp_path / "g")["models"]["n"]["outputs"][0]["kind"] == "target"


@pytest.mark.parametrize(
    ("configs", "written"),
    [
        (GraphConfigs(frequency=50), {"frequency": 50.0}),
        (GraphConfigs(extra={"robot": "a1", "ids": [1, 2]}), {"robot": "a1", "ids": [1, 2]}),
        (GraphConfigs(0.5, {"robot": "a1"}), {"frequency": 0.5, "robot": "a1"}),
    ],
)
def test_graph_configs(configs: GraphConfigs, written: dict[str, Any], tmp_path: Path) -> None:
    data = exported(tmp_path, {"x": torch.ones(1)}, graph_configs=configs)
    assert data["pipeline"]["configs"] == written
    assert data["system information"]["leapp config version"] == "1.3"


def test_no_graph_configs(tmp_path: Path) -> None:
    data = exported(tmp_path, {"x": torch.ones(1)}, graph_configs=GraphConfigs())
    assert "configs" not in data["pipeline"]
    assert data["system information"]["leapp config version"] == "1.1"


def test_frequency_among_the_extra_keys(tmp_path: Path) -> None:
    with pytest.raises(leapp.LeappValueError, match="frequency"):
        exported(tmp_path, {"x": torch.ones(1)}, graph_configs=GraphConfigs(extra={"frequency": 3}))
