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


def pick(size: int) -> ModelProto:
    """y = table[index]: fails for an index outside the table."""
    table = constant("table", np.arange(size, dtype=np.float32) * 10)
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


def control() -> ModelProto:
    """Bodies that reach for what is outside them: If and Loop inside If for x and the constants, Scan for a bias."""
    bigger = helper.make_graph(
        [helper.make_node("Mul", ["x", "factor"], ["branch"])], "bigger", [], [port("branch", [1, 4])]
    )
    count = [port("i", [], TensorProto.INT64), port("go", [], TensorProto.BOOL), port("sum", [1, 4])]
    step = helper.make_graph(
        [helper.make_node("Add", ["sum", "x"], ["next"]), helper.make_node("Identity", ["go"], ["still"])],
        *("step", count, [port("still", [], TensorProto.BOOL), port("next", [1, 4])]),
    )
    looped = helper.make_node("Loop", ["three", "", "start"], ["looped"], body=step)
    smaller = helper.make_graph(
        [looped], "smaller", [], [port("looped", [1, 4])], [constant("start", np.full((1, 4), 0.125, np.float32))]
    )
    row = helper.make_graph(
        [
            helper.make_node("Add", ["before", "item"], ["biased"]),
            helper.make_node("Mul", ["biased", "factor"], ["after"]),
            helper.make_node("Identity", ["after"], ["kept"]),
        ],
        *("row", [port("before", []), port("item", [])], [port("after", []), port("kept", [])]),
    )
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0),
        helper.make_node("Greater", ["total", "zero"], ["positive"]),
        helper.make_node("If", ["positive"], ["chosen"], then_branch=bigger, else_branch=smaller),
        helper.make_node("Reshape", ["chosen", "flat"], ["items"]),
        helper.make_node("Scan", ["zero", "items"], ["last", "all"], body=row, num_scan_inputs=1),
        helper.make_node("Add", ["h_in", "last"], ["h_out"]),
        helper.make_node("Reshape", ["all", "shape"], ["rows"]),
        helper.make_node("Add", ["rows", "h_out"], ["y"]),
    ]
    constants = [
        constant("factor", np.float32(0.75)),
        constant("zero", np.float32(0)),
        constant("three", np.int64(3)),
        constant("flat", np.array([4], np.int64)),
        constant("shape", np.array([1, 4], np.int64)),
    ]
    ports = [port("x", [1, 4]), port("h_in", [1, 4])]
    return model(nodes, ports, [port("y", [1, 4]), port("h_out", [1, 4])], constants)


def functions(offset: float) -> ModelProto:
    """A function that calls another; models with another offset have the same names and another meaning."""
    value = numpy_helper.from_array(np.float32(offset), "value")
    opset = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    inner = helper.make_function(
        *("local", "shift", ["a"], ["b"]),
        [helper.make_node("Constant", [], ["c"], value=value), helper.make_node("Add", ["a", "c"], ["b"])],
        opset,
    )
    outer = helper.make_function(
        *("local", "shift_twice", ["a"], ["b"]),
        [
            helper.make_node("shift", ["a"], ["c"], domain="local"),
            helper.make_node("shift", ["c"], ["b"], domain="local"),
        ],
        opset,
    )
    nodes = [helper.make_node("shift_twice", ["x"], ["y"], domain="local", name="call")]
    graph = helper.make_graph(nodes, "test", [port("x", [1, 4])], [port("y", [1, 4])])
    made = helper.make_model(graph, opset_imports=opset, ir_version=9, functions=[inner, outer])
    made.metadata_props.add(key="offset", value=str(offset))
    checker.check_model(made)
    return made


def sparse() -> ModelProto:
    """y = x + weights, which are 0 2 0 3 and stored as two of them."""
    made = model(
        [helper.make_node("Add", ["x", "weights"], ["y"], name="add")],
        [port("x", [1, 4])],
        [port("y", [1, 4])],
        [constant("weights", np.array([0, 2, 0, 3], np.float32))],
    )
    made.graph.ClearField("initializer")
    made.graph.sparse_initializer.append(
        helper.make_sparse_tensor(
            constant("weights", np.array([2, 3], np.float32)), constant("places", np.array([1, 3], np.int64)), [4]
        )
    )
    return made


def listed(ir_version: int) -> ModelProto:
    """Constants that are inputs too, as they had to be before version 4; from then on the caller may replace them."""
    nodes = [helper.make_node("Mul", ["x", "scale"], ["y"])]
    inputs = [port("scale", [1, 4]), port("x", [1, 4])]
    scale = constant("scale", np.full((1, 4), 1.5, np.float32))
    graph = helper.make_graph(nodes, "test", inputs, [port("y", [1, 4])], [scale])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=ir_version)


