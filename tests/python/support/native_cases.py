# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX, operator by operator and dtype by dtype, and what runs them: ONNX Runtime and LEAPP's own engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import onnx
import onnxruntime
import yaml
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
NAMES = {
    np.dtype(name): name
    for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
}
random = np.random.default_rng(3)


@dataclass
class Case:
    """One node. Inputs that are lists are constants of the model; None is left out."""

    op: str
    inputs: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    opset: int = 18
    tolerance: float = 2e-6

    def __str__(self) -> str:
        kinds = [
            f"{i.dtype}{list(i.shape)}" if isinstance(i, np.ndarray) else "c" for i in self.inputs if i is not None
        ]
        marks = [f"{key}={value}" for key, value in self.attributes.items()]
        return f"{self.op}({','.join(kinds)}){','.join(marks)}"[:90]


def floats(*shape: int) -> Array:
    return random.standard_normal(shape).astype(np.float32)


def model_of(case: Case) -> tuple[onnx.ModelProto, dict[str, Array]]:
    names, feeds, constants = [], {}, []
    for i, value in enumerate(case.inputs):
        names.append("" if value is None else f"x{i}")
        if isinstance(value, np.ndarray):
            feeds[f"x{i}"] = value
        elif value is not None:
            array = value[0] if isinstance(value[0], np.ndarray) else np.array(value, np.int64)
            constants.append(numpy_helper.from_array(array, f"x{i}"))
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, names, outputs, name="the_node", **case.attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for name, a in feeds.items()
    ]
    blank = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
    graph = helper.make_graph([node], "graph", inputs, blank, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model), feeds


def on_onnxruntime(model: onnx.ModelProto, feeds: dict[str, Array]) -> list[Array]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return [np.asarray(each) for each in session.run(None, feeds)]


