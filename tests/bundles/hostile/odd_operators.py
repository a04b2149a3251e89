# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Models whose operators are given what their definitions do not speak of, or forbid: each runs or is refused.

    .venv/bin/python tests/bundles/hostile/odd_operators.py ENGINE FOLDER [NAME...]

Inputs are `x`, four floats, and `i`, the same as int64, so that no engine knows them before it runs. Each model is fed
numbers, zeros, NaN, infinities and what no integer holds.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attacks
import leapp
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LOW, HIGH = -(1 << 63), (1 << 63) - 1
SECONDS = 12
MOST_MEGABYTES = 600  # of the whole process, of which 256 are what a model may have
FEEDS: list[list[float]] = [
    [0, 1, 2, 3],
    [0, 0, 0, 0],
    [-1, -2, -3, -4],
    [4, -5, 1000, 2],
    [float("nan")] * 4,
    [float("inf"), float("-inf"), 3e38, -3e38],
    [9.3e18, -9.3e18, 2147483648, -2147483649],
]


def constant(name: str, value: Any, dtype: Any = np.int64) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(value, dtype), name)


def raw(name: str, kind: int, dims: list[int], data: bytes) -> onnx.TensorProto:
    """As it is given, whether it fits or not."""
    return onnx.TensorProto(name=name, data_type=kind, dims=dims, raw_data=data)


