# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs of ONNX operators over inputs with an axis of one, mostly the first: axes are moved, split, joined,
reduced and repeated in every way, that one among them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LARGEST = 400  # elements, beyond which only operators follow that make it smaller

Shape = list[int]
Value = tuple[str, Shape]


class RowGraph:
    """One of them, by its seed."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self.inputs: list[Value] = []
        for i in range(self.pick.choice([1, 1, 2])):
            shape = [1, *(self.pick.choice([1, 2, 3, 4]) for _ in range(self.pick.choice([1, 1, 2, 2, 3])))]
            self.inputs.append((f"x{i}", shape if self.pick.random() < 0.75 else shape[1:] + shape[:1]))
        self.values = list(self.inputs)
        for _ in range(self.pick.randint(2, 9)):
            self._grow()

    def _grow(self) -> None:
        value = self.values[-1] if self.pick.random() < 0.7 else self.pick.choice(self.values)
        grow = self.pick.choice(SMALLER if math.prod(value[1]) > LARGEST else OPERATORS)
        grow(self, *value)

    def model(self) -> onnx.ModelProto:
        name, shape = self.values[-1]
        if not shape or self.pick.random() < 0.5:
            shape = [1, math.prod(shape)]
        self._nodes.append(helper.make_node("Reshape", [name, self.ints(shape)], ["y"]))
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in self.inputs]
        result = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "g", infos, [result], self._constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, numbers: Shape) -> str:
        return self.constant(np.array(numbers, np.int64))

    def floats(self, *shape: int) -> str:
        return self.constant(self._numbers.standard_normal(shape).astype(np.float32))

    def below(self, limit: int, *shape: int) -> str:
        return self.constant(np.asarray(self._numbers.integers(0, limit, shape), np.int64))

    def add(
        self, operator: str, inputs: list[str], shape: Shape, keep: bool = True, ignored: int = 0, **attributes: Any
    ) -> str:
        """``ignored``: results that nobody reads, beside the first."""
        name = f"v{len(self._nodes)}"
        results = [name, *(f"{name}_{i}" for i in range(ignored))]
        self._nodes.append(helper.make_node(operator, inputs, results, **attributes))
        if keep:
            self.values.append((name, shape))
        return name


def _axis(g: RowGraph, shape: Shape) -> int:
    return g.pick.randrange(len(shape))


def transpose(g: RowGraph, x: str, shape: Shape) -> None:
    order = g.pick.sample(range(len(shape)), len(shape))
    if order:
        g.add("Transpose", [x], [shape[i] for i in order], perm=order)


def reshape(g: RowGraph, x: str, shape: Shape) -> None:
    left, target = math.prod(shape), []
    while left > 1 and g.pick.random() < 0.8:
        target.append(g.pick.choice([one for one in range(2, left + 1) if left % one == 0]))
        left //= target[-1]
    if left > 1 or not target:
        target.append(left)
    for _ in range(g.pick.choice([0, 1, 1, 2])):
        target.insert(g.pick.randrange(len(target) + 1), 1)
    g.add("Reshape", [x, g.ints(target)], target)


def reshape_like(g: RowGraph, x: str, shape: Shape) -> None:
    other, target = g.pick.choice(g.values)
    if target and math.prod(target) == math.prod(shape):
        g.add("Reshape", [x, g.add("Shape", [other], [len(target)], keep=False)], target)


def cut(g: RowGraph, x: str, shape: Shape) -> None:
    if not shape:
        return
    axis = _axis(g, shape)
    first = g.pick.randrange(shape[axis])
    last = g.pick.randint(first + 1, shape[axis])
    target = [*shape[:axis], last - first, *shape[axis + 1 :]]
    g.add("Slice", [x, g.ints([first]), g.ints([last]), g.ints([axis])], target)


def concat(g: RowGraph, x: str, shape: Shape) -> None:
    if not shape:
        return
    axis = _axis(g, shape)
    extent = g.pick.choice([1, 2])
    other = [*shape[:axis], extent, *shape[axis + 1 :]]
    second = g.floats(*other) if g.pick.random() < 0.5 else x
    total = shape[axis] + (shape[axis] if second == x else extent)
    both = [x, second] if g.pick.random() < 0.5 else [second, x]
    g.add("Concat", both, [*shape[:axis], total, *shape[axis + 1 :]], axis=axis)


def reduce(g: RowGraph, x: str, shape: Shape) -> None:
    if not shape:
        return
    axes = sorted(g.pick.sample(range(len(shape)), g.pick.randint(1, len(shape))))
    keep = g.pick.choice([0, 1])
    target = [1 if i in axes else one for i, one in enumerate(shape) if keep or i not in axes]
    g.add(g.pick.choice(["ReduceSum", "ReduceMax", "ReduceMean"]), [x, g.ints(axes)], target, keepdims=keep)


def along(g: RowGraph, x: str, shape: Shape) -> None:
    if not shape:
        return
    axis = _axis(g, shape)
    kind = g.pick.choice(["Softmax", "LogSoftmax", "CumSum", "LayerNormalization", "TopK"])
    if kind == "CumSum":
        g.add(kind, [x, g.constant(np.array(axis, np.int64))], shape)
    elif kind == "LayerNormalization":
        g.add(kind, [x, g.floats(*shape[axis:])], shape, axis=axis)
    elif kind == "TopK":
        count = g.pick.randint(1, shape[axis])
        target = [*shape[:axis], count, *shape[axis + 1 :]]
        g.add(kind, [x, g.ints([count])], target, ignored=1, axis=axis)
    else:
        g.add(kind, [x], shape, axis=axis - len(shape))


def times_constant(g: RowGraph, x: str, shape: Shape) -> None:
    if len(shape) >= 2 and g.pick.random() < 0.3:
        g.add("MatMul", [g.floats(2, shape[-2]), x], [*shape[:-2], 2, shape[-1]])
    elif shape:
        g.add("MatMul", [x, g.floats(shape[-1], 3)], [*shape[:-1], 3])


def times_itself(g: RowGraph, x: str, shape: Shape) -> None:
    if len(shape) < 2:
        return
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    turned = g.add("Transpose", [x], [shape[i] for i in order], perm=order)
    g.add("MatMul", [x, turned], [*shape[:-1], shape[-2]])


def gemm(g: RowGraph, x: str, shape: Shape) -> None:
    if len(shape) != 2:
        return
    turned = g.pick.choice([0, 1])
    rows, depth = shape[turned], shape[1 - turned]
    inputs = [x, g.floats(depth, 3)]
    if g.pick.random() < 0.6:
        inputs.append(g.floats(*g.pick.choice([[3], [1, 3], [rows, 3], [rows, 1]])))
    g.add("Gemm", inputs, [rows, 3], transA=turned)


def einsum(g: RowGraph, x: str, shape: Shape) -> None:
    if len(shape) not in (2, 3):
        return
    letters = "abc"[: len(shape)]
    kept = g.pick.sample(letters, g.pick.randint(1, len(letters)))
    g.add(
        "Einsum", [x, x], [shape[letters.index(one)] for one in kept], equation=f"{letters},{letters}->{''.join(kept)}"
    )


def gather(g: RowGraph, x: str, shape: Shape) -> None:
    if shape:
        axis, places = _axis(g, shape), g.pick.choice([[], [1], [2], [2, 2]])
        target = [*shape[:axis], *places, *shape[axis + 1 :]]
        g.add("Gather", [x, g.below(shape[axis], *places)], target, axis=axis)


def by_element(g: RowGraph, x: str, shape: Shape) -> None:
    if not shape:
        return
    axis = _axis(g, shape)
    if g.pick.random() < 0.5:
        g.add("GatherElements", [x, g.below(shape[axis], *shape)], shape, axis=axis)
        return
    along_axis = np.arange(shape[axis])[::-1].reshape([-1 if i == axis else 1 for i in range(len(shape))])
    places = g.constant(np.ascontiguousarray(np.broadcast_to(along_axis, shape)).astype(np.int64))
    g.add("ScatterElements", [x, places, g.floats(*shape)], shape, axis=axis)


def expand(g: RowGraph, x: str, shape: Shape) -> None:
    target = [one if one > 1 else g.pick.choice([1, 1, 2]) for one in shape]
    target = [g.pick.choice([1, 2]) for _ in range(g.pick.choice([0, 0, 1]))] + target
    g.add("Expand", [x, g.ints(target)], target)


def tile(g: RowGraph, x: str, shape: Shape) -> None:
    times = [g.pick.choice([1, 1, 2]) for _ in shape]
    if times:
        g.add("Tile", [x, g.ints(times)], [a * b for a, b in zip(shape, times, strict=True)])


def unsqueeze(g: RowGraph, x: str, shape: Shape) -> None:
    axis = g.pick.randrange(len(shape) + 1)
    g.add("Unsqueeze", [x, g.ints([axis])], [*shape[:axis], 1, *shape[axis:]])


def squeeze(g: RowGraph, x: str, shape: Shape) -> None:
    ones = [i for i, extent in enumerate(shape) if extent == 1]
    if ones:
        axis = g.pick.choice(ones)
        g.add("Squeeze", [x, g.ints([axis])], [*shape[:axis], *shape[axis + 1 :]])


def flatten(g: RowGraph, x: str, shape: Shape) -> None:
    axis = g.pick.randrange(len(shape) + 1)
    g.add("Flatten", [x], [math.prod(shape[:axis]), math.prod(shape[axis:])], axis=axis)


def with_constant(g: RowGraph, x: str, shape: Shape) -> None:
    other = [g.pick.choice([1, one]) if one > 1 else g.pick.choice([1, 1, 1, 3]) for one in shape]
    other = other[g.pick.randrange(len(shape) + 1) :]
    if g.pick.random() < 0.15:
        other = [2, *[1] * (len(shape) - len(other)), *other]
    target = list(np.broadcast_shapes(tuple(other), tuple(shape)))
    g.add(g.pick.choice(["Add", "Mul", "Sub"]), [x, g.floats(*other)], target)


def with_another(g: RowGraph, x: str, shape: Shape) -> None:
    other, theirs = g.pick.choice(g.values)
    try:
        target = list(np.broadcast_shapes(tuple(shape), tuple(theirs)))
    except ValueError:
        return
    g.add(g.pick.choice(["Add", "Mul", "Max"]), [x, other], target)


def where(g: RowGraph, x: str, shape: Shape) -> None:
    chosen = g.add("Greater", [x, g.floats()], shape, keep=False)
    g.add("Where", [chosen, x, g.floats()], shape)


def arg_max(g: RowGraph, x: str, shape: Shape) -> None:
    if not shape:
        return
    axis, rest = _axis(g, shape), g.pick.choice([0, 1])
    target = [*shape[:axis], *[1] * rest, *shape[axis + 1 :]]
    places = g.add("ArgMax", [x], target, keep=False, axis=axis, keepdims=rest)
    if g.pick.random() < 0.5 or not target:
        g.add("Cast", [places], target, to=TensorProto.FLOAT)
        return
    at = g.pick.randrange(len(target) + 1)
    numbers = g.constant(np.array([0, 1], np.float32))
    g.add("OneHot", [places, g.ints([4]), numbers], [*target[:at], 4, *target[at:]], axis=at)


def pad(g: RowGraph, x: str, shape: Shape) -> None:
    pads = [g.pick.choice([0, 0, 1]) for _ in range(2 * len(shape))]
    if pads:
        target = [one + pads[i] + pads[i + len(shape)] for i, one in enumerate(shape)]
        g.add("Pad", [x, g.ints(pads)], target)


def of_each(g: RowGraph, x: str, shape: Shape) -> None:
    g.add(g.pick.choice(["Tanh", "Relu", "Sigmoid", "Neg", "Elu"]), [x], shape)


SMALLER: list[Callable[[RowGraph, str, Shape], None]] = [reduce, cut, gather]
OPERATORS = [
    *(transpose, reshape, reshape, reshape_like, cut, concat, reduce, along, along, times_constant, times_itself, gemm),
    *(einsum, gather, by_element, expand, tile, unsqueeze, squeeze, flatten, with_constant, with_constant),
    *(with_another, where, arg_max, pad, of_each),
]
