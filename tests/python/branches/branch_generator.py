# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs that branch on data and keep state, as source text."""

from __future__ import annotations

from typing import Any

from program_writer import ProgramWriter, compiled

__all__ = ["made"]

_UNARY = (
    "torch.tanh({})",
    "{}.relu()",
    "{} * 0.5",
    "{} + 0.3",
    "-{}",
    "{}.clamp(-1.0, 1.0)",
    "{}.flip(0)",
    "{} - {}.mean()",
)
_BINARY = ("{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})", "torch.where({0} > 0, {0}, {1})")
_CONDITIONS = (
    "{}.sum() > {}",
    "{}[0] > {}",
    "({} > 1.0).any()",
    "{}.max() < 1.0 + {}",
    "not ({}[1] > {})",
    "{}[2].item() > {}",
    "{}.norm() > 1.5 + {}",
)


class _Writer(ProgramWriter):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.states = self.random.choice([0, 0, 1, 1, 2])

    def value(self) -> str:
        return self.random.choice(["x", "y", "y", *(f"self.s{i}" for i in range(self.states))])

    def expression(self) -> str:
        if self.random.random() < 0.5:
            text = self.random.choice(_UNARY)
            return text.replace("{}", self.value())
        return self.random.choice(_BINARY).format(self.value(), self.value())

    def statement(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.4:
            self.line(depth, f"y = {self.expression()}")
        elif kind < 0.55:
            write = self.random.choice(["y[1] = {0}[0]", "y += {0}", "y.mul_(0.7)", "y[:2] -= {0}[2:]"])
            self.line(depth, "y = y * 1.0")  # the program's own
            self.line(depth, write.format(self.value()))
        elif kind < 0.75 and self.states:
            at = self.random.randrange(self.states)
            way = self.random.choice(
                ["self.s{0} = {1}", "self.s{0}.copy_({1})", "self.s{0} = self.s{0} * 0.9 + 0.1 * ({1})"]
            )
            self.line(depth, way.format(at, self.expression()))
        elif self.branches < 3 and depth < 2:
            self.branch(depth)
        else:
            self.line(depth, f"y = {self.expression()}")

    def branch(self, depth: int) -> None:
        self.branches += 1
        condition = self.random.choice(_CONDITIONS).format(self.value(), round(self.random.uniform(-0.3, 0.3), 2))
        self.line(depth, f"if {condition}:")
        self.line(depth + 1, "self.way.append(True)")
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth + 1)
        if self.random.random() < 0.15:
            self.line(depth + 1, "return y * 1.0")
        self.line(depth, "else:")
        self.line(depth + 1, "self.way.append(False)")
        if self.random.random() < 0.6:
            self.statement(depth + 1)

    def write(self) -> str:
        self.line(0, "y = x * 1.0")
        self.statement(0)
        self.branch(0)
        for _ in range(self.random.randint(1, 3)):
            self.statement(0)
        self.line(0, "return y * 1.0")
        self.begin = [f"self.s{i} = torch.full((4,), {0.25 * (i + 1)})" for i in range(self.states)]
        return self.text()


def made(seed: int) -> tuple[Any, str]:
    """A class without arguments, and its source. `way` has the answers of the last call."""
    return compiled(_Writer(seed).write(), "branches", seed)
