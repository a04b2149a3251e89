# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that branch on data and remember something, added to those of branch_programs."""

from __future__ import annotations

from collections import deque

import torch
from branch_programs import program
from torch import nn

# ---- state ----


@program
class Timer:
    """A command that is drawn anew from the input when its time is over."""

    def __init__(self) -> None:
        self.left = torch.tensor(0.3)
        self.command = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.left -= 0.1
        if self.left <= 0:
            self.command[:] = x * 2
            self.left.fill_(0.4)
        return x + self.command


@program
class TimerReassigned:
    def __init__(self) -> None:
        self.left = torch.tensor(0.25)
        self.command = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.left = self.left - 0.1
        if self.left <= 0:
            self.command = x * 2
            self.left = torch.tensor(0.35)
        return x + self.command


@program
class TimerOfRows:
    """Several environments at once, as Isaac Lab keeps them."""

    def __init__(self) -> None:
        self.left = torch.tensor([0.1, 0.25, 0.4, 0.05])
        self.command = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.left -= 0.1
        ids = (self.left <= 0).nonzero().flatten()
        if len(ids) > 0:
            self.command[ids] = x[ids] * 2
            self.left[ids] = 0.37
        return x + self.command


@program
class ResetHidden:
    def __init__(self) -> None:
        self.h = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 1.0:
            self.h = torch.zeros(4)
        self.h = torch.tanh(self.h * 0.5 + x)
        return self.h


@program
class ResetInPlace:
    def __init__(self) -> None:
        self.h = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 0.5:
            self.h.zero_()
        self.h += x
        return self.h * 1.0


@program
class SetInOnePath:
    def __init__(self) -> None:
        self.goal = torch.ones(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] < -0.3:
            self.goal = x * 3
        return x - self.goal