def through() -> ModelProto:
    """An input that is an output, a constant that is an output, and y = x."""
    nodes = [helper.make_node("Mul", ["x", "one"], ["y"])]
    outputs = [port("x", [1, 4]), port("limits", [2]), port("y", [1, 4])]
    constants = [constant("one", np.float32(1)), constant("limits", np.array([-1, 1], np.float32))]
    return model(nodes, [port("x", [1, 4])], outputs, constants)


def limit() -> ModelProto:
    """y = x within limits that are an input."""
    nodes = [
        helper.make_node("Split", ["limits"], ["low", "high"], num_outputs=2),
        helper.make_node("Max", ["x", "low"], ["raised"]),
        helper.make_node("Min", ["raised", "high"], ["y"]),
    ]
    return model(nodes, [port("x", [1, 4]), port("limits", [2])], [port("y", [1, 4])])


def symbols(rows: int) -> ModelProto:
    """Extents with the same name as in other models, and another value."""
    nodes = [
        helper.make_node("Concat", ["x"] * rows, ["tall"], axis=0),
        helper.make_node("ReduceSum", ["tall", "axis"], ["y"], keepdims=1),
    ]
    made = model(nodes, [port("x", ["n", 4])], [port("y", ["n", 4])], [constant("axis", np.array([0], np.int64))])
    made.graph.value_info.append(port("tall", ["m", 4]))
    return made


def older() -> ModelProto:
    """Like affine, from an earlier operator set."""
    made = affine(2, 1)
    made.opset_import[0].version = 17
    return made


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


def broken_by_rewrites() -> dict[str, ModelProto]:
    """Right models that ONNX Runtime 1.31.1 breaks, one for each of the rewrites that the engine leaves out."""
    swap = helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0])
    square = [port("x", [4, 4])], [port("y", [4, 4])]
    numbers = np.arange(16, dtype=np.float32).reshape(4, 4) / 8
    statistics = [constant(name, numbers[i] + 1) for i, name in enumerate(["scale", "shift", "mean", "variance"])]
    product = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Transpose", ["p"], ["q"], perm=[1, 0])]
    normal = helper.make_node("BatchNormalization", ["q", "scale", "shift", "mean", "variance"], ["y"])
    pads = constant("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1]))
    pool = helper.make_node("MaxPool", ["p"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    other = helper.make_node("Transpose", ["z"], ["u"], perm=[1, 0])
    return {
        "transpose_matmul": model(
            [swap, helper.make_node("MatMul", ["t", "v"], ["y"])],
            square[0],
            [port("y", [4])],
            [constant("v", numbers[1])],
        ),
        "matmul_batch_norm": model([*product, normal], *square, [constant("w", numbers), *statistics]),
        "pad_max_pool": model(
            [helper.make_node("Pad", ["x", "pads"], ["p"]), pool],
            [port("x", [1, 1, 4, 4])],
            [port("y", [1, 1, 3, 3])],
            [pads],
        ),
        "divide_multiply": model(
            [helper.make_node("Div", ["one", "x"], ["d"]), helper.make_node("Mul", ["d", "six"], ["y"])],
            [port("x", [4], TensorProto.INT64)],
            [port("y", [4], TensorProto.INT64)],
            [constant("one", np.array(1)), constant("six", np.array(6))],
        ),
        "transpose_gemm": model(
            [swap, other, helper.make_node("Gemm", ["t", "u"], ["y"])],
            [port("x", [4, 4]), port("z", [4, 4])],
            [port("y", [4, 4]), port("t", [4, 4])],
        ),
    }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "models"
    folder.mkdir(exist_ok=True)
    models = {
        "affine": affine(2, 1),
        "halve": affine(0.5, 0),
        "every_type": every_type(),
        "pick": pick(5),
        "pick_first": pick(1),
        "dynamic": dynamic(),
        "divide": divide(),
        "no_tensor": no_tensor(),
        "warns": warns(),
        "filter": filter_step(),
        "mix": mix(),
        "control": control(),
        "functions_2": functions(2),
        "functions_3": functions(3),
        "sparse": sparse(),
        "listed": listed(3),
        "replaceable": listed(8),
        "through": through(),
        "limit": limit(),
        "symbols_2": symbols(2),
        "symbols_3": symbols(3),
        "older": older(),
        "external": external("weights.data"),
        "external_outside": external("../weights.data"),
        **broken_by_rewrites(),
    }
    for name, made in models.items():
        save(made, folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
