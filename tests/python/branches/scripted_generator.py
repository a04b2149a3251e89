# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Random scripted functions with branches, loops and writes in place, as source text."""

from __future__ import annotations

import random
from typing import Any

import torch

__all__ = ["made"]

_UNARY = ("torch.tanh({})", "{}.relu()", "{} * 0.5", "{} + 0.3", "-{}", "{}.clamp(-1.0, 1.0)", "{}.flip([0])")
_BINARY = ("{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})")
_CONDITIONS = ("{}.sum() > {}", "{}[0] > {}", "{}[3] < {}", "{}.abs().max() > 1.0 + {}")
_WRITES = ("{0} += {1}", "{0} *= 0.5", "{0}[1:3] = {1}[0:2] * 2.0", "{0}[2] = {1}[1] + 1.0", "{0}.clamp_(-2.0, 2.0)")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0
        self.inside: list[str] = []

    def value(self) -> str:
        return self.random.choice(["x", "y", "y", "z"])

    def expression(self) -> str:
        if self.random.random() < 0.5:
            return self.random.choice(_UNARY).replace("{}", self.value())
        return self.random.choice(_BINARY).format(self.value(), self.value())

    def condition(self) -> str:
        threshold = self.random.choice(["0.0", "0.5", "-0.5"])
        return f"bool({self.random.choice(_CONDITIONS).format(self.value(), threshold)})"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)

    def statement(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.4 or depth > 2:
            self.line(depth, f"{self.random.choice('yyz')} = {self.expression()}")
        elif kind < 0.52:
            self.line(depth, self.random.choice(_WRITES).format(self.random.choice("yz"), self.value()))
        elif kind < 0.6:
            self.line(depth, f"y = y * float({self.value()}.mean()) + {self.random.choice([1, 2])}")
        elif kind < 0.78:
            self.branch(depth)
        elif kind < 0.96:
            self.loop(depth)
        elif self.inside:
            self.line(depth, f"if {self.condition()}:")
            self.line(depth + 1, self.random.choice(["break", "continue"]))
        else:
            self.line(depth, f"if {self.condition()}:")
            self.line(depth + 1, "return y + z")

    def block(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)

    def branch(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1)
        if self.random.random() < 0.6:
            self.line(depth, "else:")
            self.block(depth + 1)

    def loop(self, depth: int) -> None:
        self.loops += 1
        name = f"k{self.loops}"
        if self.random.random() < 0.5:
            self.line(depth, f"for {name} in range(min(int({self.value()}.abs().sum()), 4)):")
        else:
            self.line(depth, f"{name} = 0")
            self.line(depth, f"while {name} < 5 and {self.condition()}:")
            self.line(depth + 1, f"{name} += 1")
        self.inside.append(name)
        self.block(depth + 1)
        if self.random.random() < 0.3:
            self.line(depth + 1, f"y = y * 0.5 + {name}")
        self.inside.pop()

    def source(self) -> str:
        self.line(0, "y = x * 0.5")
        self.line(0, "z = x + 0.25")
        self.loop(0) if self.random.random() < 0.5 else self.branch(0)
        for _ in range(self.random.randint(1, 3)):
            self.statement(0)
        self.line(0, "return torch.tanh(y) + z * 0.1")
        return "\n".join(["def f(x: Tensor) -> Tensor:", *self.lines, ""])


def made(seed: int) -> tuple[Any, str]:
    """A scripted function and its source."""
    source = _Writer(seed).source()
    unit: Any = torch.jit.CompilationUnit(source)
    return unit.f, source
