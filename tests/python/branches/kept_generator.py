# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs that count in Python, keep tensors in lists and dicts, leave loops early, and work under masks."""

from __future__ import annotations

from typing import Any

from program_writer import ProgramWriter, compiled

__all__ = ["made"]

_EXPRESSIONS = (
    "torch.tanh({0})",
    "{0} * 0.5 + {1}",
    "{0} - {1}.mean()",
    "torch.maximum({0}, {1})",
    "{0}.flip(0) * 0.3",
    "torch.where({0} > 0, {0}, {1})",
)
_CONDITIONS = ("{}.sum() > {}", "{}[0] > {}", "({} > 1.0).any()", "{}.norm() > 1.5 + {}", "{}[2].item() > {}")
# What is asked of a number is a way of its own.
_NUMBERS = (
    "y = y * min(n, 1.0); self.way.append(n > 1.0)",
    "y = y / max(abs(n), 0.5); self.way.append(n > 0.5)",
    "y = y + 0.1 * n",
    "y = y.clamp(max=n)",
)


class _Writer(ProgramWriter):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.values = ["x", "y", "y"]

    def number(self) -> float:
        return round(self.random.uniform(-0.4, 0.4), 2)

    def value(self) -> str:
        return self.random.choice(self.values)

    def expression(self) -> str:
        return self.random.choice(_EXPRESSIONS).format(self.value(), self.value())

    def condition(self) -> str:
        return self.random.choice(_CONDITIONS).format(self.random.choice(["x", "y"]), self.number())

    # ---- what is kept ----

    def queue(self) -> None:
        """Filled by some calls, emptied by all."""
        entries = self.random.randint(2, 4)
        self.begin.append("self.queue = deque()")
        self.line(0, "if not self.queue:")
        if self.random.random() < 0.5:
            self.line(1, f"self.queue.extend(torch.stack([{', '.join(self.expression() for _ in range(entries))}]))")
        else:
            for _ in range(entries):
                self.line(1, f"self.queue.append({self.expression()})")
        self.line(0, "y = y + self.queue.popleft()")
        self.line(0, "self.way.append(len(self.queue))")

    def counter(self) -> None:
        """Something is computed every so many calls."""
        period = self.random.randint(2, 4)
        self.begin += ["self.step = 0", f"self.held = torch.full((4,), {self.number()})"]
        self.line(0, f"self.way.append(('step', self.step % {period}))")
        self.line(0, f"if self.step % {period} == {self.random.randrange(period)}:")
        write = self.random.choice(["self.held = {}", "self.held.copy_({})"])
        self.line(1, write.format(self.expression()))
        self.line(0, "self.step += 1")
        self.values.append("self.held")

    def place(self) -> None:
        """A Python number that chooses."""
        period = self.random.randint(2, 3)
        self.begin += ["self.at = 0", f"self.table = torch.arange(12.0).reshape(3, 4) * {self.number()}"]
        self.line(0, "self.way.append(('at', self.at))")
        self.line(0, "y = y + self.table[self.at]")
        self.line(0, f"self.at = (self.at + 1) % {period}")

    def first(self) -> None:
        """The first call sets what others use."""
        self.begin.append("self.offset = None")
        self.line(0, "self.way.append(self.offset is None)")
        self.line(0, "if self.offset is None:")
        self.line(1, f"self.offset = {self.expression()}")
        self.values.append("self.offset")

    def row(self) -> None:
        self.begin.append("self.row = [torch.zeros(4) for _ in range(3)]")
        self.line(
            0,
            self.random.choice(["self.row = [*self.row[1:], {}]", "self.row.append({}); self.row.pop(0)"]).format(
                self.expression()
            ),
        )
        self.line(0, "y = torch.stack(self.row).mean(0) + y")

    def named(self) -> None:
        self.begin.append("self.memory = {'a': torch.ones(4), 'b': torch.zeros(4)}")
        self.values += ["self.memory['a']", "self.memory['b']"]
        self.line(0, f"if {self.condition()}:")
        self.line(1, "self.way.append(True)")
        self.line(1, f"self.memory['a'] = {self.expression()}")
        self.line(0, "else:")
        self.line(1, "self.way.append(False)")
        self.line(1, self.random.choice([f"self.memory['b'] = {self.expression()}", "pass"]))

    def state(self) -> None:
        self.begin.append(f"self.s = torch.full((4,), {self.number()})")
        self.values.append("self.s")
        self.line(
            0,
            self.random.choice(
                ["self.s = self.s * 0.8 + 0.2 * ({})", "self.s.copy_({})", "self.s += 0.1 * ({})"]
            ).format(self.expression()),
        )

    # ---- what is done with it ----

    def loop(self) -> None:
        end = self.random.choice(["break", "return y * 1.0"])
        self.line(0, "for i in range(3):")
        self.line(1, f"if y[i] > {0.5 + self.number()}:")
        self.line(2, "self.way.append(True)")
        self.line(2, end)
        self.line(1, "self.way.append(False)")
        self.line(1, f"y = {self.expression()}")

    def mask(self) -> None:
        self.line(0, "y = y * 1.0")
        self.line(0, f"mask = {self.random.choice(['x', 'y'])} > {self.number()}")
        inner = self.random.choice(["rows[rows < 0] = 0.1", "rows[rows > 0.5] *= 0.5", "rows = rows * 2"])
        self.line(0, "rows = y[mask]")
        self.line(0, inner)
        self.line(0, "y[mask] = rows")

    def numbers(self) -> None:
        self.line(0, f"n = {self.value()}.norm().item()")
        self.line(0, self.random.choice(_NUMBERS))

    def branch(self) -> None:
        self.line(0, f"if {self.condition()}:")
        self.line(1, "self.way.append(True)")
        self.line(1, f"y = {self.expression()}")
        self.line(0, "else:")
        self.line(1, "self.way.append(False)")
        if self.random.random() < 0.5:
            self.line(1, f"y = {self.expression()}")

    def write(self) -> str:
        kept = [self.queue, self.counter, self.place, self.first, self.row, self.named, self.state]
        done = [self.loop, self.mask, self.numbers, self.branch]
        parts = self.random.sample(kept, self.random.choice([1, 1, 2])) + self.random.sample(
            done, self.random.choice([0, 1, 1, 2])
        )
        self.random.shuffle(parts)
        self.line(0, "y = x * 1.0")
        for part in parts:
            part()
        self.line(0, f"return ({self.expression()}) * 0.5 + y + x * 0.1")
        return self.text()


def made(seed: int) -> tuple[Any, str]:
    """A class without arguments, and its source. `way` says which way the last call went."""
    return compiled(_Writer(seed).write(), "kept", seed)