def on_ours(model: onnx.ModelProto, feeds: dict[str, Array], results: list[Array], folder: Path) -> list[Array]:
    def port(name: str, array: Array) -> dict[str, Any]:
        return {"name": name, "dtype": NAMES[array.dtype], "shape": list(array.shape), "type": "tensor"}

    names = [output.name for output in model.graph.output]
    (folder / "bundle").mkdir()
    (folder / "bundle" / "node.onnx").write_bytes(model.SerializeToString())
    spec = {
        "models": {
            "node": {
                "inputs": [port(name, array) for name, array in feeds.items()],
                "outputs": [port(name, array) for name, array in zip(names, results, strict=True)],
                "parameters": {"backend": "onnx", "model_path": "node.onnx"},
            }
        },
        "pipeline": {
            "data_flow": {},
            "feedback_flow": {},
            "inputs": {"node": list(feeds)},
            "outputs": {"node": names},
        },
        "system information": {"leapp config version": "1.1"},
    }
    (folder / "bundle" / "bundle.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    manager = leapp.InferenceManager(folder / "bundle", engine="native")
    found = manager({f"node/{name}": array for name, array in feeds.items()})
    return [np.asarray(found[f"node/{name}"]) for name in names]


def elementwise() -> Iterator[Case]:
    small = floats(3, 5)
    inside = np.clip(small, -0.95, 0.95)
    for op in [
        "Abs",
        "Neg",
        "Exp",
        "Floor",
        "Ceil",
        "Round",
        "Sign",
        "Sin",
        "Cos",
        "Tan",
        "Atan",
        "Sinh",
        "Cosh",
        "Tanh",
        "Asinh",
        "Sigmoid",
        "Erf",
        "Relu",
        "LeakyRelu",
        "Elu",
        "Selu",
        "Celu",
    ]:
        yield Case(op, [small * 3])
    for op in ["ThresholdedRelu", "Softplus", "Softsign", "HardSigmoid", "HardSwish", "Mish", "IsNaN", "IsInf"]:
        yield Case(op, [np.array([-3, -0.0, 0.5, 2, 40, -40], np.float32)])
    for op in ("Asin", "Acos", "Atanh"):
        yield Case(op, [inside])
    for op in ("Log", "Sqrt", "Reciprocal", "Acosh"):
        yield Case(op, [np.abs(small) + 1])
    for approximate in ("none", "tanh"):
        yield Case("Gelu", [small], {"approximate": approximate}, opset=20)
    shapes = [((3, 5), (3, 5)), ((3, 5), (5,)), ((3, 1), (1, 5)), ((2, 1, 4), (3, 1)), ((1,), (2, 3, 4)), ((), (4,))]
    for op in ["Add", "Sub", "Mul", "Div", "Less", "Equal", "GreaterOrEqual", "Max", "Min"]:
        for a, b in shapes:
            yield Case(op, [floats(*a), floats(*b) + np.float32(0.1)])
    for dtype in (np.int32, np.int64, np.float64):
        numbers = random.integers(-9, 9, (2, 3)).astype(dtype)
        others = random.integers(1, 5, (3,)).astype(dtype)
        for op in ["Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "LessOrEqual", "Greater", "Equal"]:
            yield Case(op, [numbers, others])
        yield Case("Mod", [numbers, others], {"fmod": int(dtype == np.float64)})
        yield Case("Pow", [numbers, others])
        yield Case("Clip", [numbers, [np.array(-2, dtype)], [np.array(3, dtype)]])
        yield Case("Where", [numbers > 0, numbers, others])
    yield Case("Where", [small > 0, small, [np.array(7, np.float32)]])
    yield Case("Pow", [np.abs(small), [np.array(2.5, np.float32)]])
    yield Case("Pow", [small, [np.array(3, np.int64)]])
    for op in ("And", "Or", "Xor"):
        yield Case(op, [small > 0, small[:1] < 0.5])
    yield Case("Not", [small > 0])
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        yield Case(op, [random.integers(0, 99, (4,)), random.integers(0, 99, (4,))])
    yield Case("Add", [small.astype(np.float16), small.astype(np.float16)])
    yield Case("Clip", [small, [np.array(-0.5, np.float32)], [np.array(0.5, np.float32)]])
    yield Case("PRelu", [floats(2, 3, 4), floats(3, 1)])
    for source in (np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8, np.bool_):
        for target in (
            TensorProto.FLOAT,
            TensorProto.FLOAT16,
            TensorProto.DOUBLE,
            TensorProto.INT32,
            TensorProto.INT64,
            TensorProto.BOOL,
        ):
            yield Case("Cast", [(np.array([0, 1, 2.6, 7])).astype(source)], {"to": target})


def layout() -> Iterator[Case]:
    x = floats(2, 3, 4)
    for order in ([0, 2, 1], [2, 1, 0], [1, 0, 2], [0, 1, 2]):
        yield Case("Transpose", [x], {"perm": order})
    yield Case("Reshape", [x, [0, -1]])
    yield Case("Expand", [floats(3, 1), [2, 1, 4]])
    yield Case("Tile", [x, [1, 2, 3]])
    for axis in (0, 1, -1):
        yield Case("Concat", [x, x, x], {"axis": axis})
    yield Case("Split", [x, [1, 3]], {"axis": 2}, outputs=2)
    yield Case("Split", [floats(6, 2), [2, 4]], {"axis": 0}, outputs=2)
    for starts, ends, axes, steps in (
        ([1], [3], [2], [1]),
        ([-1], [-9], [2], [-2]),
        ([0, 1], [1, 9], [0, 1], [1, 2]),
        ([3], [1], [2], [1]),
    ):
        yield Case("Slice", [x, starts, ends, axes, steps])
    for mode in ("constant", "reflect", "edge"):
        yield Case("Pad", [x, [0, 1, 2, 0, 1, 1]], {"mode": mode})
    yield Case("Pad", [x, [0, 1, -1, 0, 0, 2], [np.array(5, np.float32)]])
    yield Case("DepthToSpace", [floats(1, 8, 2, 3)], {"blocksize": 2})
    yield Case("DepthToSpace", [floats(1, 8, 2, 3)], {"blocksize": 2, "mode": "CRD"})
    yield Case("SpaceToDepth", [floats(1, 2, 4, 6)], {"blocksize": 2})
    yield Case("Gather", [x, np.array([[0, -1], [2, 1]])], {"axis": 1})
    yield Case("Gather", [x, np.array(1)], {"axis": 2})
    yield Case("GatherElements", [x, random.integers(-3, 3, (2, 2, 4))], {"axis": 1})
    yield Case("GatherND", [x, np.array([[0, 1], [1, -1]])])
    yield Case("GatherND", [x, np.array([[1], [0]])], {"batch_dims": 1})
    for reduction in ("none", "add", "mul", "max", "min"):
        unique = np.argsort(random.random((2, 3, 4)), axis=2)[:, :, :2]
        yield Case("ScatterElements", [x, unique, floats(2, 3, 2)], {"axis": 2, "reduction": reduction})
        yield Case("ScatterND", [x, np.array([[0, 1], [1, 2]]), floats(2, 4)], {"reduction": reduction})
    yield Case("OneHot", [np.array([0, 2, -1]), [np.array([4])], [np.array([0.5, 2], np.float32)]], {"axis": -1})
    yield Case("Trilu", [floats(2, 3, 4), [np.array(1)]], {"upper": 1})
    yield Case("Trilu", [floats(4, 3), [np.array(-1)]], {"upper": 0})
    yield Case("CumSum", [x, [np.array(1)]], {"exclusive": 1, "reverse": 1})
    yield Case("TopK", [x, [2]], {"axis": -1, "largest": 0}, outputs=2)
    yield Case("TopK", [x, [3]], {"axis": 1}, outputs=2)
    for op in ("ArgMax", "ArgMin"):
        yield Case(op, [x], {"axis": 1, "keepdims": 0})


def reductions() -> Iterator[Case]:
    x = floats(2, 3, 4)
    for op in ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp"]:
        for axes in ([1], [0, 2], [-1]):
            yield Case(f"Reduce{op}", [x, axes], {"keepdims": len(axes) % 2}, opset=18)
        yield Case(f"Reduce{op}", [x], {"keepdims": 0})
    for dtype in (np.int32, np.int64, np.float64):
        for op in ["Sum", "Max", "Min", "Prod", "Mean"]:
            yield Case(f"Reduce{op}", [random.integers(1, 5, (3, 4)).astype(dtype), [1]])
    for axis in (0, 1, -1):
        yield Case("Softmax", [x], {"axis": axis})
        yield Case("LogSoftmax", [x], {"axis": axis})
    yield Case("Softmax", [x], {"axis": 1}, opset=11)
    yield Case("Softmax", [x.astype(np.float64)], {"axis": 1})


def layers() -> Iterator[Case]:
    x = floats(2, 6)
    for trans in (0, 1):
        w = floats(3, 6) if trans else floats(6, 3)
        yield Case("Gemm", [x, [w], [floats(3)]], {"transB": trans})
        yield Case("Gemm", [x, w, floats(2, 3)], {"transB": trans, "alpha": 0.5, "beta": 2.0})
    yield Case("Gemm", [floats(6, 2), [floats(6, 3)]], {"transA": 1})
    for a, b in (
        ((2, 6), (6, 3)),
        ((6,), (6, 3)),
        ((2, 6), (6,)),
        ((4, 2, 6), (4, 6, 3)),
        ((4, 1, 2, 6), (5, 6, 3)),
        ((3, 2, 6), (6, 70)),
    ):
        yield Case("MatMul", [floats(*a), floats(*b)])
        yield Case("MatMul", [floats(*a), [floats(*b)]])
    yield Case("MatMul", [random.integers(-5, 5, (2, 3)), random.integers(-5, 5, (3, 4))])
    for equation, shapes in (
        ("ij,jk->ik", ((2, 3), (3, 4))),
        ("bhid,bhjd->bhij", ((1, 2, 3, 4), (1, 2, 5, 4))),
        ("ii->i", ((3, 3),)),
        ("ij->", ((2, 3),)),
        ("i,j->ij", ((2,), (3,))),
    ):
        yield Case("Einsum", [floats(*shape) for shape in shapes], {"equation": equation})
    yield Case("Det", [floats(2, 3, 3)], tolerance=1e-5)
    yield Case("LayerNormalization", [floats(2, 3, 8), [floats(8)], [floats(8)]], {"axis": -1})
    yield Case("LayerNormalization", [floats(2, 3, 8), [floats(3, 8)]], {"axis": 1})
    yield Case("InstanceNormalization", [floats(2, 3, 4, 5), [floats(3)], [floats(3)]])
    yield Case("BatchNormalization", [floats(2, 3, 4), [floats(3)], [floats(3)], [floats(3)], [np.abs(floats(3)) + 1]])
    yield Case("LRN", [floats(1, 5, 3, 3)], {"size": 3})
    for groups, kernel, options in (
        (1, 3, {}),
        (2, 3, {"pads": [1, 1, 1, 1]}),
        (4, 3, {"strides": [2, 2]}),
        (1, 2, {"dilations": [2, 2]}),
        (1, 1, {}),
        (1, 3, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ):
        w = floats(8, 4 // groups, kernel, kernel)
        yield Case("Conv", [floats(2, 4, 9, 11), [w], [floats(8)]], {"group": groups, **options}, tolerance=1e-5)
    yield Case("Conv", [floats(1, 3, 20), [floats(5, 3, 4)]], {"strides": [3], "pads": [2, 1]}, tolerance=1e-5)
    yield Case("Conv", [floats(1, 3, 8, 8), floats(5, 3, 3, 3)], tolerance=1e-5)
    for groups in (1, 2):
        w = floats(4, 3, 3, 3)
        yield Case(
            "ConvTranspose",
            [floats(1, 4, 5, 6), [w], [floats(3 * groups)]],
            {"group": groups, "strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
            tolerance=1e-5,
        )
    for op in ("MaxPool", "AveragePool"):
        yield Case(op, [floats(1, 3, 7, 8)], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]})
        yield Case(op, [floats(1, 3, 9)], {"kernel_shape": [4], "strides": [3]})
        yield Case(op, [floats(1, 2, 7, 7)], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}, opset=19)
    yield Case(
        "AveragePool", [floats(1, 3, 7, 8)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}
    )
    yield Case("GlobalAveragePool", [floats(2, 3, 4, 5)])
    yield Case("GlobalMaxPool", [floats(2, 3, 4, 5)])
    for mode in ("nearest", "linear", "cubic"):
        for place in ("half_pixel", "align_corners", "asymmetric"):
            yield Case(
                "Resize",
                [floats(1, 2, 4, 5), None, None, [1, 2, 7, 9]],
                {"mode": mode, "coordinate_transformation_mode": place},
                tolerance=1e-5,
            )
    grid = random.uniform(-1.3, 1.3, (1, 3, 4, 2)).astype(np.float32)
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            yield Case(
                "GridSample",
                [floats(1, 2, 5, 6), grid],
                {"mode": mode, "padding_mode": padding},
                opset=20,
                tolerance=1e-5,
            )


def recurrent() -> Iterator[Case]:
    for op, gates in (("GRU", 3), ("LSTM", 4), ("RNN", 1)):
        for direction in ("forward", "reverse", "bidirectional"):
            ways = 2 if direction == "bidirectional" else 1
            inputs: list[Any] = [floats(4, 2, 5), [floats(ways, gates * 6, 5)], [floats(ways, gates * 6, 6)]]
            inputs += [[floats(ways, 2 * gates * 6)], None, floats(ways, 2, 6)]
            if op == "LSTM":
                inputs.append(floats(ways, 2, 6))
            for extra in ({"linear_before_reset": 1}, {"linear_before_reset": 0}) if op == "GRU" else ({},):
                options = {"hidden_size": 6, "direction": direction, **extra}
                yield Case(op, inputs, options, outputs=3 if op == "LSTM" else 2, tolerance=1e-5)


CASES = [*elementwise(), *layout(), *reductions(), *layers(), *recurrent()]
