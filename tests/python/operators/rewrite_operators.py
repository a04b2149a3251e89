# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The operators that policies use, as steps that can stand before or behind one another: see rewrite_sweep.py.

For a tensor of some shape and dtype, steps() gives what may be done to it: each operator with several attributes, the
tensor in each place, the other operands as constants and as inputs of the model. Constants are small multiples of 1/8,
so that most results are the same in whatever order they are summed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Shape: TypeAlias = tuple[int, ...]
Array: TypeAlias = NDArray[Any]

FLOATS = ("float32", "float16")
EINSUMS = {
    1: ["i->i", "i,i->", "i,j->ij", "i,ij->j"],
    2: ["ij->ji", "ij->j", "ij,j->i", "ij,i->j", "ij,kj->ik", "ji,jk->ik", "ij,ij->i", "ij,jk->ki"],
    3: ["bij,bjk->bik", "bij->bji", "bij,j->bi", "bij,bkj->bik", "bij,bkj->bki", "bij,ij->b"],
    4: ["bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "bhqk,bhkd->bqhd", "abcd->dcba", "abcd,d->abc"],
}


@dataclass(frozen=True)
class Fresh:
    """An input of the model."""

    shape: Shape
    dtype: str


class Data:
    """The tensor that the step is done to."""


DATA = Data()
Operand: TypeAlias = "Data | Fresh | Array | None"  # None: left out


@dataclass(frozen=True, eq=False)
class Step:
    op: str
    operands: list[Operand] = field(default_factory=lambda: [DATA])
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1

    def __str__(self) -> str:
        def word(operand: Operand) -> str:
            if isinstance(operand, Data):
                return "x"
            if operand is None:
                return "-"
            if isinstance(operand, Fresh):
                return f"in{list(operand.shape)}"
            value = operand.tolist() if operand.size <= 4 else "..."
            return f"{value}" if operand.ndim < 2 and operand.size <= 4 else f"const{list(operand.shape)}"

        words = [word(operand) for operand in self.operands]
        words += [f"{key}={value}" for key, value in self.attributes.items()]
        return f"{self.op}({', '.join(words)})"


def numbers(shape: Shape, dtype: str, seed: int = 0) -> Array:
    """Small multiples of 1/8, of both signs, with zeros; few are above six."""
    random = np.random.default_rng([seed, *shape])
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype in FLOATS:
        values = random.integers(-16, 17, shape) / 8 + (random.random(shape) < 0.05) * 6
        return np.asarray(values, dtype)
    return np.asarray(random.integers(-3, 6, shape), dtype)


def const(values: Any, dtype: str = "int64") -> Array:
    return np.asarray(values, dtype)


def steps(shape: Shape, dtype: str, opset: int) -> Iterator[Step]:
    """What may be done to such a tensor. Some may turn out not to be valid: ONNX Runtime says so."""
    yield from _shapes(shape, dtype, opset)
    if dtype == "bool":
        yield from _logic(shape)
        return
    yield from _elementwise(shape, dtype)
    yield from _reductions(shape, dtype, opset)
    yield from _places(shape, dtype)
    if dtype in FLOATS:
        yield from _floats(dtype, opset)
        yield from _products(shape, dtype)
        yield from _normalisations(shape, dtype, opset)
        yield from _images(shape, dtype)
        yield from _recurrent(shape, dtype)


def _others(shape: Shape, dtype: str) -> Iterator[Operand]:
    """Second operands of an operator that broadcasts."""
    yield const(0, dtype)
    yield const(1, dtype)
    yield const([1], dtype)
    yield const(np.zeros((1,) * (len(shape) + 1)), dtype)  # changes the rank
    yield const(np.ones((2, *shape)), dtype)
    yield const(2, dtype)
    yield numbers(shape[-1:], dtype, 1)
    yield numbers(shape, dtype, 2)
    yield Fresh(shape, dtype)
    yield Fresh((2, *shape), dtype)
    yield Fresh((), dtype)
    if len(shape) > 1:
        yield numbers((*shape[:-1], 1), dtype, 3)
        yield numbers((shape[0],) + (1,) * (len(shape) - 1), dtype, 3)
        yield Fresh(shape[-1:], dtype)


def _elementwise(shape: Shape, dtype: str) -> Iterator[Step]:
    for op in ["Add", "Sub", "Mul", "Div", "Min", "Max", "Pow"]:
        for other in _others(shape, dtype):
            yield Step(op, [DATA, other])
            yield Step(op, [other, DATA])
        yield Step(op, [DATA, DATA])
    for other in [numbers(shape, dtype, 2), Fresh(shape, dtype), Fresh((2, *shape), dtype)]:
        yield Step("Sum", [DATA, other])
    for op in ["Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"]:
        for other in [const(0, dtype), Fresh(shape, dtype), numbers(shape[-1:], dtype, 4)]:
            yield Step(op, [DATA, other])
            yield Step(op, [other, DATA])
    for op in ["Neg", "Abs", "Sign", "Identity"]:
        yield Step(op)
    for divisor in [const(3, dtype), Fresh(shape, dtype)]:
        yield Step("Mod", [DATA, divisor], {"fmod": 1 if dtype in FLOATS else 0})
    for condition in [numbers(shape, "bool", 5), Fresh(shape, "bool"), Fresh((), "bool"), const(True, "bool")]:
        for other in [const(0, dtype), Fresh(shape, dtype), const(np.ones((2, *shape)), dtype)]:
            yield Step("Where", [condition, DATA, other])
            yield Step("Where", [condition, other, DATA])
    zero, six, two = const(0, dtype), const(6, dtype), const(2, dtype)
    for low, high in [(zero, six), (zero, None), (None, two), (const(-1, dtype), const(1, dtype)), (None, None)]:
        yield Step("Clip", [DATA, low, high])
    yield Step("Clip", [DATA, Fresh((), dtype), None])
    for to in {1, 7, 9, 10, 11} if dtype == "float32" else {1, 7, 9}:
        yield Step("Cast", [DATA], {"to": to})


def _logic(shape: Shape) -> Iterator[Step]:
    yield Step("Not")
    for op in ["And", "Or", "Xor", "Equal"]:
        for other in [const(True, "bool"), const(False, "bool"), Fresh(shape, "bool"), numbers(shape, "bool", 6)]:
            yield Step(op, [DATA, other])
    for to in [1, 7]:
        yield Step("Cast", [DATA], {"to": to})
    for x, y in [
        (Fresh(shape, "float32"), Fresh(shape, "float32")),
        (const(1, "float32"), const(0, "float32")),
        (Fresh(shape, "float32"), const(0, "float32")),
        (numbers((2, *shape), "float32"), Fresh((), "float32")),
    ]:
        yield Step("Where", [DATA, x, y])


def _floats(dtype: str, opset: int) -> Iterator[Step]:
    for op in ["Sqrt", "Exp", "Tanh", "Sigmoid", "Relu", "Softplus", "Erf", "Floor", "Ceil", "Round", "Reciprocal"]:
        yield Step(op)
    for op in ["Log", "Sin", "Cos", "Softsign", "HardSigmoid", "Selu", "Elu", "LeakyRelu", "ThresholdedRelu", "IsNaN"]:
        yield Step(op)
    for op, alpha in [("LeakyRelu", 0.5), ("Elu", 2.0), ("HardSigmoid", 0.5), ("ThresholdedRelu", 0.25)]:
        yield Step(op, attributes={"alpha": alpha})
    if opset >= 14:
        yield Step("HardSwish")
    if opset >= 20:
        yield Step("Gelu")
        yield Step("Gelu", attributes={"approximate": "tanh"})
    yield Step("Dropout", [DATA, const(0.5, dtype), const(False, "bool")])
    yield Step("Dropout")


def _axes(shape: Shape) -> list[int]:
    return sorted({0, len(shape) - 1, max(len(shape) - 2, 0)})


def _shapes(shape: Shape, dtype: str, opset: int) -> Iterator[Step]:
    rank = len(shape)
    orders = list(itertools.permutations(range(rank)))
    if rank == 4:
        orders = [(0, 1, 2, 3), (3, 2, 1, 0), (0, 1, 3, 2), (0, 2, 3, 1), (0, 3, 1, 2), (1, 0, 2, 3), (2, 0, 1, 3)]
    for order in orders:
        yield Step("Transpose", [DATA], {"perm": list(order)})
    yield Step("Transpose")
    for target in {(-1,), (1, -1), (0, -1), shape, (*shape, 1), (*shape[1:], shape[0]), (1, *shape), (-1, shape[-1])}:
        yield Step("Reshape", [DATA, const(target)])
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    for axes in [ones, ones[:1], [axis - rank for axis in ones[-1:]]]:
        if axes:
            yield Step("Squeeze", [DATA, const(axes)])
    yield Step("Squeeze")
    for axes in [[0], [-1], [1], [0, 2]]:
        yield Step("Unsqueeze", [DATA, const(axes)])
    for axis in {0, 1, rank, -1}:
        yield Step("Flatten", [DATA], {"axis": axis})
    for axis in _axes(shape):
        other = [numbers(shape, dtype, 7), Fresh(shape, dtype)]
        for one in other:
            yield Step("Concat", [DATA, one], {"axis": axis})
            yield Step("Concat", [one, DATA], {"axis": axis - rank})
        yield Step("Concat", [DATA, DATA], {"axis": axis})
        yield Step("Concat", [DATA], {"axis": axis})
        for index in [const(0), const(-1), const([0]), const([0, -1]), const([[-1, 0]]), Fresh((), "index")]:
            yield Step("Gather", [DATA, index], {"axis": axis})
        whole = np.iinfo(np.int64).max
        for start, end, stride in [
            (0, whole, 1),
            (0, 1, 1),
            (-1, whole, 1),
            (1, whole, 1),
            (-1, -whole, -1),
            (0, 9, 2),
        ]:
            yield Step("Slice", [DATA, const([start]), const([end]), const([axis]), const([stride])])
        if shape[axis] % 2 == 0:
            half = const([shape[axis] // 2] * 2)
            yield Step("Split", [DATA, half], {"axis": axis}, outputs=2)
            if opset >= 18:
                yield Step("Split", [DATA], {"axis": axis - rank, "num_outputs": 2}, outputs=2)
        if shape[axis] > 1:
            yield Step("Split", [DATA, const([1, shape[axis] - 1])], {"axis": axis}, outputs=2)
    for target in {shape, (2, *shape), (1,) * rank, tuple(3 if size == 1 else size for size in shape)}:
        yield Step("Expand", [DATA, const(target)])
    for repeats in [[1] * rank, [2] * rank, [2] + [1] * (rank - 1)]:
        yield Step("Tile", [DATA, const(repeats)])


def _places(shape: Shape, dtype: str) -> Iterator[Step]:
    """Operators that put or take elements by their place."""
    rank = len(shape)
    border = [0, 0] + [1] * (rank - 2) if rank > 2 else [0] * (rank - 1) + [1]
    for pads in [[0] * rank + [1] * rank, [1] * (2 * rank), [0] * (2 * rank), border + [0] * rank, border * 2]:
        yield Step("Pad", [DATA, const(pads)])
        yield Step("Pad", [DATA, const(pads), const(2, dtype)])
        yield Step("Pad", [DATA, const(pads)], {"mode": "edge"})
    for axis in _axes(shape):
        index = np.zeros(shape, np.int64)
        yield Step("GatherElements", [DATA, index], {"axis": axis})
        for update in [Fresh(shape, dtype), numbers(shape, dtype, 8)]:
            one = np.take(np.arange(shape[axis])[::-1], np.indices(shape)[axis])
            yield Step("ScatterElements", [DATA, one, update], {"axis": axis})
            yield Step("ScatterElements", [update, one, DATA], {"axis": axis})
        yield Step("CumSum", [DATA, const(axis)])
        yield Step("CumSum", [DATA, const(axis)], {"exclusive": 1, "reverse": 1})
    yield Step("ScatterND", [DATA, const([[0]]), Fresh((1, *shape[1:]), dtype)])
    yield Step("ScatterND", [DATA, const([[-1]]), numbers((1, *shape[1:]), dtype, 9)])
    yield Step("ScatterND", [Fresh(shape, dtype), const(np.arange(shape[0])[:, None]), DATA])
    yield Step("GatherND", [DATA, const([[0], [-1]])])
    if rank >= 2:
        for upper, diagonal in [(0, None), (1, None), (0, const(-1)), (1, const(1))]:
            yield Step("Trilu", [DATA, diagonal] if diagonal is not None else [DATA], {"upper": upper})


def _reductions(shape: Shape, dtype: str, opset: int) -> Iterator[Step]:
    for op in ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare", "ReduceProd"]:
        if dtype not in FLOATS and op in ("ReduceL2", "ReduceSumSquare"):
            continue
        for axes in [[axis] for axis in _axes(shape)] + [[-1], list(range(len(shape)))]:
            for keep in [0, 1]:
                as_input = op == "ReduceSum" or opset >= 18
                operands: list[Operand] = [DATA, const(axes)] if as_input else [DATA]
                attributes = {"keepdims": keep} if as_input else {"keepdims": keep, "axes": axes}
                yield Step(op, operands, attributes)
        yield Step(op)
    yield Step("ReduceSum", attributes={"noop_with_empty_axes": 1})
    for op in ["ArgMax", "ArgMin"]:
        for axis, keep in itertools.product(_axes(shape), [0, 1]):
            yield Step(op, [DATA], {"axis": axis, "keepdims": keep})


def _normalisations(shape: Shape, dtype: str, opset: int) -> Iterator[Step]:
    for op in ["Softmax", "LogSoftmax"]:
        for axis in _axes(shape):
            yield Step(op, [DATA], {"axis": axis})
        yield Step(op)
    if opset >= 17:
        for axis in _axes(shape):
            scale, bias = np.abs(numbers(shape[axis:], dtype, 10)), numbers(shape[axis:], dtype, 11)
            yield Step("LayerNormalization", [DATA, scale, bias], {"axis": axis})
            yield Step("LayerNormalization", [DATA, scale], {"axis": axis - len(shape)})
            yield Step("LayerNormalization", [DATA, Fresh(shape[axis:], dtype), bias], {"axis": axis, "epsilon": 0.1})
    if opset >= 23:
        yield Step("RMSNormalization", [DATA, numbers(shape[-1:], dtype, 10)])
    if len(shape) < 2:
        return
    channel = shape[1:2]
    scale, bias, mean = (numbers(channel, dtype, seed) for seed in [12, 13, 14])
    variance = np.abs(numbers(channel, dtype, 15)) + const(1, dtype)
    yield Step("BatchNormalization", [DATA, scale, bias, mean, variance])
    yield Step("BatchNormalization", [DATA, scale, bias, mean, variance], {"epsilon": 0.5})
    fresh = Fresh(channel, dtype)
    yield Step("BatchNormalization", [DATA, fresh, fresh, fresh, variance])
    if len(shape) > 2:
        yield Step("InstanceNormalization", [DATA, scale, bias])
        yield Step("InstanceNormalization", [DATA, fresh, bias], {"epsilon": 0.1})
    yield Step("LpNormalization", [DATA], {"axis": -1})


def _products(shape: Shape, dtype: str) -> Iterator[Step]:
    rank, last, before = len(shape), shape[-1], shape[-2] if len(shape) > 1 else shape[-1]
    left = [(last,), (last, 3), (2, last, 3), (*shape[:-2], last, 2)]
    right = [(before,), (3, before), (2, 3, before), (*shape[:-2], 2, before)]
    for other in dict.fromkeys(left):
        yield Step("MatMul", [DATA, Fresh(other, dtype)])
        yield Step("MatMul", [DATA, numbers(other, dtype, 16)])
    for other in dict.fromkeys(right):
        yield Step("MatMul", [Fresh(other, dtype), DATA])
        yield Step("MatMul", [numbers(other, dtype, 17), DATA])
    if before == last:
        yield Step("MatMul", [DATA, DATA])
    if rank == 2:
        yield from _gemms(shape, dtype)
    for equation in EINSUMS[rank]:
        first, *others = equation.split("->")[0].split(",")
        sizes = dict(zip(first, shape, strict=True))
        yield Step(
            "Einsum",
            [DATA, *(Fresh(tuple(sizes.get(k, 3) for k in other), dtype) for other in others)],
            {"equation": equation},
        )


def _gemms(shape: Shape, dtype: str) -> Iterator[Step]:
    rows, columns = shape
    for flip_a, flip_b in itertools.product([0, 1], [0, 1]):
        inner, outer = (rows, columns) if flip_a else (columns, rows)
        size = (3, inner) if flip_b else (inner, 3)
        attributes = {"transA": flip_a, "transB": flip_b}
        for bias in [None, numbers((3,), dtype, 18), numbers((outer, 1), dtype, 18), Fresh((), dtype)]:
            for other in [numbers(size, dtype, 19), Fresh(size, dtype)]:
                yield Step("Gemm", [DATA, other, *([] if bias is None else [bias])], attributes)
        yield Step(
            "Gemm",
            [DATA, numbers(size, dtype, 19), numbers((3,), dtype, 18)],
            {**attributes, "alpha": 0.5, "beta": 2.0},
        )
        inner, outer = (columns, rows) if flip_b else (rows, columns)
        size = (inner, 3) if flip_a else (3, inner)
        for other in [numbers(size, dtype, 20), Fresh(size, dtype)]:
            yield Step("Gemm", [other, DATA], attributes)
            yield Step("Gemm", [other, DATA, numbers((outer,), dtype, 21)], {**attributes, "alpha": 2.0})
    yield Step("Gemm", [Fresh((rows, 3), dtype), numbers((3, columns), dtype, 22), DATA])
    yield Step("Gemm", [Fresh((rows, 3), dtype), Fresh((3, columns), dtype), DATA], {"beta": 0.5})


def _images(shape: Shape, dtype: str) -> Iterator[Step]:
    rank = len(shape)
    if rank < 3:
        return
    channels, spatial = shape[1], rank - 2
    filters = 16 if channels % 16 == 0 else 4  # sixteen are laid out in blocks
    bias = numbers((filters,), dtype, 23)
    for size in [1, 2, 3]:
        kernel = (size,) * spatial
        pads = [size // 2] * (2 * spatial)
        weight = numbers((filters, channels, *kernel), dtype, 24)
        yield Step("Conv", [DATA, weight, bias], {"pads": pads})
        yield Step("Conv", [DATA, weight], {"pads": pads, "strides": [2] * spatial})
        yield Step("Conv", [DATA, Fresh(weight.shape, dtype), bias], {"pads": pads})
        weight = numbers((channels, 1, *kernel), dtype, 25)
        yield Step("Conv", [DATA, weight, numbers((channels,), dtype, 23)], {"pads": pads, "group": channels})
        yield Step(
            "ConvTranspose", [DATA, numbers((channels, filters, *kernel), dtype, 26), bias], {"strides": [2] * spatial}
        )
    attributes = {"kernel_shape": [2] * spatial, "pads": [1] * (2 * spatial)}
    yield Step("MaxPool", [DATA], attributes)
    yield Step("MaxPool", [DATA], {"kernel_shape": [2] * spatial, "strides": [2] * spatial})
    yield Step("MaxPool", [DATA], {"kernel_shape": [2] * spatial, "strides": [2] * spatial, "ceil_mode": 1})
    yield Step("AveragePool", [DATA], {"kernel_shape": [3] * spatial, "strides": [2] * spatial, "ceil_mode": 1})
    for included in [0, 1]:
        yield Step("AveragePool", [DATA], {**attributes, "count_include_pad": included})
    yield Step("GlobalAveragePool")
    yield Step("GlobalMaxPool")


def _recurrent(shape: Shape, dtype: str) -> Iterator[Step]:
    if len(shape) != 3:
        return
    hidden = 2
    for op, gates in [("GRU", 3), ("LSTM", 4), ("RNN", 1)]:
        for direction, count in [("forward", 1), ("bidirectional", 2)]:
            weight = numbers((count, gates * hidden, shape[-1]), dtype, 27)
            recurrence = numbers((count, gates * hidden, hidden), dtype, 28)
            bias = numbers((count, 2 * gates * hidden), dtype, 29)
            attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
            if op == "GRU":
                attributes["linear_before_reset"] = 1
            state = Fresh((count, shape[1], hidden), dtype)
            outputs = 3 if op == "LSTM" else 2
            operands: list[Operand] = [DATA, weight, recurrence, bias]
            yield Step(op, operands, attributes, outputs)
            yield Step(op, [*operands, None, state], attributes, outputs)
