# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that branch on data, as managers, filters and safety code of robots do. Added to branch_programs."""

from __future__ import annotations

import math

import numpy as np
import torch
from branch_programs import program
from torch import nn


@program
class SafetyStop:
    """Latched; what counts is written before anybody has read it, and read in its shape later."""

    def __init__(self) -> None:
        self.stopped = torch.tensor(False)
        self.good = torch.zeros((), dtype=torch.int64)
        self.last = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.stopped:
            self.good += 1
            if self.good > 2:
                self.stopped.fill_(False)
            self.last *= 0.5
            return self.last.clone()
        if x.abs().max() > 1.5:
            self.stopped.fill_(True)
            self.good.zero_()
        self.last[:] = x
        return x


@program
class OutliersRejected:
    def __init__(self) -> None:
        self.mean, self.spread = torch.zeros(4), torch.ones(4)
        self.rejected = torch.zeros((), dtype=torch.int64)

    def __call__(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        error = x - self.mean
        if (error * error / self.spread).sum() > 4.0:
            self.rejected += 1
            self.spread = self.spread * 1.5
            return self.mean * 1.0, self.rejected.clone()
        self.mean = self.mean + 0.3 * error
        self.spread = 0.9 * self.spread + 0.1 * error * error
        self.rejected.zero_()
        return self.mean * 1.0, self.rejected.clone()


@program
class DoneIsSetToZero:
    """What one way computes on its way is what another leaves."""

    def __init__(self) -> None:
        self.h = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        done = x > 1.2
        self.h = 0.7 * self.h + x
        y = self.h.clone()
        if torch.any(done).item():
            self.h = torch.where(done, torch.zeros_like(self.h), self.h)
        return y


@program
class HoldAndResample:
    """One mask on several ways, which choose another number of rows each."""

    def __init__(self) -> None:
        self.goal, self.hold = torch.zeros(4), torch.zeros(4, dtype=torch.int64)
        self.reached = torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        close = (self.goal - 0.3 * x).abs() < 0.4
        self.hold[close] += 1
        self.hold[~close] = 0
        ids = (self.hold >= 2).nonzero(as_tuple=False).squeeze(-1)
        if len(ids) > 0:
            self.reached[ids] += 1
            self.goal[ids] = -0.5 * self.goal[ids] + x[ids]
            self.hold[ids] = 0
        return self.goal - x, self.reached.clone()


@program
class Curriculum:
    """Truths times one are integers."""

    def __init__(self) -> None:
        self.level, self.origins = torch.tensor([0, 1, 2, 3]), torch.arange(5.0)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        ids = (x > 0).nonzero().flatten()
        if len(ids) > 0:
            up = x[ids] > 1.0
            down = (x[ids] < 0.3) * ~up
            self.level[ids] += 1 * up - 1 * down
            self.level[ids] = torch.where(self.level[ids] >= 5, self.level[ids] * 0, torch.clip(self.level[ids], 0))
        return self.origins[self.level] + x


@program
class WindowWrittenToInPart:
    """A new tensor each time, of which a part is written afterwards, and that nobody reads before the next call."""

    def __init__(self) -> None:
        self.window = torch.zeros(3, 4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        before = self.window.sum(0)
        self.window = self.window * 0.5 + x
        self.window[0] = 2 * x
        return before - x if x.sum() > 0.5 else before + x


@program
class FirstValue:
    """Nobody reads what it begins with: the first step sets it, whatever the input."""

    def __init__(self) -> None:
        self.steps, self.mean = torch.zeros(()), torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = x.clone() if self.steps == 0 else 0.9 * self.mean + 0.1 * x
        self.steps += 1
        return self.mean


@program
class MixtureByMasks:
    def __init__(self) -> None:
        torch.manual_seed(2)
        self.gate, self.experts = nn.Linear(1, 3), nn.ModuleList(nn.Linear(1, 2) for _ in range(3))

    @torch.no_grad()
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        rows = x[:, None]
        weights, chosen = torch.topk(self.gate(rows).softmax(-1), 2, dim=-1)
        out = torch.zeros(4, 2)
        for i, expert in enumerate(self.experts):
            row, nth = torch.where(chosen == i)
            out[row] += weights[row, nth, None] * expert(rows[row])
        return out


@program
def heading_in_numbers(x: torch.Tensor) -> torch.Tensor:
    yaw = math.atan2(x[1].item(), x[0].item())
    speed = math.sqrt(x[2].item() ** 2 + x[3].item() ** 2)
    limited = torch.full((2,), min(speed, 1.5))
    return torch.stack([math.cos(yaw) * x[2] - math.sin(yaw) * x[3], x[0] * speed, *limited])


@program
def tensor_of_numbers(x: torch.Tensor) -> torch.Tensor:
    largest = x.abs().max().item()
    return x / torch.tensor(largest) if largest > 1.5 else x * torch.tensor([largest, 1.0, 1.0, float(2)])


@program
def place_in_a_number(x: torch.Tensor) -> torch.Tensor:
    k = x.argmax().item()
    y = x.clone()
    y[k] = 0.0
    return y + x[(k + 1) % 4]


@program
def numpy_decides(x: torch.Tensor) -> torch.Tensor:
    a = np.where(x.numpy() > 0, x.numpy(), -0.1 * x.numpy())
    if np.linalg.norm(a) > 1.2:
        a = a / np.linalg.norm(a)
    return torch.from_numpy(a) * 2


@program
def first_found(x: torch.Tensor) -> torch.Tensor:
    ids = (x > 0.5).nonzero().flatten()
    if len(ids) == 0:
        return x * 0
    return x - x[ids[0]] * x[ids[-1]]
