# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs: the bundle, wired as its YAML says, gives for fresh inputs what eager torch gives.

A program is three numbers; a failure prints them. To run that program alone:
LEAPP_PROGRAM=seed,operators,nodes pytest tests/python/test_properties.py
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import difference, difference_in_bits, read_yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from leapp import annotate
from torch import Tensor

EXAMPLES = int(os.environ.get("LEAPP_PROGRAMS", "200"))  # the same ones each time; 2,000 in make test-long


class Program:
    """A random program. What it does follows from the numbers and from shapes, never from values."""

    def __init__(self, seed: int, operators: int, nodes: int) -> None:
        self.numbers = (seed, operators, nodes)
        self.external: dict[str, Tensor] = {}  # "node/port" -> what the last run was given there
        self.last: dict[str, Tensor] = {}  # "node/port" -> what the last run published there

    def run(self, values: int, captured: bool) -> None:
        """Once, with inputs drawn from `values`; with `captured` inside an active session."""
        seed, operators, nodes = self.numbers
        self.choose = random.Random(seed)
        self.values = torch.Generator().manual_seed(values)
        # Made before the nodes: to them these are plain tensors of the program.
        self.buffers = [[self.constant(i) for i in range(2)] for _ in range(nodes)]
        self.external, self.last = {}, {}
        self.published: list[Tensor] = []
        for node in range(nodes):
            self.node(f"n{node}", max(1, operators // nodes), captured)

    # ---- A node ------------------------------------------------------------------------------------------------------

    def node(self, name: str, operators: int, captured: bool) -> None:
        given, self.frozen = {}, set()
        for i in range(self.choose.randint(1, 3)):
            if self.published and self.choose.random() < 0.6:
                given[f"x{i}"] = self.passed_on(self.choose.choice(self.published))
            else:
                given[f"x{i}"] = self.external[f"{name}/x{i}"] = self.fresh()
        self.external = {key: value.clone() for key, value in self.external.items()}
        inputs = annotate.input_tensors(name, given) if captured else tuple(given.values())
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        self.anchor = inputs[0].sum() * 0.5  # before anything overwrites it
        self.pool = [*inputs, *self.buffers.pop()]
        for _ in range(operators):
            self.operator()
        outputs = {f"y{i}": self.result(inputs) for i in range(self.choose.randint(1, 3))}
        if captured:
            annotate.output_tensors(name, outputs, export_with="jit")
        self.published += outputs.values()
        self.last.update({f"{name}/{port}": value.detach().clone() for port, value in outputs.items()})

    def fresh(self) -> Tensor:
        shape = [self.choose.randint(1, 4) for _ in range(self.choose.randint(1, 3))]
        if self.choose.random() < 0.1:
            return torch.randint(-3, 4, shape, generator=self.values)
        dtype = torch.float64 if self.choose.random() < 0.3 else torch.float32
        return torch.randn(shape, generator=self.values, dtype=dtype)

    def constant(self, i: int) -> Tensor:
        shape = [self.choose.randint(1, 4) for _ in range(self.choose.randint(1, 2))]
        return torch.arange(float(torch.Size(shape).numel())).reshape(shape) * 0.1 + i

    def passed_on(self, tensor: Tensor) -> Tensor:
        """An edge: what keeps the values. Others may hold the same memory, so only a copy is written to."""
        kind = self.choose.choice(["same", "clone", "detach", "contiguous", "view", "slice", "to"])
        if kind == "clone":
            return tensor.clone()
        self.frozen.add(tensor.untyped_storage().data_ptr())
        keep: dict[str, Callable[[], Tensor]] = {
            "same": lambda: tensor,
            "detach": tensor.detach,
            "contiguous": tensor.contiguous,
            "view": lambda: tensor.view(tensor.shape),
            "slice": lambda: tensor[...],
            "to": lambda: tensor.to(tensor.dtype),
        }
        return keep[kind]()

    def result(self, inputs: tuple[Tensor, ...]) -> Tensor:
        """Something computed, joined with an input so that it depends on one; now and then an input as it came."""
        unchanged = [x for x in inputs if x.untyped_storage().data_ptr() in self.frozen]
        if unchanged and self.choose.random() < 0.1:
            return self.choose.choice(unchanged)
        return self.pick() + self.anchor

    # ---- An operator -------------------------------------------------------------------------------------------------

    def pick(self) -> Tensor:
        recent = self.pool[-6:] if self.choose.random() < 0.7 else self.pool
        return self.choose.choice(recent)

    def float_one(self) -> Tensor:
        tensor = self.pick()
        return tensor if tensor.is_floating_point() else tensor.to(torch.float32)

    def axis(self, tensor: Tensor) -> int:
        return self.choose.randrange(-tensor.ndim, tensor.ndim)

    def part(self, tensor: Tensor) -> Any:
        """A random basic index."""
        index: list[Any] = []
        for size in tensor.shape:
            kind = self.choose.random()
            start = self.choose.randrange(size)
            if kind < 0.3:
                index.append(slice(None))
            elif kind < 0.5 and tensor.ndim > 1:
                index.append(start)
            elif kind < 0.8:
                index.append(slice(start, self.choose.randint(start + 1, size)))
            else:
                index.append(slice(start, None, 2))
        return tuple(index)

    def operator(self) -> None:
        kind = self.choose.choices(
            [self.unary, self.binary, self.view, self.write, self.join, self.reduce, self.product, self.index],
            weights=[4, 5, 5, 6, 2, 3, 1, 2],
        )[0]
        found = kind()
        for tensor in found if isinstance(found, (tuple, list)) else [found]:
            if 0 < tensor.numel() <= 256 and 0 < tensor.ndim <= 4:
                self.pool.append(tensor)

    def unary(self) -> Tensor:
        x = self.float_one()
        c = self.choose.choice([0.5, 1.0, -2.0, 3])
        return self.choose.choice(
            [
                lambda: torch.sin(x),
                lambda: torch.tanh(x) + c,
                lambda: x.abs(),
                lambda: -x,
                lambda: torch.relu(x),
                lambda: torch.sigmoid(x) * c,
                lambda: c - x,
                lambda: x.clamp(min=-1.5, max=abs(c)),
                lambda: x.to(torch.float64),
                lambda: x.clone(),
                lambda: torch.nn.functional.elu(x),
                lambda: torch.softmax(x, dim=self.axis(x)),
                lambda: torch.where(x > 0, x, c),
                lambda: torch.full_like(x, c) * x,
            ]
        )()

    def binary(self) -> Tensor:
        x = self.float_one()
        y = self.matching(x)
        y = y.to(x.dtype) if y.dtype == torch.bool else y
        return self.choose.choice(
            [
                lambda: x + y,
                lambda: x - y,
                lambda: (x * y).clamp(-8, 8),
                lambda: torch.maximum(x, y.to(x.dtype)),
                lambda: x / (y.abs() + 1.0),
                lambda: torch.where(x > y, x, y.to(x.dtype)),
                lambda: torch.lerp(x, y.to(x.dtype), 0.25),
                lambda: torch.add(x, y, alpha=2),
                lambda: torch.addcmul(x, y.to(x.dtype), y.to(x.dtype), value=0.1).clamp(-8, 8),
                lambda: torch.atan2(x, y.abs() + 1.0),
            ]
        )()

    def matching(self, x: Tensor) -> Tensor:
        """Something that can stand beside `x` without making it larger."""
        for _ in range(4):
            y = self.pick()
            if y.ndim <= x.ndim and all(b in (1, a) for a, b in zip(x.shape[::-1], y.shape[::-1], strict=False)):
                return y
        return x.detach()

    def view(self) -> Any:
        x = self.pick()
        flat = x.numel()
        return self.choose.choice(
            [
                lambda: x[self.part(x)],
                lambda: x.transpose(self.axis(x), self.axis(x)),
                lambda: x.reshape(-1),
                lambda: x.reshape(flat // 2, 2) if flat % 2 == 0 else x.unsqueeze(0),
                lambda: x.unsqueeze(self.choose.randint(0, x.ndim)),
                lambda: x.squeeze(),
                lambda: x.unsqueeze(0).expand(2, *x.shape),
                lambda: x.flip(0),
                lambda: x.chunk(2, dim=self.axis(x)),
                lambda: x.unbind(0)[:2] if x.ndim > 1 else x[...],
                lambda: x.movedim(0, -1),
                lambda: x.diagonal() if x.ndim > 1 else x[:1],
                lambda: x.unfold(0, x.shape[0], 1),
                lambda: x.data,
            ]
        )()

    def writable(self) -> Tensor:
        for _ in range(4):
            x = self.pick()
            overlaps = any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True))
            if x.is_floating_point() and not overlaps and x.untyped_storage().data_ptr() not in self.frozen:
                return x
        return self.float_one().clone(memory_format=torch.contiguous_format)

    def write(self) -> Tensor:
        x = self.writable()
        y = self.matching(x).to(x.dtype)
        if y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
            y = y.clone()  # torch refuses some that overlap
        c = self.choose.choice([0.25, -1.0, 2])

        def assign() -> Tensor:
            part = self.part(x)
            x[part] = self.choose.choice([c, torch.tanh(x[part])])
            return x

        def through_view() -> Tensor:
            part = x[self.part(x)]
            part.mul_(0.5).add_(c)
            return x

        def out() -> Tensor:
            result = torch.empty_like(x)
            torch.sub(x, y, out=result)
            return result

        def masked() -> Tensor:
            x[x > 0.5] = c
            return x

        return self.choose.choice(
            [
                lambda: x.add_(y),
                lambda: x.mul_(0.5),
                lambda: x.copy_(y.clone()),
                lambda: x.t().sub_(c).t() if x.ndim == 2 else x.sub_(c),
                lambda: x.masked_fill_(x < 0, c),
                lambda: x.index_fill_(0, torch.tensor([0]), c),
                lambda: x.clamp_(-2, 2),
                lambda: torch.tanh_(x),
                assign,
                assign,
                through_view,
                through_view,
                out,
                masked,
            ]
        )()

    def join(self) -> Tensor:
        x = self.float_one()
        y = self.matching(x).to(x.dtype).expand(x.shape)
        return self.choose.choice(
            [
                lambda: torch.cat([x, y], dim=self.axis(x)),
                lambda: torch.stack([x, y], dim=self.choose.randint(0, x.ndim)),
                lambda: torch.cat([y, x[:1]], dim=0),
                lambda: torch.nn.functional.pad(x, (1, 0), value=2.0),
                lambda: x.repeat(2, *[1] * (x.ndim - 1)),
            ]
        )()

    def reduce(self) -> Tensor:
        x = self.float_one()
        axis, keep = self.axis(x), self.choose.random() < 0.7
        return self.choose.choice(
            [
                lambda: x.sum(axis, keepdim=keep).clamp(-8, 8),
                lambda: x.mean(axis, keepdim=keep),
                lambda: x.amax(axis, keepdim=keep),
                lambda: x.min(axis, keepdim=keep).values,
                lambda: x.cumsum(axis).clamp(-8, 8),
                lambda: x.std(axis, keepdim=keep, unbiased=False),
                lambda: x.mean().reshape(1),
                lambda: x.argmax(axis, keepdim=keep),
                lambda: (x > 0).any(axis, keepdim=keep),
                lambda: x.sort(axis).values,
            ]
        )()

    def product(self) -> Tensor:
        x = self.float_one()
        x = x if x.ndim == 2 else x.reshape(x.shape[0], -1)
        return self.choose.choice(
            [
                lambda: (x @ x.t()).clamp(-8, 8),
                lambda: torch.mm(x.t(), x).clamp(-8, 8),
                lambda: torch.nn.functional.linear(x, torch.ones(2, x.shape[1], dtype=x.dtype) * 0.1),
                lambda: torch.einsum("ij,kj->ik", x, x * 0.1).clamp(-8, 8),
            ]
        )()

    def index(self) -> Tensor:
        x = self.float_one()
        axis = self.axis(x)
        rows = [self.choose.randrange(x.shape[0]) for _ in range(2)]
        return self.choose.choice(
            [
                lambda: x[rows],
                lambda: x.index_select(axis, torch.tensor([0])),
                lambda: x.gather(axis, x.argsort(axis)),
                lambda: torch.take_along_dim(x, x.argmax(axis, keepdim=True), dim=axis),
                lambda: x[torch.tensor([0]), ..., -1:] if x.ndim > 1 else x[torch.tensor([0])],
                lambda: x.roll(1, axis),
            ]
        )()


# ---- Export and compare ----------------------------------------------------------------------------------------------


class Bundle:
    """What was written, loaded by plain torch."""

    def __init__(self, folder: Path) -> None:
        bundle = read_yaml(folder)
        pipeline = bundle["pipeline"]
        self.nodes = bundle["models"]
        self.models = {node: torch.jit.load(str(folder / f"{node}.pt")) for node in self.nodes}
        self.initial = initial_values(folder, pipeline.get("initial_values"))
        self.sources = {target: source for source, targets in pipeline["data_flow"].items() for target in targets}

    def run(self, external: dict[str, Tensor]) -> dict[str, Tensor]:
        """The models as the YAML wires them, from the initial state: "node/port" -> value."""
        found: dict[str, Tensor] = {}
        known = external | self.initial
        for node, description in self.nodes.items():
            keys = [f"{node}/{port['name']}" for port in description["inputs"]]
            inputs = [found[self.sources[key]] if key in self.sources else known[key] for key in keys]
            with torch.no_grad():
                outputs = self.models[node](*(tensor.clone() for tensor in inputs))
            outputs = [outputs] if isinstance(outputs, Tensor) else outputs
            names = [port["name"] for port in description["outputs"]]
            found.update({f"{node}/{name}": value for name, value in zip(names, outputs, strict=True)})
        return found


def initial_values(folder: Path, file: str | None) -> dict[str, Tensor]:
    """What state held before the first call: the content of buffers that are read before they are written."""
    if file is None:
        return {}
    data = (folder / file).read_bytes()
    length = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            first, last = (8 + length + offset for offset in entry["data_offsets"])
            dtype = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64, "BOOL": torch.bool}[entry["dtype"]]
            found[name] = torch.frombuffer(bytearray(data[first:last]), dtype=dtype).reshape(entry["shape"])
    return found


