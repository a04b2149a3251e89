# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that remember observations, each in another way, and how each would fill its memory with the first one."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import torch
from leapp import annotate

FRAMES, SIZE = 4, 3

Array = Any


def weights(shape: tuple[int, ...]) -> torch.Tensor:
    """No two places of a history count the same."""
    return torch.cos(torch.arange(float(np.prod(shape)))).reshape(shape)


class History:
    """[1, frames, size], the oldest first: cat of a slice and the new one."""

    shape: tuple[int, ...] = (1, FRAMES, SIZE)
    axis = 1

    def __init__(self) -> None:
        self.h = torch.zeros(self.shape)
        self.weights = weights(self.shape)

    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return x

    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([self.h[:, 1:], x.unsqueeze(1)], dim=1)

    def fill(self, x: torch.Tensor) -> None:
        self.h = self.frame(x).unsqueeze(self.axis).repeat_interleave(FRAMES, self.axis)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.push(self.frame(x))
        return (self.h * self.weights).sum().reshape(1) + x.sum()


class NewestFirst(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([x[:, None], self.h[:, :-1]], dim=1)


class RollAndWrite(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.roll(self.h, -1, dims=1)
        self.h[:, -1] = x


class RollNewestFirst(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = self.h.roll(1, 1)
        self.h[:, 0] = x


class ShiftInPlace(History):
    def push(self, x: torch.Tensor) -> None:
        self.h[:, :-1] = self.h[:, 1:].clone()
        self.h[:, -1] = x


class CopyInPlace(History):
    def push(self, x: torch.Tensor) -> None:
        self.h.copy_(torch.roll(self.h, -1, 1))
        self.h.select(1, -1).copy_(x)


class NarrowAndCat(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat((self.h.narrow(1, 1, FRAMES - 1), x.view(1, 1, SIZE)), 1)


class PadAndWrite(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.nn.functional.pad(self.h, (0, 0, -1, 1))
        self.h[:, -1:] = x.unsqueeze(1)


class UnbindAndStack(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.stack([*self.h.unbind(1)[1:], x], dim=1)


class IndexAndWrite(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = self.h[:, [1, 2, 3, 0]]
        self.h[:, FRAMES - 1] = x


class ConstantMask(History):
    def push(self, x: torch.Tensor) -> None:
        last = torch.arange(FRAMES).reshape(1, FRAMES, 1) == FRAMES - 1
        self.h = torch.where(last, x.unsqueeze(1), torch.roll(self.h, -1, 1))


class Flat(History):
    """[1, frames * size]."""

    shape = (1, FRAMES * SIZE)

    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([self.h[:, SIZE:], x], dim=1)

    def fill(self, x: torch.Tensor) -> None:
        self.h = self.frame(x).repeat(1, FRAMES)


class FlatNewestFirst(Flat):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([x, self.h[:, :-SIZE]], dim=1)


class FramesInside(History):
    """[1, size, frames]."""

    shape = (1, SIZE, FRAMES)
    axis = 2

    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([self.h[..., 1:], x.unsqueeze(-1)], dim=-1)


class FramesInsideFlat(History):
    """[1, size * frames], every element's frames side by side."""

    shape = (1, SIZE * FRAMES)

    def push(self, x: torch.Tensor) -> None:
        rows = self.h.reshape(1, SIZE, FRAMES)
        self.h = torch.cat([rows[..., 1:], x.unsqueeze(-1)], dim=-1).flatten(1)

    def fill(self, x: torch.Tensor) -> None:
        self.h = x.unsqueeze(-1).repeat(1, 1, FRAMES).flatten(1)


class FramesFirst(History):
    """[frames, 1, size], as Isaac Lab's buffers."""

    shape = (FRAMES, 1, SIZE)
    axis = 0

    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([self.h[1:], x[None]])


class TermsSideBySide(History):
    """One tensor that has the history of one term, and then that of another."""

    shape = (1, FRAMES + 2 * (FRAMES - 1))

    def push(self, x: torch.Tensor) -> None:
        first, second = self.h[:, :FRAMES], self.h[:, FRAMES:]
        self.h = torch.cat([first[:, 1:], x[:, :1], second[:, 2:], x[:, 1:]], dim=1)

    def fill(self, x: torch.Tensor) -> None:
        self.h = torch.cat([x[:, :1].repeat(1, FRAMES), x[:, 1:].repeat(1, FRAMES - 1)], dim=1)


class ScaledAndClipped(History):
    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return (x * torch.tensor([0.5, 2.0, 0.25])).clamp(-0.4, 0.4)


class Normalised(History):
    def __init__(self) -> None:
        super().__init__()
        self.mean, self.std = torch.tensor([0.1, -0.2, 0.3]), torch.tensor([1.5, 0.5, 2.0])

    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) / self.std


class PutTogether(History):
    shape = (1, FRAMES, 2 * SIZE)

    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, torch.sin(x)], dim=-1)


class FlatScaled(Flat):
    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return 0.1 * x


class NewestFirstScaled(NewestFirst):
    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return 0.1 * x


class FramesInsideScaled(FramesInsideFlat):
    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return x / 3

    def fill(self, x: torch.Tensor) -> None:
        super().fill(self.frame(x))


class TermsScaled(TermsSideBySide):
    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def fill(self, x: torch.Tensor) -> None:
        super().fill(self.frame(x))


class Deque(History):
    def __init__(self) -> None:
        super().__init__()
        self.rows = deque([torch.zeros(1, SIZE) for _ in range(FRAMES)], maxlen=FRAMES)

    def push(self, x: torch.Tensor) -> None:
        self.rows.append(x.clone())
        self.h = torch.stack(list(self.rows), dim=1)

    def fill(self, x: torch.Tensor) -> None:
        self.rows.extend([self.frame(x)] * FRAMES)


class DequeScaled(Deque):
    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return x * 0.3


class Ring(History):
    """A circular buffer with a tensor as pointer."""

    shape = (FRAMES, SIZE)

    def __init__(self) -> None:
        super().__init__()
        self.at = torch.zeros((), dtype=torch.int64)

    def push(self, x: torch.Tensor) -> None:
        self.at = (self.at + 1) % FRAMES
        self.h[self.at] = x[0]

    def fill(self, x: torch.Tensor) -> None:
        self.h = x.repeat(FRAMES, 1)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.push(x)
        return (self.h * self.weights).sum().reshape(1) + 2 * self.h[self.at].sum()


class Previous(History):
    """A velocity, from the observation before."""

    shape = (1, SIZE)

    def push(self, x: torch.Tensor) -> None:
        self.speed, self.h = (x - self.h) * 50.0, x

    def fill(self, x: torch.Tensor) -> None:
        self.h = x.clone()

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.push(x)
        return self.speed.tanh()


class WithOtherState(History):
    """The frame has the last action in it, which begins as it was exported; a filter does too."""

    shape = (1, FRAMES, SIZE + 1)

    def __init__(self) -> None:
        super().__init__()
        self.action, self.filtered = torch.full((1, 1), 0.25), torch.full((1, SIZE), 0.5)

    def frame(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, self.action], dim=-1)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.push(self.frame(x))
        self.filtered = 0.8 * self.filtered + 0.2 * x
        self.action = torch.tanh((self.h * self.weights).sum((1, 2)) + self.filtered.sum(1))[:, None]
        return self.action * 2.0


class HistoryOfMeans(History):
    """A history of what another history says."""

    def __init__(self) -> None:
        super().__init__()
        self.means = torch.zeros(1, 3, SIZE)

    def fill(self, x: torch.Tensor) -> None:
        super().fill(x)
        self.means = x.unsqueeze(1).repeat(1, 3, 1)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.push(x)
        self.means = torch.cat([self.means[:, 1:], self.h.mean(1, keepdim=True)], dim=1)
        return (self.h * self.weights).sum().reshape(1) + (self.means * self.weights[:, :3]).sum()


class Declared(History):
    def push(self, x: torch.Tensor) -> None:
        h = annotate.state_tensors("policy", {"h": self.h})
        self.h = annotate.update_state("policy", {"h": torch.cat([h[:, 1:], x.unsqueeze(1)], dim=1)})


class Registered(History):
    def push(self, x: torch.Tensor) -> None:
        h = annotate.register_buffer("policy", {"h": self.h})
        h[:] = torch.cat([h[:, 1:], x.unsqueeze(1)], dim=1)


class Module(History):
    class Net(torch.nn.Module):
        h: torch.Tensor

        def __init__(self, shape: tuple[int, ...]) -> None:
            super().__init__()
            self.register_buffer("h", torch.zeros(shape))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.h = torch.cat([self.h[:, 1:], x.unsqueeze(1)], dim=1)
            return self.h

    def __init__(self) -> None:
        super().__init__()
        self.net = self.Net(self.shape)

    def fill(self, x: torch.Tensor) -> None:
        self.net.h = x.unsqueeze(1).repeat(1, FRAMES, 1)

    def push(self, x: torch.Tensor) -> None:
        annotate.module("policy", self.net)
        self.h = self.net(x)


FOUND: list[type[History]] = [
    History,
    NewestFirst,
    RollAndWrite,
    RollNewestFirst,
    ShiftInPlace,
    CopyInPlace,
    NarrowAndCat,
    PadAndWrite,
    UnbindAndStack,
    IndexAndWrite,
    ConstantMask,
    Flat,
    FlatNewestFirst,
    FramesInside,
    FramesInsideFlat,
    FramesFirst,
    TermsSideBySide,
    ScaledAndClipped,
    Normalised,
    PutTogether,
    FlatScaled,
    NewestFirstScaled,
    FramesInsideScaled,
    TermsScaled,
    Deque,
    DequeScaled,
    Ring,
    Previous,
    WithOtherState,
    HistoryOfMeans,
    Declared,
    Registered,
    Module,
]
