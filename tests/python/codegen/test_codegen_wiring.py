# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The source form of pipelines with much feedback and with odd names inside."""

from __future__ import annotations

from pathlib import Path

import codegen_kit as kit
import numpy as np
import yaml
from onnx import TensorProto, helper
from test_codegen import STEPS, relative


def test_one_output_that_feeds_back_to_several_inputs(tmp_path: Path) -> None:
    """States of several types with values of their own; an output that is fed back and given to the caller."""
    nodes = [
        helper.make_node("Mul", ["a", "half"], ["a_half"]),
        helper.make_node("Add", ["a_half", "b"], ["sum"]),
        helper.make_node("Add", ["sum", "x"], ["s"]),
        helper.make_node("Tanh", ["s"], ["next"]),
        helper.make_node("Add", ["count", "one"], ["count_next"]),
        helper.make_node("Not", ["flag"], ["flag_next"]),
        helper.make_node("Where", ["flag", "next", "x"], ["y"]),
        helper.make_node("Cast", ["count_next"], ["seen"], to=TensorProto.FLOAT),
    ]
    inputs = {"x": np.zeros((1, 3), np.float32), "a": np.zeros((1, 3), np.float32), "b": np.zeros((1, 3), np.float32),
              "count": np.zeros(1, np.int64), "flag": np.zeros((1, 1), np.bool_)}  # fmt: skip
    outputs = {
        "next": inputs["x"],
        "y": inputs["x"],
        "count_next": inputs["count"],
        "flag_next": inputs["flag"],
        "seen": np.zeros(1, np.float32),
    }
    model = kit.graph_model(nodes, inputs, {"half": np.float32([0.5]), "one": np.array([1])}, outputs)
    bundle = kit.write_bundle(tmp_path / "wired", model, inputs, outputs)
    values = {
        "node/a": np.float32([[1, -2, 0.5]]),
        "node/b": np.float32([[0.25, 0.5, -1]]),
        "node/count": np.array([41]),
        "node/flag": np.array([[True]]),
    }
    kit.write_initial_values(bundle / "wired_initial_values.safetensors", values)
    spec = yaml.safe_load((bundle / "wired.yaml").read_text())
    spec["pipeline"].update(
        feedback_flow={
            "node/next": ["node/a", "node/b"],
            "node/count_next": ["node/count"],
            "node/flag_next": ["node/flag"],
        },
        inputs={"node": ["x"]},
        outputs={"node": ["y", "next", "seen"]},
        initial_values="wired_initial_values.safetensors",
    )
    (bundle / "wired.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    given, right = kit.steps_of_bundle(bundle, STEPS, tmp_path)
    name = kit.generate(bundle, tmp_path / "source")
    (found,) = kit.step_all([kit.Source(name, tmp_path / "source", given, STEPS)], tmp_path)
    assert found.keys() == right.keys()
    assert right["node/seen"].ravel()[-1] == 141
    for port, values_of in right.items():
        assert relative(found[port], values_of) < 1e-5, port


def test_values_inside_may_be_called_anything(tmp_path: Path) -> None:
    """Names of tensors are names of variables: none may hide a helper, a parameter or another one."""
    names = [
        "i",
        "state",
        "inputs",
        "outputs",
        "copy",
        "fill",
        "dense",
        "step",
        "T",
        "class",
        "x0",
        "t0",
        "int32_t",
        "expf",
        "a_b",
        "NAN",
        "*/",
        "value_1",
        "float",
        "walk",
        "at",
        "r",
    ]
    names += ["dot", "place", "a b", "\n", "π"]
    nodes, last = [], "x"
    for name in names:
        nodes.append(
            helper.make_node(
                "Cast", [last], [name], to=TensorProto.DOUBLE if len(nodes) % 2 == 0 else TensorProto.FLOAT
            )
        )
        last = name
    nodes.append(helper.make_node("MatMul", ["x", "identity"], ["h"], name="sigmoid"))
    nodes.append(helper.make_node("Cast", [last], ["end"], to=TensorProto.FLOAT))
    nodes.append(helper.make_node("Add", ["end", "h"], ["y"]))
    feeds = {"x": np.array([[1, 2]], np.float32)}
    model = kit.graph_model(nodes, feeds, {"identity": np.float32([[1, 3], [0, 1]])}, {"y": feeds["x"]})
    bundle = kit.write_bundle(tmp_path / "walk", model, feeds, {"y": feeds["x"]})
    name = kit.generate(bundle, tmp_path / "source")
    (found,) = kit.step_all([kit.Source(name, tmp_path / "source", {"node/x": feeds["x"][None]}, 1)], tmp_path)
    np.testing.assert_array_equal(found["node/y"].ravel(), [2, 7])
