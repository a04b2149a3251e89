# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Writes models/*.onnx, small models that the C++ tests of the engine and of the runtime load.

    make_models.py [FOLDER]

The files are kept in the repository, so that the tests need no Python; run this after a change here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, checker, helper, numpy_helper, save

PORT_TYPES = {
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "bfloat16": TensorProto.BFLOAT16,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8,
    "bool": TensorProto.BOOL,
}


def port(name: str, shape: list[int | str], dtype: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name: str, value: np.ndarray) -> TensorProto:
    return numpy_helper.from_array(value, name)


def model(
    nodes: list[NodeProto],
    inputs: list[ValueInfoProto],
    outputs: list[ValueInfoProto],
    constants: list[TensorProto] | None = None,
) -> ModelProto:
    graph = helper.make_graph(nodes, "test", inputs, outputs, constants or [])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8, producer_name="test")
    checker.check_model(made)
    return made


def affine(scale: float, offset: float) -> ModelProto:
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["scaled"]),
        helper.make_node("Add", ["scaled", "offset"], ["y"]),
    ]
    constants = [constant("scale", np.float32(scale)), constant("offset", np.float32(offset))]
    return model(nodes, [port("x", [1, 4])], [port("y", [1, 4])], constants)


def every_type() -> ModelProto:
    """One pair of ports of each type; what goes in comes out."""
    nodes = [helper.make_node("Identity", [f"{name}_in"], [f"{name}_out"]) for name in PORT_TYPES]
    return model(
        nodes,
        [port(f"{name}_in", [2, 3], dtype) for name, dtype in PORT_TYPES.items()],
        [port(f"{name}_out", [2, 3], dtype) for name, dtype in PORT_TYPES.items()],
    )


def pick() -> ModelProto:
    """y = table[index]: fails for an index outside the table."""
    table = constant("table", np.arange(5, dtype=np.float32) * 10)
    nodes = [helper.make_node("Gather", ["table", "index"], ["y"])]
    return model(nodes, [port("index", [2], TensorProto.INT64)], [port("y", [2])], [table])


def dynamic() -> ModelProto:
    """Any number of rows; the second output has as many as are positive in the first column."""
    nodes = [
        helper.make_node("Add", ["x", "x"], ["doubled"]),
        helper.make_node("Greater", ["x", "zero"], ["mask"]),
        helper.make_node("NonZero", ["mask"], ["positions"]),
    ]
    outputs = [port("doubled", ["rows", 4]), port("positions", [2, "count"], TensorProto.INT64)]
    return model(nodes, [port("x", ["rows", 4])], outputs, [constant("zero", np.float32(0))])


def divide() -> ModelProto:
    """Integer division: the processor itself objects to a zero."""
    nodes = [helper.make_node("Div", ["a", "b"], ["quotient"])]
    ports = [port("a", [3], TensorProto.INT64), port("b", [3], TensorProto.INT64)]
    return model(nodes, ports, [port("quotient", [3], TensorProto.INT64)])


def no_tensor() -> ModelProto:
    """An output that is a sequence."""
    nodes = [helper.make_node("SequenceConstruct", ["x"], ["y"])]
    return model(nodes, [port("x", [2])], [helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, [2])])


def warns() -> ModelProto:
    """ONNX Runtime complains about the constant that nobody uses."""
    made = affine(2, 1)
    made.graph.initializer.append(constant("nobody_uses_this", np.zeros(3, np.float32)))
    return made


def filter_step() -> ModelProto:
    """h_out = 0.5 h_in + x, y = 2 h_out: a recurrent node."""
    nodes = [
        helper.make_node("Mul", ["h_in", "half"], ["decayed"]),
        helper.make_node("Add", ["decayed", "x"], ["h_out"]),
        helper.make_node("Mul", ["h_out", "two"], ["y"]),
    ]
    constants = [constant("half", np.float32(0.5)), constant("two", np.float32(2))]
    ports = [port("x", [1, 4]), port("h_in", [1, 4])]
    return model(nodes, ports, [port("y", [1, 4]), port("h_out", [1, 4])], constants)


def mix() -> ModelProto:
    """Two inputs, two outputs, and an index that can be wrong."""
    nodes = [
        helper.make_node("Add", ["a", "b"], ["total"]),
        helper.make_node("Gather", ["a", "index"], ["picked"], axis=1),
    ]
    inputs = [port("a", [1, 4]), port("b", [1, 4]), port("index", [1], TensorProto.INT64)]
    return model(nodes, inputs, [port("total", [1, 4]), port("picked", [1, 1])])


def external(location: str) -> ModelProto:
    """y = x + weights, which are the 16 bytes in another file."""
    nodes = [helper.make_node("Add", ["x", "weights"], ["y"])]
    weights = constant("weights", np.arange(4, dtype=np.float32))
    made = model(nodes, [port("x", [1, 4])], [port("y", [1, 4])], [weights])
    stored = made.graph.initializer[0]
    stored.ClearField("raw_data")
    stored.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": "0", "length": "16"}.items():
        stored.external_data.add(key=key, value=value)
    return made


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "models"
    folder.mkdir(exist_ok=True)
    models = {
        "affine": affine(2, 1),
        "halve": affine(0.5, 0),
        "every_type": every_type(),
        "pick": pick(),
        "dynamic": dynamic(),
        "divide": divide(),
        "no_tensor": no_tensor(),
        "warns": warns(),
        "filter": filter_step(),
        "mix": mix(),
        "external": external("weights.data"),
        "external_outside": external("../weights.data"),
    }
    for name, made in models.items():
        save(made, folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
