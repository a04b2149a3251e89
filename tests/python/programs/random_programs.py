# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A random program: three numbers say which."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from leapp import annotate
from torch import Tensor


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