def problem_of(program: Program, folder: Path) -> str | None:
    """What is wrong with the export of the program, or None."""
    program.run(1, captured=False)
    expected = program.last
    leapp.start("g", save_path=str(folder))
    program.run(1, captured=True)
    leapp.stop()
    problem = difference_in_bits(list(expected.values()), list(program.last.values()))
    if problem is not None:
        return f"capture changed what the program computes: {problem}"
    leapp.compile_graph(visualize=False, validate=False)
    bundle = Bundle(folder / "g")
    for values in (1, 2):
        program.run(values, captured=False)
        found = bundle.run(program.external)
        for port, value in program.last.items():
            problem = difference([value], [found[port]], rtol=1e-4, atol=1e-5)
            if problem is not None:
                return f"{port} with inputs {values}: {problem}"
    return None


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    # In memory where there is such a place: a hundred thousand small files are written.
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = Path(tempfile.mkdtemp(dir=shared))
    yield path
    shutil.rmtree(path)


def check(numbers: tuple[int, int, int], folder: Path) -> None:
    replay_with = "LEAPP_PROGRAM=" + ",".join(map(str, numbers))
    try:
        problem = problem_of(Program(*numbers), folder)
    except Exception as error:
        raise AssertionError(f"{replay_with}: {error}") from error
    assert problem is None, f"{replay_with}: {problem}"