@program
class SetInBothPaths:
    def __init__(self) -> None:
        self.last = torch.ones(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        before = self.last
        self.last = x * 2 if x[0] > 0 else x * 3
        return before + x


@program
class ReadInOnePath:
    def __init__(self) -> None:
        self.mean = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y = x - self.mean if x[0] > 0 else x * 1.0
        self.mean = 0.9 * self.mean + 0.1 * x
        return y


@program
class FlagTensor:
    """Which way to go is itself what is remembered."""

    def __init__(self) -> None:
        self.on = torch.tensor(False)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 0.8:
            self.on = torch.tensor(True)
        if x[0] < -0.8:
            self.on = torch.tensor(False)
        return x + 5 if self.on else x


@program
class Hysteresis:
    def __init__(self) -> None:
        self.on = torch.zeros(())

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.on > 0.5:
            if x.mean() < -0.3:
                self.on.fill_(0.0)
        elif x.mean() > 0.3:
            self.on.fill_(1.0)
        return x * (1 + self.on)


@program
class Debounce:
    def __init__(self) -> None:
        self.count = torch.zeros((), dtype=torch.int64)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 0:
            self.count += 1
        else:
            self.count.zero_()
        if self.count >= 2:
            return x * 10
        return x


@program
class GaitClock:
    def __init__(self) -> None:
        self.phase = torch.zeros(())

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.phase += 0.13
        if self.phase > 1.0:
            self.phase -= 1.0
        return x + torch.sin(6.2831855 * self.phase)


@program
class LastActionHeld:
    def __init__(self) -> None:
        self.last = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.abs().max() < 1.5:
            return self.last * 1.0
        self.last = x * 0.5
        return self.last


@program
class RateLimit:
    def __init__(self) -> None:
        self.last = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        step = x - self.last
        if step.norm() > 1:
            step = step / step.norm()
        self.last = self.last + step
        return self.last


@program
class Integrator:
    def __init__(self) -> None:
        self.sum = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        total = self.sum + x
        if total.abs().max() < 2.0:
            self.sum = total
        return x + 0.1 * self.sum


@program
class TwoStates:
    def __init__(self) -> None:
        self.a, self.b = torch.zeros(4), torch.ones(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 0:
            self.a = self.a * 0.5 + x
        else:
            self.b = self.b * 0.5 - x
        return self.a + self.b


@program
class Swap:
    def __init__(self) -> None:
        self.a, self.b = torch.zeros(4), torch.ones(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 0:
            self.a, self.b = self.b * 1.0, self.a * 1.0
        return x + self.a - 2 * self.b


@program
class HistoryWithReset:
    def __init__(self) -> None:
        self.history = torch.zeros(3, 4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 1.0:
            self.history = torch.zeros(3, 4)
        self.history = torch.cat([self.history[1:], x[None]])
        return self.history.sum(0)


@program
class GruWithReset:
    def __init__(self) -> None:
        torch.manual_seed(5)
        self.cell = nn.GRUCell(4, 4)
        self.h = torch.zeros(1, 4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            if x[3] > 0.9:
                self.h = torch.zeros(1, 4)
            self.h = self.cell(x[None], self.h)
            return self.h[0]


@program
class BufferOfAModule:
    class Normaliser(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(4))
            self.register_buffer("frozen", torch.tensor(False))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x[0] > 0:
                self.mean = 0.9 * self.mean + 0.1 * x
            return x - self.mean

    def __init__(self) -> None:
        self.module = self.Normaliser()

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.module(x)


@program
class StateMachine:
    """Three modes, one of them left by the input, one by time."""

    def __init__(self) -> None:
        self.mode = torch.zeros((), dtype=torch.int64)
        self.time = torch.zeros(())

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.time += 0.1
        if self.mode == 0:
            y = x * 1.0
            if x[0] > 0.5:
                self.mode.fill_(1)
                self.time.zero_()
        else:
            y = x * 0.5
            if self.time > 0.25:
                self.mode.fill_(0)
        return y


# ---- what state begins with ----


@program
class BeginningStays:
    """The tensor that state begins with is also read for itself."""

    def __init__(self) -> None:
        self.rest = torch.full((4,), 0.25)
        self.pose = self.rest

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            self.pose = 0.5 * self.pose + 0.1 * self.rest + 0.1 * x
        else:
            self.pose = self.pose * 0.9
        return self.pose + x


@program
class BeginningInOnePath:
    def __init__(self) -> None:
        self.rest = torch.full((4,), 0.25)
        self.pose = self.rest

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            self.pose = 0.5 * self.pose + 0.1 * x
            return x + self.rest
        self.pose = self.pose * 0.9
        return self.pose + x


@program
class BackToTheBeginning:
    def __init__(self) -> None:
        self.rest = torch.full((4,), 0.25)
        self.pose = self.rest

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() < -1:
            self.pose = self.rest
        self.pose = self.pose * 0.9 + 0.1 * x
        return self.pose + x


@program
class MadeInTheFirstCall:
    def __init__(self) -> None:
        self.hidden: torch.Tensor | None = None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.hidden is None:
            self.hidden = torch.zeros(4)
        if x.sum() > 0:
            self.hidden = self.hidden * 0.9 + 0.1 * x
        return self.hidden - x


@program
class CopiedInTheFirstCall:
    def __init__(self) -> None:
        self.pattern = torch.full((4,), 0.5)
        self.hidden: torch.Tensor | None = None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.hidden is None:
            self.hidden = self.pattern.clone()
        if x[0] > 0:
            self.hidden = self.hidden * 0.9 + 0.1 * x
        return self.hidden - x


@program
class WeightOrState:
    """One operator reads a constant on one way and state on the other."""

    def __init__(self) -> None:
        self.weight = torch.full((4,), 2.0)
        self.last = torch.full((4,), 2.0)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y = x * (self.weight if x[0] < 0 else self.last)
        if x[1] > 0:
            self.last = y * 0.5
        return y


@program
class ReadForWhatIsKept:
    """On one way the state is read for nothing but its next value."""

    def __init__(self) -> None:
        self.mean = torch.full((4,), 0.25)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.norm() > 1.5:
            return torch.tanh(x) - self.mean
        self.mean = self.mean * 0.9 + 0.1 * (self.mean * x)
        return x.flip(0)


# ---- rows of tensors ----


@program
class RowOfLists:
    def __init__(self) -> None:
        self.row = [torch.zeros(4) for _ in range(3)]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.row = [*self.row[1:], x * 1.0]
        y = torch.stack(self.row).mean(0)
        return y * 2 if y.sum() > 0 else y


@program
class RowOfADeque:
    """What goes into the row is computed otherwise on each way."""

    def __init__(self) -> None:
        self.row = deque([torch.zeros(4) for _ in range(3)], maxlen=3)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            x = -x
        self.row.append(x * 1.0)
        return torch.cat(list(self.row)).reshape(3, 4).mean(0)


@program
class RowOnOneWay:
    """Each entry goes on to the next on one way, and stays on the other."""

    def __init__(self) -> None:
        self.row = [torch.zeros(4) for _ in range(3)]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            self.row = [*self.row[1:], x * 1.0]
        return torch.stack(self.row).mean(0) + x


@program
class RollOnOneWay:
    def __init__(self) -> None:
        self.rows = torch.zeros(3, 4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 0:
            self.rows = torch.roll(self.rows, -1, 0)
            self.rows[-1] = x
        return self.rows.mean(0) * x


@program
class ShiftOnOneWay:
    def __init__(self) -> None:
        self.rows = torch.zeros(3, 4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x[0] > 0:
            self.rows[:-1] = self.rows[1:].clone()
            self.rows[-1] = x
        return self.rows.mean(0) * x


# ---- what cannot be one model ----


@program
class InPlaceAndReplaced:
    def __init__(self) -> None:
        self.sum = torch.full((4,), 0.25)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > -0.05:
            self.sum = torch.tanh(x)
        self.sum.copy_(x + self.sum)
        return torch.maximum(self.sum, x)
