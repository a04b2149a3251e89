# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of operators at each of ONNX Runtime's optimisation levels, against the model that it was given."""

from __future__ import annotations

import functools
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import onnxruntime as ort
from onnx import helper, numpy_helper
from rewrite_operators import Array, Data, Fresh, Shape, Step, numbers, steps

ort.set_default_logger_severity(4)

Outcome: TypeAlias = tuple[Step, list[tuple[Shape, str]]]
FEW_SHAPES = [(4,), (3, 4), (4, 3), (2, 3, 4), (2, 4, 3)]
MOST_TYPES = 60  # walks meet no more: it takes a while to find the valid steps of a type
known: set[tuple[Shape, str]] = set()

LEVELS = {
    "off": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
TYPES = {"float32": 1, "int64": 7, "bool": 9, "float16": 10, "double": 11, "index": 7}
STRUCTURAL = {
    "Transpose", "MatMul", "Gemm", "Einsum", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Expand",
    "Slice", "Split", "Gather", "Concat", "Conv", "Pad", "Softmax", "BatchNormalization", "Dropout",
    "MaxPool", "AveragePool",
}  # fmt: skip
SHAPES: dict[int, list[Shape]] = {
    1: [(4,), (1,)],
    2: [(3, 4), (1, 4), (4, 1), (4, 4)],
    3: [(2, 3, 4), (1, 4, 4), (1, 1, 4)],
    4: [(2, 3, 4, 6), (1, 4, 1, 4), (1, 16, 3, 4)],
}


@dataclass
class Chain:
    """Steps one behind the other, on an input."""

    shape: Shape
    dtype: str
    steps: list[Step]
    ways: tuple[int, ...] = ()  # the output of each step that the next reads
    again: bool = False  # further operands of the input's type are the input
    show_middle: bool = False  # what is between the steps is an output of the model too

    def __str__(self) -> str:
        return (
            f"{self.dtype}{list(self.shape)}{' again' if self.again else ''}{' shown' if self.show_middle else ''} -> "
            + " -> ".join(
                f"{step}{'.' + str(way) if way else ''}" for step, way in zip(self.steps, (*self.ways, 0), strict=False)
            )
        )


def _is_input(operand: Any, chain: Chain) -> bool:
    return isinstance(operand, Fresh) and (operand.shape, operand.dtype) == (chain.shape, chain.dtype)


@dataclass
class Model:
    """Chains side by side, that share nothing."""

    opset: int
    dynamic: bool = False
    nodes: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    initializers: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    feeds: dict[str, Array] = field(default_factory=dict)
    names: list[list[str]] = field(default_factory=list)  # the outputs of each chain

    def add(self, chain: Chain) -> None:
        index = len(self.names)
        value = self._input(f"{index}", Fresh(chain.shape, chain.dtype))
        shown: list[str] = []
        for at, step in enumerate(chain.steps):
            prefix = f"{index}_{at}"
            given = [f"{index}" if chain.again and _is_input(operand, chain) else operand for operand in step.operands]
            operands = [self._operand(f"{prefix}_{k}", operand, value) for k, operand in enumerate(given)]
            while operands and not operands[-1]:
                operands.pop()
            results = [f"{prefix}_r{k}" for k in range(step.outputs)]
            self.nodes.append(helper.make_node(step.op, operands, results, name=prefix, **step.attributes))
            last = at == len(chain.steps) - 1
            way = chain.ways[at] if at < len(chain.ways) else 0
            if last or chain.show_middle:
                shown += results
            value = results[way]
        self.outputs += [helper.make_empty_tensor_value_info(name) for name in shown]
        self.names.append(shown)

    def _operand(self, name: str, operand: Any, data: str) -> str:
        if isinstance(operand, Data):
            return data
        if operand is None:
            return ""
        if isinstance(operand, str):
            return operand
        if isinstance(operand, Fresh):
            return self._input(name, operand)
        self.initializers.append(numpy_helper.from_array(operand, name))
        return name

    def _input(self, name: str, fresh: Fresh) -> str:
        dims: list[Any] = list(fresh.shape)
        if self.dynamic:
            dims = [f"{name}_{k}" for k in range(len(dims))]
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[fresh.dtype], dims))
        if fresh.dtype == "index":
            self.feeds[name] = np.asarray(0, np.int64)
        else:
            self.feeds[name] = numbers(fresh.shape, fresh.dtype, zlib.crc32(name.partition("_")[2].encode()))
        return name

    def bytes(self) -> bytes:
        graph = helper.make_graph(self.nodes, "sweep", self.inputs, self.outputs, self.initializers)
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        return bytes(model.SerializeToString())


def session(data: bytes, level: str, disabled: Sequence[str] = ()) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if disabled:
        options.add_session_config_entry("optimization.disable_specified_optimizers", ";".join(disabled))
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run(
    chains: Sequence[Chain], opset: int, level: str, dynamic: bool = False, disabled: Sequence[str] = ()
) -> list[list[Array]]:
    """The outputs of each chain."""
    model = Model(opset, dynamic)
    for chain in chains:
        model.add(chain)
    found = session(model.bytes(), level, disabled).run(None, model.feeds)
    results, at = [], 0
    for names in model.names:
        results.append(found[at : at + len(names)])
        at += len(names)
    return results


def run_valid(chains: list[Chain], opset: int, dynamic: bool = False) -> list[tuple[Chain, list[Array]]]:
    """Those that the unoptimised ONNX Runtime runs, and what it gives. Not what gives nothing: pools of no elements
    end the process at "all"."""
    try:
        results = zip(chains, run(chains, opset, "off", dynamic), strict=True)
        return [(chain, outputs) for chain, outputs in results if all(one.size for one in outputs)]
    except Exception:
        if len(chains) == 1:
            return []
        half = len(chains) // 2
        return run_valid(chains[:half], opset, dynamic) + run_valid(chains[half:], opset, dynamic)


