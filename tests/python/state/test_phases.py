# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that count in Python: queues of actions, what is computed every so many steps, a first call of its own."""

from __future__ import annotations

import random
from collections import deque
from pathlib import Path

import closed_loop
import harness
import leapp
import pytest
import torch

COUNTS = "the program counts by itself"


class Chunks:
    """ACT: some actions at once, handed out one by one."""

    def __init__(self, length: int = 4) -> None:
        torch.manual_seed(1)
        self.length, self.network = length, torch.nn.Linear(4, 3 * length)
        self.queue: deque[torch.Tensor] = deque()

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if not self.queue:
            self.queue.extend(self.network(x).view(self.length, 3))
        return self.queue.popleft()


class ScaledChunks(Chunks):
    """What comes out of the queue is worked on."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(super().__call__(x)) * 2 + x[:3]


class Diffusion:
    """A history of observations, which the first one fills, and a queue of actions."""

    def __init__(self) -> None:
        torch.manual_seed(2)
        self.network = torch.nn.Linear(8, 4 * 3)
        self.seen: deque[torch.Tensor] = deque(maxlen=2)
        self.actions: deque[torch.Tensor] = deque(maxlen=3)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append(x)
        while len(self.seen) < 2:
            self.seen.append(x)
        if len(self.actions) == 0:
            chunk = self.network(torch.cat(list(self.seen))).view(4, 3)
            self.actions.extend(chunk[1:])
        return self.actions.popleft()


class EveryFourth:
    def __init__(self) -> None:
        torch.manual_seed(3)
        self.encoder, self.head = torch.nn.Linear(4, 6), torch.nn.Linear(10, 3)
        self.step = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.step % 4 == 0:
            self.latent = torch.tanh(self.encoder(x))
        self.step += 1
        return self.head(torch.cat([self.latent, x]))


class EveryFourthInPlace(EveryFourth):
    def __init__(self) -> None:
        super().__init__()
        self.latent = torch.zeros(6)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.step % 4 == 0:
            self.latent.copy_(torch.tanh(self.encoder(x)))
        self.step += 1
        return self.head(torch.cat([self.latent, x]))


class ReadBeforeItIsSet(EveryFourth):
    def __init__(self) -> None:
        super().__init__()
        self.latent = torch.zeros(6)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y = self.head(torch.cat([self.latent, x]))
        if self.step % 3 == 0:
            self.latent = torch.tanh(self.encoder(x))
        self.step += 1
        return y


class PlaceInTheChunk(Chunks):
    """The chunk is one tensor, the place in it a Python number."""

    def __init__(self) -> None:
        super().__init__()
        self.place = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.place == 0:
            self.chunk = self.network(x).view(self.length, 3)
        action = self.chunk[self.place]
        self.place = (self.place + 1) % self.length
        return action


class WithABranch(Chunks):
    """Data decides, too: what leaves the queue is limited."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        action = super().__call__(x)
        return action / action.norm() if action.norm() > 0.8 else action


class WithState(EveryFourth):
    """State that every call changes, beside what some do."""

    def __init__(self) -> None:
        super().__init__()
        self.mean, self.calls = torch.zeros(4), torch.zeros(())

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = 0.8 * self.mean + 0.2 * x
        self.calls += 1
        return super().__call__(self.mean) + self.calls


class FirstCallCalibrates:
    def __init__(self) -> None:
        self.offset: torch.Tensor | None = None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.offset is None:
            self.offset = x * 1.0
        return x - self.offset


class HoldsAtFirst:
    """Three calls stand still."""

    def __init__(self) -> None:
        self.step, self.last = 0, torch.zeros(4)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        if self.step <= 3:
            return torch.zeros(4) * x
        self.last = 0.5 * self.last + x
        return self.last


class Ring:
    """Entries of a list that are replaced in turn."""

    def __init__(self) -> None:
        self.row, self.at = [torch.zeros(4) for _ in range(3)], 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.row[self.at] = x * 2
        self.at = (self.at + 1) % 3
        return torch.stack(self.row).mean(0) + self.row[self.at]


PROGRAMS = {
    Chunks: 12,
    ScaledChunks: 12,
    Diffusion: 11,
    EveryFourth: 9,
    EveryFourthInPlace: 9,
    ReadBeforeItIsSet: 10,
    PlaceInTheChunk: 9,
    WithABranch: 40,
    WithState: 12,
    FirstCallCalibrates: 7,
    HoldsAtFirst: 12,
    Ring: 12,
}


@torch.no_grad()
@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_comes_in_turn_is_counted_by_the_model(program: type, backend: str, tmp_path: Path) -> None:
    folder = closed_loop.export(program, tmp_path, passes=PROGRAMS[program], backend=backend)
    closed_loop.assert_equal(folder, program, steps=50)
    told = harness.warnings_in(harness.read_log(folder))
    assert len([line for line in told if COUNTS in line]) == 1, told


def refused(program: type, folder: Path, passes: int, **options: str) -> str:
    with pytest.raises(leapp.LeappError) as failure:
        closed_loop.export(program, folder, passes=passes, **options)
    return str(failure.value)


@torch.no_grad()
def test_two_periods_have_to_be_seen(tmp_path: Path) -> None:
    assert "an earlier call computed it" in refused(Chunks, tmp_path, 7)


@torch.no_grad()
def test_with_leaks_error_it_has_to_be_declared(tmp_path: Path) -> None:
    text = refused(Chunks, tmp_path, 12, leaks="error")
    assert COUNTS in text
    assert "integer tensor" in text


@torch.no_grad()
def test_a_queue_that_is_emptied_now_and_then_has_no_turn(tmp_path: Path) -> None:
    class Emptied(Chunks):
        calls = 0

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            if self.calls in (7, 20):
                self.queue.clear()
            return super().__call__(x)

    assert "an earlier call computed it" in refused(Emptied, tmp_path, 24)


@torch.no_grad()
def test_a_coin_has_no_turn(tmp_path: Path) -> None:
    class Coin(EveryFourth):
        def __init__(self) -> None:
            super().__init__()
            self.coin = random.Random(3)

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            self.step = self.coin.choice([0, 1]) if self.step else 0
            return super().__call__(x)

    refused(Coin, tmp_path, 24)


def test_a_number_that_left_may_be_what_decides(tmp_path: Path) -> None:
    class Rises:
        steps = 0

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            self.steps += 1
            y = x * 0 + self.steps
            return x * 2 if float(y.sum()) > 8 else x - 1

    assert COUNTS not in refused(Rises, tmp_path, 12)
