# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Scripted code with branches and loops. Each takes x of shape (4,) and gives tensors of a fixed shape.

`KEPT`: what must come out as branches and loops of the model, whatever way the calls went that were recorded.
`WRITTEN_OUT`: what no loop of a model can do; the model has as many rounds as were seen, and the log says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Program = Callable[[torch.Tensor], Any]
KEPT: dict[str, Callable[[], Program]] = {}
WRITTEN_OUT: dict[str, Callable[[], Program]] = {}


def kept(make: Any) -> Any:
    KEPT[make.__name__] = make if isinstance(make, type) else lambda: make
    return make


def written_out(make: Any) -> Any:
    WRITTEN_OUT[make.__name__] = make if isinstance(make, type) else lambda: make
    return make


def scripted(function: Any) -> Any:
    made: Any = torch.jit.script(function)
    return made


# ---- loops ----


@scripted
def _broken_off_inside(x: torch.Tensor) -> torch.Tensor:
    """Whether what it breaks off with is what it goes on with depends on the data."""
    y = x * 0.5
    z = x + 0.25
    count = 0
    while count < 5 and bool(y.sum() > -0.5):
        count += 1
        z = x - y
        if bool(y.abs().max() > 0.6):
            z = x * x
            y = x.relu() * 0.3
            if bool(y.sum() > 0.5):
                break
        else:
            y = y + 0.1
    return y + z


@kept
def broken_off_inside(x: torch.Tensor) -> torch.Tensor:
    return _broken_off_inside(x)


@scripted
def _no_round_inside(x: torch.Tensor) -> torch.Tensor:
    """The inner loop gives back what it was given when it does nothing."""
    y = x * 0.5
    for _ in range(min(int(x.abs().sum()), 4)):
        y.clamp_(-2.0, 2.0)
        rounds = 0
        while rounds < 3 and bool(y[0] > 0.5):
            rounds += 1
            y = y * 0.75 - 0.2
    return y


@kept
def no_round_inside(x: torch.Tensor) -> torch.Tensor:
    return _no_round_inside(x)


@scripted
def _count(x: torch.Tensor) -> torch.Tensor:
    n = int(x.abs().sum())
    y = torch.zeros_like(x)
    for i in range(n):
        y = y * 0.5 + x * i
    return y


@kept
def count(x: torch.Tensor) -> torch.Tensor:
    return _count(x)


@scripted
def _newton(x: torch.Tensor) -> torch.Tensor:
    target = x.abs() + 0.1
    guess = torch.ones_like(target)
    while bool((guess * guess - target).abs().max() > 1e-3):
        guess = 0.5 * (guess + target / guess)
    return guess


@kept
def newton(x: torch.Tensor) -> torch.Tensor:
    return _newton(x) + 1


@scripted
def _until(x: torch.Tensor) -> torch.Tensor:
    total = 0.0
    rounds = 0
    while total < 5.0 and rounds < 9:
        total = total + float(x.abs().mean()) + 0.25
        rounds = rounds + 1
    return x * total + rounds


@kept
def numbers_are_carried(x: torch.Tensor) -> torch.Tensor:
    return _until(x)


@scripted
def _flag(x: torch.Tensor) -> torch.Tensor:
    found = False
    i = 0
    while not found and i < 4:
        found = bool(x[i] > 0.5)
        i += 1
    return x + i if found else x - i


@kept
def flags_are_carried(x: torch.Tensor) -> torch.Tensor:
    return _flag(x)


@scripted
def _first_over(x: torch.Tensor) -> torch.Tensor:
    for i in range(4):
        if bool(x[i] > 0.5):
            return x * 2 + i
    return x - 1


@kept
def early_return(x: torch.Tensor) -> torch.Tensor:
    return _first_over(x)


