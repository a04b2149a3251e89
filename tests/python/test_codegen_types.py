# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The source form, type by type of element: bit for bit what LEAPP's own engine gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import codegen_kit as kit
import leapp
import numpy as np
import onnx
from onnx import TensorProto, helper

Array = kit.Array

INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8)
TARGETS = (
    TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BOOL, TensorProto.UINT8, TensorProto.INT8,
    TensorProto.INT16, TensorProto.INT32, TensorProto.INT64,
)  # fmt: skip
EXTREMES = [0, 1, -1, -7, 100, 127]


Typed = tuple[onnx.ModelProto, dict[str, Array], dict[str, Array]]  # model, inputs, what the outputs look like


def arithmetic(dtype: Any) -> Typed:
    """Everything that the engine does with integers of one type, in one graph."""
    low = np.iinfo(dtype).min
    a = np.resize(np.array([low, np.iinfo(dtype).max, *(x for x in EXTREMES if x >= low)], dtype), 8)
    b = np.array([3, 2, 5, 7, 1, 4, 9, 6], dtype)
    if low < 0:
        b[:3] = [-1, -2, 5]
    nodes = []
    for op in [
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Max",
        "Min",
        "Less",
        "LessOrEqual",
        "Greater",
        "GreaterOrEqual",
        "Equal",
        "Mod",
    ]:
        nodes.append(helper.make_node(op, ["a", "b"], [f"r{len(nodes)}"]))
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        nodes.append(helper.make_node(op, ["a", "b"], [f"r{len(nodes)}"]))
    for op in ("Neg", "Abs", "Sign", "BitwiseNot", "Relu"):
        nodes.append(helper.make_node(op, ["a"], [f"r{len(nodes)}"]))
    nodes.append(helper.make_node("Pow", ["b", "two"], [f"r{len(nodes)}"]))
    nodes.append(helper.make_node("Clip", ["a", "one", "two"], [f"r{len(nodes)}"]))
    for op in ("ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare"):
        nodes.append(helper.make_node(op, ["a"], [f"r{len(nodes)}"], keepdims=0))
    nodes.append(helper.make_node("CumSum", ["a", "zero"], [f"r{len(nodes)}"]))
    nodes.append(helper.make_node("MatMul", ["a", "b"], [f"r{len(nodes)}"]))
    nodes.append(helper.make_node("ArgMin", ["a"], [f"r{len(nodes)}"], axis=0))
    for reduction in ("none", "add", "mul", "max", "min"):
        nodes.append(helper.make_node("ScatterElements", ["a", "places", "b"], [f"r{len(nodes)}"], reduction=reduction))
    for wide in TARGETS:
        nodes.append(helper.make_node("Cast", ["a"], [f"r{len(nodes)}"], to=wide))
    constants = {
        "one": np.array(1, dtype),
        "two": np.array(2, dtype),
        "zero": np.array(0),
        "places": np.array([1, 0, 3, 2, -1, 5, 4, 6]),
    }
    results = {}
    for node in nodes:
        kind = dtype
        if node.op_type in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"):
            kind = np.bool_
        elif node.op_type == "ArgMin":
            kind = np.int64
        elif node.op_type == "Cast":
            kind = helper.tensor_dtype_to_np_dtype(node.attribute[0].i)
        shape = (
            ()
            if node.op_type.startswith("Reduce") or node.op_type == "MatMul"
            else (1,)
            if node.op_type == "ArgMin"
            else (8,)
        )
        results[node.output[0]] = np.zeros(shape, kind)
    return kit.graph_model(nodes, {"a": a, "b": b}, constants, results), {"a": a, "b": b}, results


def rounding(dtype: Any) -> Typed:
    """Floats as every other type: halves, denormals, what does not fit, what is no number."""
    wide = [
        0.5,
        1.5,
        2.5,
        -0.0,
        6e-8,
        3e-8,
        1e-5,
        65519,
        65520,
        1e30,
        -1e30,
        np.inf,
        -np.inf,
        127.9,
        -128.9,
        3e9,
        1.9e19,
    ]
    with np.errstate(over="ignore"):
        x = np.array(wide, np.float64).astype(dtype)
    targets = (*TARGETS, TensorProto.BFLOAT16)
    nodes = []
    for i, target in enumerate(targets):
        nodes.append(helper.make_node("Cast", ["x"], [f"c{i}"], to=target))
        # A bundle has no bfloat16 that NumPy could read.
        nodes.append(helper.make_node("Cast", [f"c{i}"], [f"r{i}"], to=TensorProto.DOUBLE))
    results = {f"r{i}": np.zeros(x.shape) for i in range(len(targets))}
    return kit.graph_model(nodes, {"x": x}, {}, results), {"x": x}, results


def test_every_type_of_element_as_the_engine_has_it(tmp_path: Path) -> None:
    """Bit for bit: nothing here is a matter of rounding."""
    cases = [arithmetic(dtype) for dtype in INTEGERS] + [
        rounding(dtype) for dtype in (np.float32, np.float64, np.float16)
    ]
    sources, expected = [], []
    for i, (model, feeds, outputs) in enumerate(cases):
        bundle = kit.write_bundle(tmp_path / f"types_{i}", model, feeds, outputs)
        manager = leapp.InferenceManager(bundle, engine="native")
        expected.append(
            {name: np.asarray(value) for name, value in manager({f"node/{n}": a for n, a in feeds.items()}).items()}
        )
        name = kit.generate(bundle, tmp_path / f"source_{i}")
        sources.append(
            kit.Source(name, tmp_path / f"source_{i}", {port: array[None] for port, array in feeds.items()}, 1)
        )
    for (model, _, _), found, right in zip(cases, kit.step_all(sources, tmp_path), expected, strict=True):
        made = {node.output[0]: node.op_type for node in model.graph.node}
        for port, values in right.items():
            got = found[port][0].reshape(values.shape)
            np.testing.assert_array_equal(got, values, err_msg=f"{made[port.removeprefix('node/')]} {values.dtype}")