def model_of(nodes: list[onnx.NodeProto], constants: list[onnx.TensorProto], result: str = "r") -> onnx.ModelProto:
    """y is the sum of the result's elements, whatever shape that has."""
    nodes = [
        helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        *nodes,
        helper.make_node("Cast", [result], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["floats"], ["total"], keepdims=0),
        helper.make_node("Mul", ["x", "total"], ["y"]),
    ]
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])] for name in "xy"]
    graph = helper.make_graph(nodes, "g", *ports, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


Case = tuple[str, onnx.ModelProto]


def one(name: str, op: str, inputs: list[str], *constants: onnx.TensorProto, outputs: int = 1, **more: Any) -> Case:
    """One node: its first result counts."""
    results = ["r", *(f"r{i}" for i in range(1, outputs))]
    return name, model_of([helper.make_node(op, inputs, results, **more)], list(constants))


def indices() -> Iterator[Case]:
    """Places that only the data knows."""
    table = constant("t", np.arange(12).reshape(4, 3), np.float32)
    yield one("gather", "Gather", ["t", "i"], table)
    yield one("gather_axis_1", "Gather", ["t", "i"], table, axis=1)
    yield one("gather_of_nothing", "Gather", ["t", "i"], constant("t", np.zeros((0, 3)), np.float32))
    yield one("gather_low", "Gather", ["t", "c"], table, constant("c", [LOW, HIGH]))
    yield one("gather_axis_beyond", "Gather", ["t", "i"], table, axis=7)
    rows = [helper.make_node("Reshape", ["i", "s"], ["rows"])]
    for op in ("GatherElements", "GatherND"):
        node = helper.make_node(op, ["t", "rows"], ["r"])
        yield op.lower(), model_of([*rows, node], [table, constant("s", [2, 2])])
        yield op.lower() + "_deep", model_of([*rows, node], [table, constant("s", [1, 4])])
    updates = constant("u", np.ones((2, 2)), np.float32)
    for reduction in ("none", "add", "mul", "max", "min", "other"):
        node = helper.make_node("ScatterElements", ["t", "rows", "u"], ["r"], reduction=reduction)
        yield f"scatter_elements_{reduction}", model_of([*rows, node], [table, constant("s", [2, 2]), updates])
        node = helper.make_node("ScatterND", ["t", "rows", "v"], ["r"], reduction=reduction)
        short = constant("v", [1, 2], np.float32)
        yield f"scatter_nd_{reduction}", model_of([*rows, node], [table, constant("s", [2, 2]), short])
    node = helper.make_node("ScatterND", ["t", "rows", "u"], ["r"])
    yield "scatter_nd_long_updates", model_of([*rows, node], [table, constant("s", [2, 2]), updates])
    values = constant("v", [0, 1], np.float32)
    for depth in (0, 1, 5, -1, HIGH, LOW):
        yield one(f"one_hot_{depth}", "OneHot", ["i", "d", "v"], constant("d", depth), values)
    yield one("one_hot_no_depth", "OneHot", ["i", "d", "v"], constant("d", []), values)
    yield one("one_hot_three_values", "OneHot", ["i", "d", "v"], constant("d", 3), constant("v", [0, 1, 2], np.float32))


def integers() -> Iterator[Case]:
    """What ends a process that lets the machine do it: division by 0 and of the lowest number by -1."""
    for bits in (8, 16, 32, 64):
        low = -(1 << (bits - 1))
        kind = getattr(TensorProto, f"INT{bits}")
        name = getattr(np, f"int{bits}")
        for op, more in (("Div", {}), ("Mod", {}), ("Mod", {"fmod": 1})):
            numerators = constant("n", [low, low, 1, 0], name)
            nodes = [
                helper.make_node("Cast", ["x"], ["d"], to=kind),
                helper.make_node(op, ["n", "d"], ["r"], **more),
            ]
            label = f"{op.lower()}{'_c' if more else ''}_int{bits}"
            yield label, model_of(nodes, [numerators])
            divisors = constant("d", [-1, 0, -1, 0], name)
            yield (
                label + "_constant",
                model_of([helper.make_node(op, ["n", "d"], ["r"], **more)], [numerators, divisors]),
            )
    for bits in (8, 16, 32, 64):
        kind = getattr(TensorProto, f"UINT{bits}")
        nodes = [
            helper.make_node("Cast", ["x"], ["u"], to=kind),
            helper.make_node("BitShift", ["c", "u"], ["r"], direction="LEFT" if bits % 16 else "RIGHT"),
        ]
        yield f"shift_uint{bits}", model_of(nodes, [constant("c", [1, 2, 3, 4], getattr(np, f"uint{bits}"))])
        yield (
            f"divide_uint{bits}",
            model_of(
                [nodes[0], helper.make_node("Div", ["c", "u"], ["r"])],
                [constant("c", [1, 2, 3, 4], getattr(np, f"uint{bits}"))],
            ),
        )
    yield one("shift_nowhere", "BitShift", ["u", "u"], constant("u", [1, 2], np.uint8), direction="UP")
    yield one("pow_lowest", "Pow", ["i", "i"])
    yield one("pow_constant", "Pow", ["c", "i"], constant("c", [LOW, -1, 0, 2]))
    yield one("abs_lowest", "Abs", ["c"], constant("c", [LOW, HIGH]))
    yield one("negative_lowest", "Neg", ["c"], constant("c", [LOW, HIGH]))
    yield one("mean_of_lowest", "ReduceMean", ["c"], constant("c", [LOW, LOW]), keepdims=0)
    yield one("mod_of_floats", "Mod", ["x", "x"])


def casts() -> Iterator[Case]:
    for kind in (*range(1, 24), 99, -1, 1 << 31):
        yield one(f"cast_{kind}", "Cast", ["x"], to=kind)
        if 0 < kind < 99:
            steps = [helper.make_node("Cast", ["x"], ["m"], to=kind), helper.make_node("Cast", ["m"], ["r"], to=7)]
            yield f"cast_{kind}_back", model_of(steps, [])
    yield one("bools_that_are_none", "Cast", ["b"], raw("b", TensorProto.BOOL, [4], b"\x02\xff\x80\0"), to=7)
    where = raw("b", TensorProto.BOOL, [4], b"\x02\xff\x80\0")
    yield one("where_bools_that_are_none", "Where", ["b", "x", "x"], where)
    yield one("not_bools_that_are_none", "Not", ["b"], where)
    yield one("loop_limit_bool", "CumSum", ["x", "b"], raw("b", TensorProto.BOOL, [1], b"\x02"))
    yield one("shape_of_bools", "ConstantOfShape", ["b"], raw("b", TensorProto.BOOL, [2], b"\x02\xff"))


def empties() -> Iterator[Case]:
    """Tensors without elements, whose other axes are as long as they like."""
    none = constant("e", np.zeros((0, 3)), np.float32)
    for op in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd", "ReduceLogSumExp", "ReduceL2"):
        yield one(f"{op.lower()}_of_nothing", op, ["e"], none, keepdims=0)
        yield one(f"{op.lower()}_of_empty_rows", op, ["e", "a"], none, constant("a", [1]))
    for op in ("ArgMax", "ArgMin", "Softmax", "LogSoftmax", "Hardmax"):
        yield one(f"{op.lower()}_of_nothing", op, ["e"], none, axis=0)
    yield one("top_k_of_nothing", "TopK", ["e", "k"], none, constant("k", [1]), axis=0, outputs=2)
    yield one("matmul_of_nothing", "MatMul", ["e", "w"], none, constant("w", np.zeros((3, 0)), np.float32))
    yield one("matmul_inner_nothing", "MatMul", ["w", "e"], none, constant("w", np.zeros((2, 0)), np.float32))
    yield one("gemm_of_nothing", "Gemm", ["e", "e"], none, transA=1)
    for name, op, more in (
        ("cumsum", "CumSum", []),
        ("gather", "Gather", []),
        ("trilu", "Trilu", []),
        ("top_k", "TopK", []),
        ("transpose", "Transpose", []),
        ("lrn", "LRN", []),
        ("neg", "Neg", []),
    ):
        wide = helper.make_node("ConstantOfShape", ["s"], ["e"])
        inputs = {"CumSum": ["e", "one"], "Gather": ["e", "zeros"], "TopK": ["e", "one"]}.get(op, ["e"])
        attributes = {"Gather": {"axis": 1}, "LRN": {"size": 1}, "TopK": {"axis": 1}}.get(op, {})
        outputs = ["r", "places"] if op == "TopK" else ["r"]
        extents = [1 << 33, 1, 0] if op != "CumSum" else [1 << 32, 2, 0]
        nodes = [wide, helper.make_node(op, inputs, outputs, **attributes)]
        yield (
            f"long_and_empty_{name}",
            model_of(nodes, [constant("s", extents), constant("one", [1]), constant("zeros", [0]), *more]),
        )
    yield one("resize_of_nothing", "Resize", ["e", "", "c"], none, constant("c", [2, 2], np.float32))
    yield one("conv_of_nothing", "Conv", ["e", "w"], constant("e", np.zeros((1, 1, 0)), np.float32),
              constant("w", np.ones((1, 1, 1)), np.float32))  # fmt: skip
    yield one("range_of_nothing", "Range", ["n", "n", "n"], constant("n", []))
    yield one("trilu_of_no_k", "Trilu", ["t", "k"], constant("t", np.ones((3, 3)), np.float32), constant("k", []))
    yield one("dropout_without_mode", "Dropout", ["x", "", "m"], constant("m", [], np.bool_))
    yield one("clip_by_nothing", "Clip", ["x", "n", "n"], constant("n", [], np.float32))
    yield one("pow_by_nothing", "Pow", ["x", "n"], constant("n", [], np.float32))
    yield one("cumsum_no_axis", "CumSum", ["x", "n"], constant("n", []))
    yield one("slice_no_starts", "Slice", ["x", "n", "n"], constant("n", []))
    yield one("squeeze_nothing", "Squeeze", ["x", "n"], constant("n", []))
    yield one("concat_of_none", "Concat", [], axis=0)
    yield one("sum_of_none", "Sum", [])
    yield one("split_into_nothing", "Split", ["e"], none, axis=0, outputs=3, num_outputs=3)
    yield one("einsum_of_nothing", "Einsum", ["e", "e"], none, equation="ij,ij->")


def shapes() -> Iterator[Case]:
    for shape in ([-1, -1], [-2], [5], [0, 4], [HIGH, HIGH], [1 << 32, 1 << 32], [LOW], [-1, 0], [2] * 2 + [1] * 70):
        yield one(f"reshape_{str(shape)[:30]}", "Reshape", ["x", "s"], constant("s", shape))
        yield one(f"expand_{str(shape)[:30]}", "Expand", ["x", "s"], constant("s", shape))
        yield one(f"tile_{str(shape)[:30]}", "Tile", ["x", "s"], constant("s", shape))
        yield one(f"constant_of_shape_{str(shape)[:30]}", "ConstantOfShape", ["s"], constant("s", shape))
    yield one("reshape_by_data", "Reshape", ["x", "i"])
    yield one("constant_of_shape_by_data", "ConstantOfShape", ["i"])
    yield one("expand_by_data", "Expand", ["x", "i"])
    yield one("tile_by_data", "Tile", ["x", "i"])
    for step in (0, LOW, HIGH, -1, 2):
        for start, end in ((LOW, HIGH), (HIGH, LOW), (-1, 0), (3, -5)):
            yield one(f"slice_{start}_{end}_{step}", "Slice", ["x", "b", "e", "a", "s"], constant("b", [start]),
                      constant("e", [end]), constant("a", [0]), constant("s", [step]))  # fmt: skip
    yield one("slice_axis_twice", "Slice", ["x", "b", "e", "a"], constant("b", [0, 0]), constant("e", [1, 1]),
              constant("a", [0, -1]))  # fmt: skip
    yield one(
        "slice_axis_beyond", "Slice", ["x", "b", "e", "a"], constant("b", [0]), constant("e", [1]), constant("a", [LOW])
    )
    slice_by_data = [
        helper.make_node("Split", ["i"], ["p", "q", "s", "t"], num_outputs=4),
        helper.make_node("Slice", ["x", "p", "q", "a", "s"], ["r"]),
    ]
    yield "slice_by_data", model_of(slice_by_data, [constant("a", [0])])
    for mode in ("constant", "reflect", "edge", "wrap", "none"):
        for pads in ([1, 1], [-9, 3], [LOW, LOW], [HIGH, HIGH], [1 << 40, 0], [10, 10], [-4, 0], [1, 1, 1], []):
            yield one(f"pad_{mode}_{pads}", "Pad", ["x", "p"], constant("p", pads), mode=mode)
        halves = [
            helper.make_node("Slice", ["i", "b", "e"], ["p"]),
            helper.make_node("Pad", ["x", "p"], ["r"], mode=mode),
        ]
        yield f"pad_by_data_{mode}", model_of(halves, [constant("b", [0]), constant("e", [2])])
    for sizes in ([1, 3], [-1, 5], [HIGH, HIGH], [5], [0, 4], [2, 2, 2], []):
        count = max(1, len(sizes))
        yield one(f"split_{sizes}", "Split", ["x", "s"], constant("s", sizes), outputs=count)
    yield one("split_into_many", "Split", ["x"], outputs=9, num_outputs=9)
    yield one("split_by_data", "Split", ["x", "i"], outputs=4)
    for perm in ([1, 0], [0, 0], [-1], [LOW]):
        yield one(f"transpose_{perm}", "Transpose", ["x"], perm=perm)
    for axis in (-1, 1, 2, LOW, HIGH):
        yield one(f"concat_{axis}", "Concat", ["x", "x"], axis=axis)
        yield one(f"softmax_{axis}", "Softmax", ["x"], axis=axis)
        yield one(f"flatten_{axis}", "Flatten", ["x"], axis=axis)
        yield one(f"argmax_{axis}", "ArgMax", ["x"], axis=axis)
        yield one(f"cumsum_{axis}", "CumSum", ["x", "a"], constant("a", axis))
        yield one(f"unsqueeze_{axis}", "Unsqueeze", ["x", "a"], constant("a", [axis]))
        yield one(f"squeeze_{axis}", "Squeeze", ["x", "a"], constant("a", [axis]))
        yield one(f"reduce_{axis}", "ReduceSum", ["x", "a"], constant("a", [axis]))
        yield one(f"shape_{axis}", "Shape", ["x"], start=axis, end=LOW)
        yield one(f"layer_norm_{axis}", "LayerNormalization", ["x", "x"], axis=axis)
        yield one(f"one_hot_axis_{axis}", "OneHot", ["i", "d", "v"], constant("d", 3), constant("v", [0, 1]), axis=axis)
        yield one(f"trilu_{axis}", "Trilu", ["t", "k"], constant("t", np.ones((3, 3)), np.float32), constant("k", axis))
        yield one(f"eye_{axis}", "EyeLike", ["t"], constant("t", np.ones((3, 3)), np.float32), k=axis)
    for axes in ([0] * 5, [0, -1], [LOW]):
        yield one(f"unsqueeze_{axes}", "Unsqueeze", ["x", "a"], constant("a", axes))
        yield one(f"reduce_{axes}", "ReduceSum", ["x", "a"], constant("a", axes))
    for k in (0, 4, 5, -1, HIGH, LOW):
        yield one(f"top_k_{k}", "TopK", ["x", "k"], constant("k", [k]), outputs=2)
    yield one("top_k_two", "TopK", ["x", "k"], constant("k", [1, 2]), outputs=2)
    first = [helper.make_node("Slice", ["i", "b", "e"], ["k"]), helper.make_node("TopK", ["x", "k"], ["r", "p"])]
    yield "top_k_by_data", model_of(first, [constant("b", [0]), constant("e", [1])])
    for bounds in ((0, 10, 0), (0, 1, -1), (LOW, HIGH, 1), (HIGH, LOW, -1), (0, HIGH, HIGH)):
        parts = [constant(name, value) for name, value in zip("abc", bounds, strict=True)]
        yield one(f"range_{bounds}", "Range", ["a", "b", "c"], *parts)
    for bounds in ((0, float("inf"), 1), (0, 1, float("nan")), (0, 1, 1e-30), (0, 1, 0), (float("nan"),) * 3):
        parts = [constant(name, value, np.float32) for name, value in zip("abc", bounds, strict=True)]
        yield one(f"range_of_floats_{bounds}", "Range", ["a", "b", "c"], *parts)


def layers() -> Iterator[Case]:
    def image(*dims: int, name: str = "p") -> onnx.TensorProto:
        return constant(name, np.ones(dims), np.float32)

    to_image = helper.make_node("Reshape", ["x", "shape"], ["p"])

    def layer(name: str, op: str, inputs: list[str], *constants: onnx.TensorProto, **more: Any) -> Case:
        """Of the input as an image of 2 by 2."""
        shape = constant("shape", [1, 1, 2, 2])
        return name, model_of([to_image, helper.make_node(op, inputs, ["r"], **more)], [shape, *constants])

    w = image(1, 1, 1, 1, name="w")
    for name, attributes in {
        "strides_0": {"strides": [0, 0]},
        "strides_negative": {"strides": [-1, 1]},
        "strides_one": {"strides": [1]},
        "strides_large": {"strides": [HIGH, HIGH]},
        "dilations_0": {"dilations": [0, 0]},
        "dilations_large": {"dilations": [HIGH, 1]},
        "pads_negative": {"pads": [-1, -1, -1, -1]},
        "pads_large": {"pads": [HIGH, 0, HIGH, 0]},
        "pads_2_30": {"pads": [1 << 30] * 4},
        "group_0": {"group": 0},
        "group_negative": {"group": -1},
        "group_2": {"group": 2},
        "kernel_shape_other": {"kernel_shape": [3, 3]},
        "kernel_shape_0": {"kernel_shape": [0, 0]},
        "auto_pad_nonsense": {"auto_pad": "SAME_SIDEWAYS"},
        "auto_pad_same": {"auto_pad": "SAME_UPPER", "strides": [1 << 30, 1 << 30]},
        "output_shape": {"output_shape": [LOW, HIGH]},
        "output_padding": {"output_padding": [HIGH, HIGH]},
    }.items():
        for op in ("Conv", "ConvTranspose"):
            yield layer(f"{op.lower()}_{name}", op, ["p", "w"], w, **attributes)
        pool = {"kernel_shape": [1, 1], **attributes}
        if name != "output_shape":
            yield layer(f"max_pool_{name}", "MaxPool", ["p"], **pool)
            yield layer(f"average_pool_{name}", "AveragePool", ["p"], **pool)
    yield layer("conv_no_channels", "Conv", ["p", "v"], image(1, 0, 1, 1, name="v"))
    yield layer("conv_no_filters", "Conv", ["p", "v"], image(0, 1, 1, 1, name="v"))
    yield layer("conv_no_window", "Conv", ["p", "v"], image(1, 1, 0, 1, name="v"))
    yield layer("conv_bias", "Conv", ["p", "w", "v"], w, image(3, name="v"))
    for scale in (float("nan"), float("inf"), -1.0, 0.0, 1e-30, 1e30):
        for mode in ("nearest", "linear", "cubic"):
            scales = constant("s", [1, 1, scale, scale], np.float32)
            yield layer(f"resize_{scale}_{mode}", "Resize", ["p", "", "s"], scales, mode=mode)
    for sizes in ([1, 1, 0, 0], [1, 1, -1, 3], [1, 1, HIGH, 1], [3], []):
        yield layer(f"resize_to_{sizes}", "Resize", ["p", "", "", "s"], constant("s", sizes))
    for box in (float("nan"), 1e30):
        roi = constant("b", [box] * 8, np.float32)
        yield layer(f"resize_crop_{box}", "Resize", ["p", "b", "", "s"], roi, constant("s", [1, 1, 3, 3]),
                    coordinate_transformation_mode="tf_crop_and_resize")  # fmt: skip
    grid = [
        to_image,
        helper.make_node("Reshape", ["x", "two"], ["q"]),
    ]
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection", "other"):
            sample = helper.make_node("GridSample", ["p", "q"], ["r"], mode=mode, padding_mode=padding)
            sizes = [constant("shape", [1, 1, 2, 2]), constant("two", [1, 1, 2, 2])]
            # opset 20 says "linear", the one before "bilinear"
            yield f"grid_sample_{mode}_{padding}", model_of([*grid, sample], sizes)
    for block in (0, -1, 2, 1 << 33, HIGH):
        yield layer(f"depth_to_space_{block}", "DepthToSpace", ["p"], blocksize=block)
        yield layer(f"space_to_depth_{block}", "SpaceToDepth", ["p"], blocksize=block)
    for groups in (0, -1, 3, HIGH):
        yield layer(
            f"group_norm_{groups}", "GroupNormalization", ["p", "v", "v"], image(1, name="v"), num_groups=groups
        )
    yield layer("lrn_0", "LRN", ["p"], size=0)
    yield layer("lrn_large", "LRN", ["p"], size=HIGH)
    yield layer("batch_norm_short", "BatchNormalization", ["p", "v", "v", "v", "v"], image(3, name="v"))
    yield layer("instance_norm_short", "InstanceNormalization", ["p", "v", "v"], image(3, name="v"))
    for equation in (
        "",
        "->",
        "i",
        "i->ii",
        "ii->i",
        "i,j->",
        "i->j",
        "...->",
        "i,i",
        "i->i->i",
        "\0",
        "i" * 300,
        ",,,",
    ):
        yield one(f"einsum_{equation[:10]!r}", "Einsum", ["x"], equation=equation)
        yield one(f"einsum_two_{equation[:10]!r}", "Einsum", ["x", "x"], equation=equation)
    for hidden in (0, -1, 1, HIGH):
        for op, gates in (("GRU", 3), ("LSTM", 4), ("RNN", 1)):
            parts = [image(1, gates, 4, name="w"), image(1, gates, 1, name="h")]
            nodes = [
                helper.make_node("Reshape", ["x", "three"], ["q"]),
                helper.make_node(op, ["q", "w", "h", "", "l"], ["r"], hidden_size=hidden),
            ]
            for length in (1, 0, -1, 9, 1 << 30):
                lengths = [constant("three", [1, 1, 4]), constant("l", [length], np.int32)]
                yield f"{op.lower()}_{hidden}_{length}", model_of(nodes, [*parts, *lengths])


def graphs() -> Iterator[Case]:
    """Wiring that no exporter writes."""
    add = helper.make_node
    yield (
        "cycle",
        model_of([add("Add", ["x", "b"], ["a"]), add("Add", ["a", "a"], ["b"]), add("Abs", ["b"], ["r"])], []),
    )
    yield "own_result", model_of([add("Add", ["r", "x"], ["r"])], [])
    yield "made_twice", model_of([add("Abs", ["x"], ["r"]), add("Neg", ["x"], ["r"])], [])
    yield "makes_its_input", model_of([add("Abs", ["x"], ["x"]), add("Neg", ["x"], ["r"])], [])
    yield (
        "makes_an_initializer",
        model_of([add("Abs", ["x"], ["c"]), add("Neg", ["c"], ["r"])], [constant("c", [1.0], np.float32)]),
    )
    yield "initializer_twice", model_of([add("Abs", ["c"], ["r"])], [constant("c", [1]), constant("c", [1, 2])])
    yield "two_results_one_name", model_of([add("Split", ["x"], ["r", "r"], num_outputs=2)], [])
    yield "nothing_makes_it", model_of([add("Add", ["x", "nobody"], ["r"])], [])
    yield "no_result", model_of([add("Abs", ["x"], [])], [], "x")
    yield "too_many_inputs", model_of([add("Abs", ["x"] * 3, ["r"])], [])
    yield "too_many_results", model_of([add("Abs", ["x"], ["r", "s", "t"])], [])
    yield "attribute_twice", model_of([add("Softmax", ["x"], ["r"], axis=0)], [])
    twice = model_of([add("Softmax", ["x"], ["r"], axis=0)], [])
    twice.graph.node[1].attribute.append(helper.make_attribute("axis", [1, 2]))
    yield "attribute_of_two_types", twice

    def graph(nodes: list[onnx.NodeProto], inputs: list[Any], outputs: list[Any]) -> onnx.GraphProto:
        return helper.make_graph(nodes, "inner", inputs, outputs)

    def info(name: str, kind: int = TensorProto.FLOAT, dims: Any = None) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, dims)

    first = [add("Slice", ["i", "zero", "one"], ["n"]), add("Cast", ["n"], ["on"], to=TensorProto.BOOL)]
    flags = [constant("zero", [0]), constant("one", [1])]
    seen = graph([add("Abs", ["later"], ["o"])], [], [info("o")])
    same = graph([add("Abs", ["x"], ["o"])], [], [info("o")])
    longer = graph([add("Concat", ["x", "x"], ["o"], axis=0)], [], [info("o")])
    whole = graph([add("Cast", ["x"], ["o"], to=TensorProto.INT64)], [], [info("o", TensorProto.INT64)])
    none = graph([], [], [info("nobody")])
    empty = graph([], [], [])
    for name, other in {"shape": longer, "type": whole, "nothing": none, "empty": empty, "later": seen}.items():
        branch = add("If", ["on"], ["r"], then_branch=same, else_branch=other)
        yield f"if_{name}", model_of([*first, branch, add("Neg", ["x"], ["later"])], flags)
    yield (
        "if_of_four",
        model_of(
            [
                add("Cast", ["x"], ["on"], to=TensorProto.BOOL),
                add("If", ["on"], ["r"], then_branch=same, else_branch=same),
            ],
            [],
        ),
    )
    rounds = info("k", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("v")
    grows = graph(
        [add("Identity", ["go"], ["on2"]), add("Concat", ["v", "v"], ["w"], axis=0)],
        [*rounds],
        [info("on2", TensorProto.BOOL), info("w")],
    )
    swaps = graph(
        [add("Identity", ["go"], ["on2"]), add("Cast", ["v"], ["w"], to=TensorProto.INT64)],
        [*rounds],
        [info("on2", TensorProto.BOOL), info("w", TensorProto.INT64)],
    )
    floats = graph([add("Abs", ["v"], ["w"])], [*rounds], [info("w"), info("w")])
    collects = graph(
        [add("Identity", ["go"], ["on2"]), add("Abs", ["v"], ["w"])],
        [*rounds],
        [info("on2", TensorProto.BOOL), info("w"), info("w")],
    )
    for name, body in {
        "grows": grows,
        "swaps": swaps,
        "float_condition": floats,
        "collects": collects,
        "empty": empty,
    }.items():
        loop = add("Loop", ["three", "", "x"], ["r", "all"] if name == "collects" else ["r"], body=body)
        yield f"loop_{name}", model_of([loop], [constant("three", 3)])
    loop = add("Loop", ["n", "", "x"], ["r"], body=grows)
    yield "loop_of_data_grows", model_of([*first[:1], loop], flags)
    collect = add("Loop", ["n", "", "x"], ["s", "r"], body=collects)
    yield "loop_of_data_collects", model_of([*first[:1], collect], flags)
    for count in (-1, LOW, 0):
        yield f"loop_{count}", model_of([add("Loop", ["c", "", "x"], ["r"], body=collects)], [constant("c", count)])
    scan_body = graph([add("Add", ["s", "e"], ["t"])], [info("s"), info("e")], [info("t")])
    for scanned in (0, -1, 1, 3, HIGH):
        yield f"scan_{scanned}", model_of([add("Scan", ["x", "x"], ["r"], body=scan_body, num_scan_inputs=scanned)], [])
    yield (
        "scan_axes",
        model_of([add("Scan", ["x", "x"], ["r"], body=scan_body, num_scan_inputs=1, scan_input_axes=[LOW])], []),
    )


def tensors() -> Iterator[Case]:
    """Weights that are not what they say."""
    sized = {
        "short": raw("t", TensorProto.FLOAT, [4], b"\0" * 15),
        "long": raw("t", TensorProto.FLOAT, [4], b"\0" * 17),
        "none": raw("t", TensorProto.FLOAT, [4], b""),
        "negative": raw("t", TensorProto.FLOAT, [-4], b"\0" * 16),
        "two_negatives": raw("t", TensorProto.FLOAT, [-2, -2], b"\0" * 16),
        "overflow": raw("t", TensorProto.FLOAT, [1 << 62, 4], b""),
        "overflow_to_0": raw("t", TensorProto.FLOAT, [1 << 32, 1 << 32], b""),
        "zero_and_large": raw("t", TensorProto.FLOAT, [0, HIGH, HIGH], b""),
        "many_axes": raw("t", TensorProto.FLOAT, [1] * 5000, b"\0" * 4),
        "lists_too": onnx.TensorProto(name="t", data_type=1, dims=[1], raw_data=b"\0" * 4, float_data=[1, 2, 3]),
        "list_of_others": onnx.TensorProto(name="t", data_type=1, dims=[2], int64_data=[1, 2]),
        "list_too_short": onnx.TensorProto(name="t", data_type=1, dims=[4], float_data=[1]),
        "text": onnx.TensorProto(name="t", data_type=TensorProto.STRING, dims=[1], string_data=[b"\xff\0"]),
        "no_type": onnx.TensorProto(name="t", data_type=0, dims=[1], raw_data=b"\0" * 4),
        "other_type": onnx.TensorProto(name="t", data_type=1234, dims=[1], raw_data=b"\0" * 4),
        "int32_of_large": onnx.TensorProto(
            name="t", data_type=TensorProto.INT8, dims=[2], int32_data=[1 << 30, -1 << 30]
        ),
    }
    for name, tensor in sized.items():
        yield one(f"weights_{name}", "Abs", ["t"], tensor)
    for kind in range(1, 24):
        for count in (1, 2, 8, 16):
            yield one(f"weights_of_type_{kind}_{count}", "Identity", ["t"], raw("t", kind, [2], b"\x7f" * count))


def outside() -> Iterator[Case]:
    """Weights beside the model, or far from it."""
    places = {
        "traversal": "../../../../../../../../etc/passwd",
        "absolute": "/etc/passwd",
        "device": "/dev/zero",
        "link": "link.bin",
        "folder": ".",
        "pipe": "pipe.bin",
        "missing": "missing.bin",
        "model": "policy.onnx",
        "nothing": "",
        "nul": "a\0b",
        "long": "n" * 5000,
        "here": "here.bin",
    }
    sizes = {
        "": ("0", "16"),
        "_far": (str(HIGH), "16"),
        "_overflow": (str((1 << 64) - 8), "16"),
        "_long": ("0", str(1 << 40)),
    }
    sizes |= {"_negative": ("-16", "16"), "_no_number": ("x", "y"), "_at_1": ("1", "16"), "_short": ("0", "15")}
    for name, place in places.items():
        for suffix, (offset, length) in sizes.items() if name == "here" else [("", ("0", "16"))]:
            tensor = onnx.TensorProto(name="t", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
            for key, value in (("location", place), ("offset", offset), ("length", length)):
                tensor.external_data.append(onnx.StringStringEntryProto(key=key, value=value))
            yield one(f"outside_{name}{suffix}", "Abs", ["t"], tensor)


def cases() -> dict[str, onnx.ModelProto]:
    kinds: list[Callable[[], Iterator[Case]]]
    kinds = [indices, integers, casts, empties, shapes, layers, graphs, tensors, outside]
    return dict(case for kind in kinds for case in kind())


def write(folder: Path, model: onnx.ModelProto) -> Path:
    folder.mkdir(parents=True)
    (folder / "here.bin").write_bytes(bytes(64))
    (folder / "link.bin").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.bin")
    return attacks.write_bundle(folder, [4], model.SerializeToString())


def use(bundle: Path, engine: str) -> str:
    """Loads it and steps it with each feed; what is no error of ours is a finding."""
    try:
        manager = leapp.InferenceManager(bundle, timeout=2, memory_limit=256_000_000, engine=engine)  # type: ignore[arg-type]
    except leapp.LeappError:
        return "refused"
    except Exception as problem:
        return f"{type(problem).__name__} {problem}"
    failed = 0
    for feed in FEEDS:
        try:
            manager.run_policy({"policy/x": np.array(feed, np.float32)})
        except leapp.LeappError:
            failed += 1
        except Exception as problem:
            return f"{type(problem).__name__} {problem}"
    return f"runs, {failed} steps refused"


def in_a_process(bundle: Path, engine: str) -> str:
    """A signal that ends it is an answer too. It is a copy of this process, in which no engine has started."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writer, use(bundle, engine).encode()[:1000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        text = said.read().decode(errors="replace")
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        return f"ended by signal {-code}"
    return f"took {usage.ru_maxrss // 1000} MB" if usage.ru_maxrss > MOST_MEGABYTES * 1000 else text


def main() -> None:
    engine, folder, chosen = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    for number, (name, model) in enumerate(cases().items()):
        if chosen and name not in chosen:
            continue
        bundle = write(folder / f"case{number}", model)
        print(f"{name}: {in_a_process(bundle, engine)}", flush=True)
        shutil.rmtree(bundle.parent)


if __name__ == "__main__":
    main()