@dataclass
class Finding:
    chain: Chain
    opset: int
    level: str
    text: str
    dynamic: bool = False

    def __str__(self) -> str:
        return f"[{self.opset} {self.level}{' dynamic' if self.dynamic else ''}] {self.chain}: {self.text}"


def difference(expected: list[Array], found: list[Array]) -> str:
    """Empty when they are the same, but for rounding."""
    for one, other in zip(expected, found, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"expected {one.dtype}{list(one.shape)}, found {other.dtype}{list(other.shape)}"
        if one.dtype.kind != "f":
            if not np.array_equal(one, other):
                return f"expected {one.ravel()[:4]}, found {other.ravel()[:4]}"
            continue
        tolerance = 2e-2 if one.dtype == np.float16 else 2e-4
        if not np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True):
            bad = ~np.isclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)
            return f"{bad.sum()} of {bad.size}: expected {one[bad][:4]}, found {other[bad][:4]}"
    return ""


def compare(
    valid: list[tuple[Chain, list[Array]]], opset: int, level: str, dynamic: bool = False, disabled: Sequence[str] = ()
) -> Iterator[Finding]:
    if not valid:
        return
    chains = [chain for chain, _ in valid]
    try:
        results = run(chains, opset, level, dynamic, disabled)
    except Exception as failure:
        if len(valid) == 1:
            yield Finding(chains[0], opset, level, f"fails: {str(failure).splitlines()[0][:200]}", dynamic)
            return
        half = len(valid) // 2
        yield from compare(valid[:half], opset, level, dynamic, disabled)
        yield from compare(valid[half:], opset, level, dynamic, disabled)
        return
    for (chain, expected), found in zip(valid, results, strict=True):
        text = difference(expected, found)
        if text:
            yield Finding(chain, opset, level, text, dynamic)


@functools.cache
def single_steps(shape: Shape, dtype: str, opset: int) -> list[Outcome]:
    """The valid steps for such a tensor, and what each of their outputs is."""
    known.add((shape, dtype))
    chains = [Chain(shape, dtype, [step]) for step in steps(shape, dtype, opset)]
    return [
        (chain.steps[0], [(one.shape, str(one.dtype)) for one in outputs])
        for chain, outputs in run_valid(chains, opset)
    ]


@functools.cache
def by_name(shape: Shape, dtype: str, opset: int) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for step, outputs in single_steps(shape, dtype, opset):
        found.setdefault(step.op, []).append((step, outputs))
    return found


def _goes_on(at: tuple[Shape, str]) -> bool:
    """Steps are known for such a tensor. An empty one is left alone: what a kernel makes of it is anybody's guess."""
    shape, dtype = at
    return 1 <= len(shape) <= 4 and 0 < np.prod(shape) < 3000 and dtype in ("float32", "float16", "int64", "bool")


@dataclass(frozen=True)
class Few:
    """Fewer pairs than there are."""

    ways: int = 1  # in which the same two operators stand behind one another
    shapes: list[Shape] | None = None  # of what is between them
    total: int | None = None


def pairs(shape: Shape, dtype: str, opset: int, rng: random.Random, few: Few | None) -> list[Chain]:
    """Every operator behind every operator that takes what it gives.

    Without `few`, what rewrites move, join and drop in every way, the rest in two ways.
    """
    ways: dict[tuple[str, str], list[tuple[Step, Step, int]]] = {}
    for first, outputs in single_steps(shape, dtype, opset):
        for way, (middle, middle_dtype) in enumerate(outputs):
            if not _goes_on((middle, middle_dtype)) or (few and few.shapes and middle not in few.shapes):
                continue
            for second, _ in single_steps(middle, middle_dtype, opset):
                ways.setdefault((first.op, second.op), []).append((first, second, way))
    found: list[Chain] = []
    for names, chosen in ways.items():
        most = few.ways if few else len(chosen) if STRUCTURAL.issuperset(names) else 2
        for first, second, way in rng.sample(chosen, min(most, len(chosen))):
            found.append(Chain(shape, dtype, [first, second], (way,), show_middle=rng.random() < 0.1))
    return rng.sample(found, few.total) if few and few.total else found


def walks(shape: Shape, dtype: str, opset: int, rng: random.Random, count: int) -> Iterator[Chain]:
    """Three to five steps, each any operator in any of its ways."""
    for _ in range(count):
        chain = Chain(shape, dtype, [], again=rng.random() < 0.4, show_middle=rng.random() < 0.05)
        at: tuple[Shape, str] = (shape, dtype)
        for _ in range(rng.randint(3, 5)):
            if not _goes_on(at):
                break
            valid = by_name(*at, opset)
            names = sorted(valid)
            liked = [name for name in names if name in STRUCTURAL]
            step, outputs = rng.choice(valid[rng.choice(liked if liked and rng.random() < 0.5 else names)])
            way = rng.randrange(len(outputs))
            if len(known) > MOST_TYPES and outputs[way] not in known:
                continue
            chain.steps.append(step)
            chain.ways = (*chain.ways, way)
            at = outputs[way]
        if len(chain.steps) > 1:
            yield chain


def batches(chains: Iterable[Chain], size: int) -> Iterator[list[Chain]]:
    batch: list[Chain] = []
    for chain in chains:
        batch.append(chain)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