def test_random_programs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    one = os.environ.get("LEAPP_PROGRAM")
    if one is not None:
        seed, operators, nodes = map(int, one.split(","))
        check((seed, operators, nodes), folder)
        return

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(st.integers(0, 2**48), st.integers(5, 30), st.integers(1, 4))
    def run(seed: int, operators: int, nodes: int) -> None:
        check((seed, operators, nodes), folder)

    run()


# ---- Payloads --------------------------------------------------------------------------------------------------------

NAMES = st.text("ab_0", min_size=1, max_size=3)
PAYLOADS = st.dictionaries(
    NAMES,
    st.recursive(
        st.lists(st.integers(1, 3), min_size=1, max_size=2),  # a shape
        lambda inner: st.one_of(
            st.dictionaries(NAMES, inner, min_size=1, max_size=3),
            st.lists(inner, min_size=1, max_size=3).map(tuple),
        ),
        max_leaves=6,
    ),
    min_size=1,
    max_size=3,
)


def filled(shapes: Any) -> Any:
    """A payload: tensors where the shapes are; tuples of odd length become lists."""
    if isinstance(shapes, dict):
        return {key: filled(inner) for key, inner in shapes.items()}
    if isinstance(shapes, tuple):
        return [filled(inner) for inner in shapes] if len(shapes) % 2 else tuple(filled(inner) for inner in shapes)
    return torch.rand(shapes)


