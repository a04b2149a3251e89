# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The source form, type by type of element: bit for bit what LEAPP's own engine gives."""

from __future__ import annotations

from collections.abc import Iterator
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
    if dtype is np.uint8:
        for direction in ("LEFT", "RIGHT"):
            nodes.append(helper.make_node("BitShift", ["a", "b"], [f"r{len(nodes)}"], direction=direction))
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
    for i, reduction in enumerate(("none", "add", "mul", "max", "min"), len(targets)):
        nodes.append(helper.make_node("ScatterElements", ["x", "places", "x"], [f"c{i}"], reduction=reduction))
        nodes.append(helper.make_node("Cast", [f"c{i}"], [f"r{i}"], to=TensorProto.DOUBLE))
    results = {f"r{i}": np.zeros(x.shape) for i in range(len(targets) + 5)}
    places = {"places": np.arange(x.size)[::-1].copy()}
    return kit.graph_model(nodes, {"x": x}, places, results), {"x": x}, results


def half_layers(dtype: int) -> Typed:
    """A convolution and a recurrent layer with weights of 16 bits."""
    random = np.random.default_rng(8)

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return helper.make_tensor(name, dtype, shape, random.standard_normal(shape).flatten() / 2)

    nodes = [
        helper.make_node("Cast", ["x"], ["image"], to=dtype),
        helper.make_node("Conv", ["image", "w"], ["features"], pads=[1, 1, 1, 1]),
        helper.make_node("Reshape", ["features", "rows"], ["sequence"]),
        helper.make_node("GRU", ["sequence", "gw", "gr", "gb"], ["", "last"], hidden_size=5),
        helper.make_node("LSTM", ["sequence", "lw", "lr"], ["", "h"], hidden_size=5),
        helper.make_node("Add", ["last", "h"], ["both"]),
        helper.make_node("Cast", ["both"], ["y"], to=TensorProto.FLOAT),
    ]
    inputs = {"x": random.standard_normal((1, 2, 4, 4)).astype(np.float32)}
    outputs = {"y": np.zeros((1, 1, 5), np.float32)}
    model = kit.graph_model(nodes, inputs, {"rows": np.array([6, 1, 8])}, outputs)
    model.graph.initializer.extend(
        [weights("w", 3, 2, 3, 3), weights("gw", 1, 15, 8), weights("gr", 1, 15, 5), weights("gb", 1, 30)]
    )
    model.graph.initializer.extend([weights("lw", 1, 20, 8), weights("lr", 1, 20, 5)])
    return model, inputs, outputs


def both_ways(cases: list[Typed], folder: Path) -> Iterator[tuple[Typed, kit.Steps, kit.Steps]]:
    """Each case, what its source gives, and what LEAPP's own engine gives."""
    sources, expected = [], []
    for i, (model, feeds, outputs) in enumerate(cases):
        bundle = kit.write_bundle(folder / f"types_{i}", model, feeds, outputs)
        results = leapp.InferenceManager(bundle, engine="native")({f"node/{n}": a for n, a in feeds.items()})
        expected.append({name: np.asarray(value) for name, value in results.items()})
        name = kit.generate(bundle, folder / f"source_{i}")
        one_step = {port: array[None] for port, array in feeds.items()}
        sources.append(kit.Source(name, folder / f"source_{i}", one_step, 1))
    return zip(cases, kit.step_all(sources, folder), expected, strict=True)


def test_every_type_of_element_as_the_engine_has_it(tmp_path: Path) -> None:
    """Bit for bit: nothing here is a matter of rounding."""
    cases = [arithmetic(dtype) for dtype in INTEGERS]
    cases += [rounding(dtype) for dtype in (np.float32, np.float64, np.float16)]
    for (model, _, _), found, right in both_ways(cases, tmp_path):
        made = {node.output[0]: node.op_type for node in model.graph.node}
        for port, values in right.items():
            got = found[port][0].reshape(values.shape)
            text = f"{made[port.removeprefix('node/')]} {port} {values.dtype}"
            np.testing.assert_array_equal(got, values, err_msg=text)


def test_layers_with_weights_of_16_bits(tmp_path: Path) -> None:
    """They are stored as they are; the tolerance is what 8 bits of mantissa leave of a sum."""
    cases = [half_layers(TensorProto.FLOAT16), half_layers(TensorProto.BFLOAT16)]
    for tolerance, (_, found, right) in zip((2e-3, 2e-2), both_ways(cases, tmp_path), strict=True):
        np.testing.assert_allclose(found["node/y"].ravel(), right["node/y"].ravel(), atol=tolerance)
    assert "const Float16 node_gr[75] = {" in (tmp_path / "source_0/types_0.cpp").read_text()
    assert "const BFloat16 node_gr[75] = {" in (tmp_path / "source_1/types_1.cpp").read_text()