@scripted
def _break_continue(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(4)
    for i in range(8):
        if bool(y.sum() > 3.0):
            break
        if bool(x[i % 4] < 0):
            continue
        y = y + x.abs() * 0.5 + 0.1
    return y


@kept
def break_and_continue(x: torch.Tensor) -> torch.Tensor:
    return _break_continue(x)


@scripted
def _nested(x: torch.Tensor) -> torch.Tensor:
    y = x
    if bool(x[0] > 0):
        for _ in range(int(x.abs().sum())):
            if bool(y.sum() > 2.0):
                y = y - x.abs()
            else:
                for k in range(int(x[1].abs() * 2)):
                    y = y + 0.5 * k
    return y


@kept
def branch_in_loop_in_branch(x: torch.Tensor) -> torch.Tensor:
    return _nested(x)


@scripted
def _long(x: torch.Tensor) -> torch.Tensor:
    for _ in range(100):
        x = x * 0.9 + torch.sin(x) * 0.1
    return x


@kept
def long_and_fixed(x: torch.Tensor) -> torch.Tensor:
    return _long(x)


# ---- writes in place ----


@scripted
def _fill(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(4)
    for i in range(min(int(x.abs().sum()), 4)):
        y[i] = x[i] * 2 + i
    return y


@kept
def rows_at_the_round(x: torch.Tensor) -> torch.Tensor:
    return _fill(x)


@scripted
def _accumulate(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(2, 4)
    first = y[0]
    while bool(y.sum() < 4.0):
        y += x.abs() + 0.1
        first *= 0.5
    return y.sum(0) + first


@kept
def views_are_written_to(x: torch.Tensor) -> torch.Tensor:
    return _accumulate(x)


@scripted
def _shrink(x: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    while bool(buffer.norm() > 1.0):
        buffer.mul_(0.5)
    return x + buffer


@kept
def arguments_are_written_to(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    buffer = x * 3
    y = _shrink(x, buffer)
    return y, buffer


@scripted
def _either(x: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    if bool(x[0] > 0):
        buffer[1:3] = x[1:3] * 2
    else:
        buffer += 1
    return x


@kept
def a_branch_that_only_writes(x: torch.Tensor) -> torch.Tensor:
    buffer = x * 1.0
    y = _either(x, buffer)
    return y - buffer


@scripted
def _before(x: torch.Tensor) -> torch.Tensor:
    now = x.abs() + 0.2
    before = now
    while bool(now.sum() < 9.0):
        before = now
        now = now * 1.5
    return now - before


@kept
def what_it_was_the_round_before(x: torch.Tensor) -> torch.Tensor:
    return _before(x)


# ---- branches ----


@scripted
def _sides(x: torch.Tensor) -> torch.Tensor:
    if bool((x > 1.0).any()):
        y = x.clamp(-1.0, 1.0) * 2
        k = 3
    elif bool(x.sum() < 0):
        y = -x
        k = 5
    else:
        y = x
        k = 7
    return y * k


@kept
def one_side_is_enough(x: torch.Tensor) -> torch.Tensor:
    return _sides(x)


@scripted
def _table(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    k = (x[0] * 4).long()
    y = x
    if bool(k >= 0) and bool(k < 3):
        y = x + table[k]
    return y


@kept
def a_side_that_fails_elsewhere(x: torch.Tensor) -> torch.Tensor:
    return _table(x, torch.tensor([10.0, 20.0, 30.0]))


@scripted
def _gain(x: torch.Tensor) -> torch.Tensor:
    n = float(x.norm())
    y = x
    if n > 1.5:
        y = x * (1.5 / n)
    return y


@kept
def numbers_as_factors(x: torch.Tensor) -> torch.Tensor:
    return _gain(x)


@scripted
def _helper(x: torch.Tensor, k: int) -> torch.Tensor:
    if bool(x[k] > 0):
        return x * 2
    return x - 1


@scripted
def _calls(x: torch.Tensor) -> torch.Tensor:
    y = _helper(x, 0)
    z = _helper(y, 1)
    return _helper(z, 2) + _helper(x, 3)


@kept
def scripted_code_that_calls_scripted_code(x: torch.Tensor) -> torch.Tensor:
    return _calls(x)


@kept
def twice_in_a_node(x: torch.Tensor) -> torch.Tensor:
    return _gain(x * 2) + _count(x)


@kept
def without_gradients(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return _newton(x)


# ---- modules and state ----


class _Refiner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.layer = nn.Linear(4, 4)
        self.register_buffer("scale", torch.tensor(0.5))
        self.most = 6

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(x)
        i = 0
        while i < self.most and bool(h.abs().sum() > 1.0):
            h = torch.tanh(self.layer(h)) * self.scale
            i += 1
        return h + i


@kept
class Refiner:
    def __init__(self) -> None:
        self.module = torch.jit.script(_Refiner().eval())

    def __call__(self, x: torch.Tensor) -> Any:
        return self.module(x)


class _Filter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("h", torch.zeros(4))
        self.register_buffer("hits", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while bool(self.hits.sum() > 2.0):
            self.hits -= 1
        if bool(x[0] > 0):
            self.hits += 1
        self.h = self.h * 0.8 + x * self.hits
        return self.h + 1


@kept
class ScriptedState:
    """`self.h` is another tensor each time, `self.hits` is written in place by a loop and a branch."""

    def __init__(self) -> None:
        self.module = torch.jit.script(_Filter().eval())

    def __call__(self, x: torch.Tensor) -> Any:
        return self.module(x)


@kept
class StateOfThePlainProgram:
    def __init__(self) -> None:
        self.left = torch.tensor(1.0)

    def __call__(self, x: torch.Tensor) -> Any:
        y = _settle(x, self.left)
        return y + self.left


@scripted
def _settle(x: torch.Tensor, left: torch.Tensor) -> torch.Tensor:
    left -= 0.3
    while bool(left < 0):
        left += 1
    return x * left


# ---- what no loop of a model can do ----


@scripted
def _rows(x: torch.Tensor) -> torch.Tensor:
    rows = [x]
    for i in range(int((x[0] > 0).long()) + 1):
        rows.append(x * i)
    return torch.stack(rows).sum(0)


@written_out
def a_list_that_grows(x: torch.Tensor) -> torch.Tensor:
    return _rows(x)


@scripted
def _grow(x: torch.Tensor) -> torch.Tensor:
    y = x
    while y.shape[0] < 6 + int(x[0] > 0):
        y = torch.cat([y, x[:1]])
    return y.sum() + x


@written_out
def a_shape_that_grows(x: torch.Tensor) -> torch.Tensor:
    return _grow(x)


@scripted
def _alias(x: torch.Tensor) -> torch.Tensor:
    y = x
    if bool(x.sum() > 0):
        y = x * 2
    y += 1
    return y + x


@written_out
def a_write_to_what_may_be_another_tensor(x: torch.Tensor) -> torch.Tensor:
    return _alias(x * 1.0)
