# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Single operators of several sizes on LEAPP's own engine and on ONNX Runtime: where is which the faster one?

    operators.py [NAME...]

Prints for each size the times of both and what the choice between them (src/engine/native/speed.cpp) expects. Where it
would choose the slower one by more than a tenth and two microseconds, the line is marked. The numbers in speed.cpp are
made from this table; build bench_operators first.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from processes import ROOT, environment_of

PROGRAM = ROOT / "build" / "default" / "bench" / "bench_operators"
_RANDOM = np.random.default_rng(0)


def model(op: str, inputs: list[Any], outputs: int = 1, opset: int = 20, **attributes: Any) -> onnx.ModelProto:
    """One node. A list is the shape of an input, an array a constant, None nothing, a dtype with a shape as a pair."""
    names, feeds, constants = [], [], []
    for i, value in enumerate(inputs):
        names.append("" if value is None else f"x{i}")
        if isinstance(value, list):
            feeds.append(helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, value))
        elif isinstance(value, tuple):
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(value[0]))
            feeds.append(helper.make_tensor_value_info(f"x{i}", kind, value[1]))
        elif value is not None:
            constants.append(numpy_helper.from_array(np.asarray(value), f"x{i}"))
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, name=op, **attributes)
    shown = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([node], "g", feeds, shown, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    return onnx.shape_inference.infer_shapes(made, strict_mode=True, data_prop=True)


def weights(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape).astype(np.float32) * 0.1


def elements(make: Callable[[int], onnx.ModelProto]) -> Iterator[tuple[str, onnx.ModelProto]]:
    for side in (8, 32, 128, 512):
        yield f"{side}x{side}", make(side)


def products() -> Iterator[tuple[str, onnx.ModelProto]]:
    for m, k, n in ((1, 64, 64), (1, 1024, 1024), (8, 256, 256), (50, 256, 1024), (256, 512, 512), (512, 2048, 512)):
        yield f"MatMul {m}x{k}x{n}", model("MatMul", [[m, k], weights(k, n)])
    for batch, m, k, n in ((1, 16, 16, 16), (8, 50, 32, 50), (8, 50, 50, 32), (4, 256, 64, 256), (1, 512, 512, 512)):
        yield f"MatMul both change {batch}x{m}x{k}x{n}", model("MatMul", [[batch, m, k], [batch, k, n]])


def convolutions() -> Iterator[tuple[str, onnx.ModelProto]]:
    for channels, side, out, kernel, stride in (
        (3, 32, 16, 3, 1), (16, 32, 32, 3, 1), (32, 64, 64, 3, 1), (64, 56, 64, 3, 1), (3, 224, 64, 7, 2),
        (64, 28, 256, 1, 1), (256, 14, 256, 3, 1),
    ):  # fmt: skip
        w = weights(out, channels, kernel, kernel)
        pads = [kernel // 2] * 4
        args: list[Any] = [[1, channels, side, side], w, weights(out)]
        yield f"Conv {channels}x{side} {out} {kernel}/{stride}", model("Conv", args, strides=[stride] * 2, pads=pads)
    for channels, side in ((32, 32), (96, 56)):
        args = [[1, channels, side, side], weights(channels, 1, 3, 3)]
        yield f"Conv depthwise {channels}x{side}", model("Conv", args, group=channels, pads=[1, 1, 1, 1])
    for channels, side in ((1, 8), (8, 16), (32, 32), (64, 64)):
        args = [[1, channels, side, side], weights(channels, channels, 2, 2)]
        yield f"ConvTranspose {channels}x{side}", model("ConvTranspose", args, strides=[2, 2])
    for side in (16, 64, 224):
        for op in ("MaxPool", "AveragePool"):
            pool = model(op, [[1, 16, side, side]], kernel_shape=[2, 2], strides=[2, 2])
            yield f"{op} 16x{side}", pool
        for mode in ("nearest", "linear"):
            sizes = np.array([1, 3, 2 * side, 2 * side])
            yield f"Resize {mode} 3x{side}", model("Resize", [[1, 3, side, side], None, None, sizes], mode=mode)
        grid = model("GridSample", [[1, 3, side, side], [1, side, side, 2]])
        yield f"GridSample 3x{side}", grid


def recurrent() -> Iterator[tuple[str, onnx.ModelProto]]:
    for op, gates in (("GRU", 3), ("LSTM", 4)):
        for steps, batch, hidden in ((1, 1, 64), (1, 1, 512), (50, 1, 128), (20, 32, 128)):
            args: list[Any] = [[steps, batch, hidden], weights(1, gates * hidden, hidden)]
            args += [weights(1, gates * hidden, hidden)]
            yield f"{op} {steps}x{batch}x{hidden}", model(op, args, outputs=2, hidden_size=hidden)


def rows() -> Iterator[tuple[str, onnx.ModelProto]]:
    for op in ("Softmax", "LogSoftmax"):
        for name, made in elements(lambda side, op=op: model(op, [[side, side]])):  # type: ignore[misc]
            yield f"{op} {name}", made
    for name, made in elements(lambda side: model("LayerNormalization", [[side, side], weights(side), weights(side)])):
        yield f"LayerNormalization {name}", made
    for op in ("ReduceSum", "ReduceMax", "ReduceMean", "ReduceLogSumExp", "ReduceProd"):
        for axis in (0, 1):
            reduced = np.array([axis])
            for name, made in elements(lambda side, op=op, r=reduced: model(op, [[side, side], r])):  # type: ignore[misc]
                yield f"{op} axis {axis} {name}", made
    for op in ("ArgMax", "CumSum", "TopK"):
        for name, made in elements(lambda side, op=op: _ordered(op, side)):  # type: ignore[misc]
            yield f"{op} {name}", made


def _ordered(op: str, side: int) -> onnx.ModelProto:
    if op == "ArgMax":
        return model(op, [[side, side]], axis=1)
    extra = np.array(1) if op == "CumSum" else np.array([4])
    return model(op, [[side, side], extra], outputs=1 if op == "CumSum" else 2)


def copies() -> Iterator[tuple[str, onnx.ModelProto]]:
    def slicing(side: int) -> onnx.ModelProto:
        return model("Slice", [[side, side], np.array([1]), np.array([side]), np.array([1]), np.array([2])])

    cases: dict[str, Callable[[int], onnx.ModelProto]] = {
        "Transpose": lambda side: model("Transpose", [[side, side]], perm=[1, 0]),
        "Transpose heads": lambda side: model("Transpose", [[1, side, 8, max(side // 8, 1)]], perm=[0, 2, 1, 3]),
        "Concat": lambda side: model("Concat", [[side, side], [side, side]], axis=1),
        "Slice": slicing,
        "Expand": lambda side: model("Expand", [[side, 1], np.array([side, side])]),
        "Tile": lambda side: model("Tile", [[side, side], np.array([2, 2])]),
        "Pad": lambda side: model("Pad", [[side, side], np.array([1, 1, 1, 1])]),
        "Gather": lambda side: model("Gather", [[side, side], _RANDOM.integers(0, side, side)], axis=0),
        "Gather columns": lambda side: model("Gather", [[side, side], _RANDOM.integers(0, side, side)], axis=1),
        "GatherElements": lambda side: model("GatherElements", [[side, side], (np.int64, [side, side])], axis=1),
        "GatherND": lambda side: model("GatherND", [[side, side], (np.int64, [side, 1])]),
        "ScatterElements": lambda side: model(
            "ScatterElements", [[side, side], (np.int64, [side, side]), [side, side]], axis=1, reduction="add"
        ),
        "ScatterND": lambda side: model("ScatterND", [[side, side], (np.int64, [side, 1]), [side, side]]),
        "OneHot": lambda side: model(
            "OneHot", [(np.int64, [side]), np.array([side]), np.array([0, 1], np.float32)], axis=-1
        ),
        "Trilu": lambda side: model("Trilu", [[side, side]]),
        "Cast to int64": lambda side: model("Cast", [[side, side]], to=TensorProto.INT64),
        "Cast from uint8": lambda side: model("Cast", [(np.uint8, [side, side])], to=TensorProto.FLOAT),
        "Cast to float64": lambda side: model("Cast", [[side, side]], to=TensorProto.DOUBLE),
    }
    for label, make in cases.items():
        for name, made in elements(make):
            yield f"{label} {name}", made


def functions() -> Iterator[tuple[str, onnx.ModelProto]]:
    one = [
        *("Relu", "Exp", "Log", "Sin", "Cos", "Tan", "Atan"),
        *("Acos", "Tanh", "Sigmoid", "Erf", "Elu", "Softplus", "Sqrt"),
        *("Floor", "Gelu", "Mish", "Sinh", "Acosh"),
    ]
    for op in one:
        for name, made in elements(lambda side, op=op: model(op, [[side, side]])):  # type: ignore[misc]
            yield f"{op} {name}", made
    for op in ("Add", "Mul", "Div", "Pow", "Max"):
        for name, made in elements(lambda side, op=op: model(op, [[side, side], [side, side]])):  # type: ignore[misc]
            yield f"{op} {name}", made
    for op in ("Add", "Mul"):
        for name, made in elements(lambda side, op=op: model(op, [[side, side], [side, 1]])):  # type: ignore[misc]
            yield f"{op} column {name}", made
        for kind in (np.int64, np.float64):
            for name, made in elements(lambda s, op=op, k=kind: model(op, [(k, [s, s]), (k, [s, s])])):  # type: ignore[misc]
                yield f"{op} {np.dtype(kind).name} {name}", made
    for name, made in elements(lambda side: model("Where", [(np.bool_, [side, side]), [side, side], [side, side]])):
        yield f"Where {name}", made
    for name, made in elements(lambda side: model("Less", [[side, side], [side, side]])):
        yield f"Less {name}", made
    for side in (32, 128):
        kinds: list[Any] = [(np.float64, [side, side]), (np.float64, [side, side])]
        yield f"MatMul float64 {side}", model("MatMul", kinds)
        yield f"ReduceSum float64 {side}", model("ReduceSum", [(np.float64, [side, side]), np.array([1])])
        yield f"Softmax float64 {side}", model("Softmax", [(np.float64, [side, side])])
        yield f"Sin float64 {side}", model("Sin", [(np.float64, [side, side])])


def main() -> None:
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for family in (products, convolutions, recurrent, rows, copies, functions):
            for name, made in family():
                if sys.argv[1:] and not any(name.startswith(each) for each in sys.argv[1:]):
                    continue
                path = Path(folder) / "model.onnx"
                onnx.save(made, path)
                done = subprocess.run(
                    [PROGRAM, path], capture_output=True, text=True, check=False, env=environment_of(PROGRAM)
                )
                if done.returncode != 0:
                    print(f"{name:36s} {done.stderr.strip()[:160]}")
                    continue
                row = json.loads(done.stdout)
                own, other = row["native"], row["onnxruntime"]
                native = row["wins"]
                slower = (own - other) if native else (other - own)
                bad = slower > 2 and slower > 0.1 * min(own, other)
                wrong, count = wrong + bad, count + 1
                kernels = ", ".join(dict.fromkeys(row["kernels"]))
                print(
                    f"{name:36s} {own:10.2f} {other:10.2f} {own / other:6.2f} {'native' if native else 'other':7s}"
                    f"{'SLOWER ' if bad else '       '} {kernels}",
                    flush=True,
                )
    print(f"{wrong} of {count} on the slower engine")


if __name__ == "__main__":
    main()