def flat(name: str, value: Any) -> list[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        return [(name, value)]
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, inner in parts for leaf in flat(f"{name}_{key}", inner)]


def mapped(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: mapped(function, inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, inner) for inner in value)
    return function(value)


def test_random_payloads(folder: Path) -> None:
    @settings(max_examples=EXAMPLES // 10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(PAYLOADS)
    def run(shapes: dict[str, Any]) -> None:
        payload = filled(shapes)
        leaves = [leaf for name, value in payload.items() for leaf in flat(name, value)]
        names = [name for name, _ in leaves]
        if len(set(names)) != len(names):
            leapp.start("p", save_path=str(folder))
            with pytest.raises(ValueError, match=r"unique|twice|two"):
                annotate.input_tensors("n", payload)
            leapp.stop()
            return
        leapp.start("p", save_path=str(folder))
        given = annotate.input_tensors("n", payload)
        given = given if len(payload) > 1 else (given,)
        assert repr(mapped(lambda t: t.shape, tuple(given))) == repr(
            mapped(lambda t: t.shape, tuple(payload.values()))
        ), "the structure comes back"
        results = {name: mapped(lambda t: t * 2 + 1, value) for name, value in zip(payload, given, strict=True)}
        annotate.output_tensors("n", results, export_with="jit")
        leapp.stop()
        leapp.compile_graph(visualize=False, validate=False)
        ports = read_yaml(folder / "p")["models"]["n"]
        assert [port["name"] for port in ports["inputs"]] == names
        assert [port["name"] for port in ports["outputs"]] == names
        model = torch.jit.load(str(folder / "p" / "n.pt"))
        fresh = [torch.rand_like(tensor) for _, tensor in leaves]
        outputs = model(*fresh)
        outputs = [outputs] if isinstance(outputs, Tensor) else outputs
        assert difference([tensor * 2 + 1 for tensor in fresh], list(outputs)) is None

    run()
