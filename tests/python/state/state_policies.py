# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Policies that keep state, in every way that docs/concepts/state.md names, and their closed loops."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import bundle_runner
import harness
import leapp
import torch
from leapp import annotate
from torch import nn

STEPS = 100
STEPPED: list[bundle_runner.Bundle] = []


def observations(count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(1, 6, generator=generator) for _ in range(count)]


class Policy(nn.Module):
    """`policy(obs)` announces nothing but obs and action; the classes below keep something."""

    outputs = ("action",)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def annotated(self, obs: torch.Tensor, backend: str) -> torch.Tensor:
        obs = annotate.input_tensors("policy", {"obs": obs})
        self.declare()
        action = self(obs)
        return annotate.output_tensors("policy", {"action": action}, export_with=backend)

    def declare(self) -> None:
        pass


class Explicit(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.zeros(1, 4)
        self.cell = nn.GRUCell(6, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        hidden = annotate.state_tensors("policy", {"hidden": self.hidden})
        self.hidden = annotate.update_state("policy", {"hidden": self.cell(obs, hidden)})
        return self.hidden * 2


class BufferReassigned(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(6, 4)
        self.register_buffer("h", torch.zeros(1, 1, 4))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.h = self.gru(obs.unsqueeze(0), self.h)
        return out.squeeze(0)


class DeclaredBufferReassigned(BufferReassigned):
    def declare(self) -> None:
        annotate.module("policy", self)


class BufferInPlace(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(6, 4)
        self.register_buffer("h", torch.zeros(1, 1, 4))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, h = self.gru(obs.unsqueeze(0), self.h)
        self.h.copy_(h)
        return out.squeeze(0)


class DeclaredBufferInPlace(BufferInPlace):
    def declare(self) -> None:
        annotate.module("policy", self)


class BufferSliced(Policy):
    """Partial slice assignment into a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("history", torch.zeros(1, 5, 6))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.history[:, :-1] = self.history[:, 1:].clone()
        self.history[:, -1] = obs
        return self.history.flatten(1).sum(1, keepdim=True) + self.history[:, 0, :1]


class DeclaredBufferSliced(BufferSliced):
    def declare(self) -> None:
        annotate.module("policy", self)


class RegisteredOverwritten(Policy):
    """A buffer that each call overwrites before reading is no state."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = torch.zeros(1, 6)

    def annotated(self, obs: torch.Tensor, backend: str) -> torch.Tensor:
        obs = annotate.input_tensors("policy", {"obs": obs})
        self.scratch = annotate.register_buffer("policy", {"scratch": self.scratch})
        return annotate.output_tensors("policy", {"action": self(obs)}, export_with=backend)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.scratch[:] = obs * 2
        return self.scratch + 1


class RegisteredPartly(RegisteredOverwritten):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.scratch[:, :3] = self.scratch[:, :3] * 0.5 + obs[:, :3]
        return self.scratch.sum(1, keepdim=True)


class RegisteredRolled(RegisteredOverwritten):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.scratch.copy_(self.scratch.roll(1, dims=1))
        self.scratch[:, 0] = obs.sum(1)
        return self.scratch * 1.0


class RegisteredNested(Policy):
    """The names of nested buffers are those of nested inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = {"slow": torch.zeros(1, 6), "rest": [torch.ones(1, 6), torch.zeros(1, 6)]}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        kept = annotate.register_buffer("policy", {"kept": self.kept})
        kept["slow"].mul_(0.5).add_(obs)
        kept["rest"][0] += kept["slow"]
        kept["rest"][1][:] = obs * 2  # not read before: no state
        return kept["slow"] - kept["rest"][0] + kept["rest"][1]


class PlainReassigned(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.ema = torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.ema = 0.9 * self.ema + 0.1 * obs
        return self.ema + 1


class PlainInPlace(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.ema = torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.ema.mul_(0.9).add_(obs, alpha=0.1)
        return self.ema + 1


class LastAction(Policy):
    """The action of the step before is an output already: an edge, no new output."""

    def __init__(self) -> None:
        super().__init__()
        self.last = torch.zeros(1, 3)
        self.net = nn.Linear(9, 3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = torch.tanh(self.net(torch.cat([obs, self.last], 1))).detach()
        self.last = action
        return action


class LastActionInPlace(LastAction):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = torch.tanh(self.net(torch.cat([obs, self.last], 1))).detach()
        self.last[:] = action
        return action


class ReadBeforeUpdate(Policy):
    """The output depends on the old value only: the next value reaches no output of the same call."""

    def __init__(self) -> None:
        super().__init__()
        self.ema = torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out = obs + self.ema
        self.ema = 0.5 * self.ema + obs
        return out


class Deque(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.history = collections.deque([torch.zeros(1, 6) for _ in range(3)], maxlen=3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.history.append(obs * 1.0)
        return torch.cat(list(self.history), 1)


class DequeOfOneTensor(Deque):
    def __init__(self) -> None:
        super().__init__()
        self.history = collections.deque([torch.zeros(1, 6)] * 4, maxlen=4)


class Lstm(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 4)
        self.hidden = (torch.zeros(1, 1, 4), torch.zeros(1, 1, 4))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.hidden = self.lstm(obs.unsqueeze(0), self.hidden)
        return out.squeeze(0)


class HiddenNoneAtFirst(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(6, 4)
        self.hidden_state: torch.Tensor | None = None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.hidden_state = self.rnn(obs.unsqueeze(0), self.hidden_state)
        return out.squeeze(0)


class GruCellLoop(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(6, 6), nn.GRUCell(6, 6)])
        self.hidden = [torch.zeros(1, 6), torch.zeros(1, 6)]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        x = obs
        for i, cell in enumerate(self.cells):
            self.hidden[i] = cell(x, self.hidden[i])
            x = self.hidden[i]
        return x


class RunningNormaliser(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("var", torch.ones(6))
        self.register_buffer("count", torch.ones(()))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.count += 1
        delta = obs.mean(0) - self.mean
        self.mean += delta / self.count
        self.var += (delta**2 - self.var) / self.count
        return (obs - self.mean) / torch.sqrt(self.var + 1e-5)


class BatchNormTrain(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.norm(torch.cat([obs, obs * 2, obs + 1]))
        return (obs - self.norm.running_mean) / self.norm.running_var.sqrt()


class CircularBuffer(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.buffer = torch.zeros(4, 6)
        self.index = torch.zeros(1, dtype=torch.int64)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.buffer[self.index] = obs
        self.index.add_(1).remainder_(4)
        return self.buffer.cumsum(0).sum(0, keepdim=True)


class CircularBufferScalarIndex(CircularBuffer):
    def __init__(self) -> None:
        super().__init__()
        self.index = torch.zeros((), dtype=torch.int64)


class CircularBufferNumber(CircularBufferScalarIndex):
    """The index leaves the graph: the program makes a number of it."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.buffer[int(self.index)] = obs
        self.index.add_(1).remainder_(4)
        return self.buffer.cumsum(0).sum(0, keepdim=True)


class CounterInPlace(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.t = torch.zeros(1)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.t += 1
        return obs * self.t


class CounterReassigned(CounterInPlace):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.t = self.t + 1
        return obs * self.t


class CounterReadFirst(CounterInPlace):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out = obs * self.t
        self.t = self.t + 1
        return out


class TwoViews(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.base = torch.zeros(1, 8)
        self.left, self.right = self.base[:, :4], self.base[:, 4:]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.left.add_(obs[:, :4])
        self.right.copy_(self.left * 0.5 + self.right)
        return self.base * 1.0


class DelayLine(Policy):
    """x of two steps ago, with nothing in between that reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = torch.zeros(1, 6), torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out = obs + self.two
        self.two, self.one = self.one, obs * 3
        return out


class SharedBuffer(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = BufferInPlace(), BufferInPlace()
        self.second.h = self.first.h

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.first(obs) + self.second(obs)


class CalledTwice(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.inner = BufferReassigned()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.inner(obs) + self.inner(obs * 2)


class FirstFrameFill(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.history: collections.deque[torch.Tensor] = collections.deque(maxlen=5)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        while len(self.history) < 4:
            self.history.append(obs * 1.0)
        self.history.append(obs * 1.0)
        return torch.cat(list(self.history), 1)


class FloatCounter(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.t = 0.0

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.t += 1.0
        return obs * self.t


class ChangingList(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.gains = [1.0, 2.0]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.gains[0] += 1.0
        return obs[:, :2] * torch.tensor(self.gains)


POLICIES: list[type[Policy]] = [
    Explicit, BufferReassigned, DeclaredBufferReassigned, BufferInPlace, DeclaredBufferInPlace, BufferSliced,
    DeclaredBufferSliced, RegisteredOverwritten, RegisteredPartly, RegisteredRolled, RegisteredNested, PlainReassigned,
    PlainInPlace, LastAction, LastActionInPlace, ReadBeforeUpdate, Deque, DequeOfOneTensor, Lstm, HiddenNoneAtFirst,
    GruCellLoop, RunningNormaliser, BatchNormTrain, CircularBuffer, CircularBufferScalarIndex, CounterInPlace,
    CounterReassigned, CounterReadFirst, TwoViews, DelayLine, SharedBuffer, CalledTwice,
]  # fmt: skip

# Known in one pass: state that the node overwrites in place, or that a module holds as a buffer, or that is declared.
ONE_PASS = {
    Explicit, BufferReassigned, DeclaredBufferReassigned, BufferInPlace, DeclaredBufferInPlace, BufferSliced,
    DeclaredBufferSliced, RegisteredPartly, RegisteredRolled, RegisteredNested, PlainInPlace, LastActionInPlace,
    RunningNormaliser, CircularBuffer, CircularBufferScalarIndex, CounterInPlace, TwoViews, SharedBuffer, CalledTwice,
    BatchNormTrain,
}  # fmt: skip

# Stateful, but nothing of it is undeclared.
DECLARED = {
    Explicit, DeclaredBufferReassigned, DeclaredBufferInPlace, DeclaredBufferSliced, RegisteredOverwritten,
    RegisteredPartly, RegisteredRolled, RegisteredNested,
}  # fmt: skip


def make(kind: type[Policy]) -> Policy:
    torch.manual_seed(3)
    return kind().eval()


def expected(kind: type[Policy], seen: list[torch.Tensor]) -> list[torch.Tensor]:
    policy = make(kind)
    if isinstance(policy, BatchNormTrain):
        policy.norm.train()
    with torch.no_grad():
        return [policy(obs).clone() for obs in seen]


def export(kind: type[Policy], folder: Path, passes: int, backend: str = "jit", **options: Any) -> Path:
    policy = make(kind)
    if isinstance(policy, BatchNormTrain):
        policy.norm.train()
    leapp.start("loop", save_path=str(folder), **options)
    with torch.no_grad():
        for obs in observations(passes):
            policy.annotated(obs, backend)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "loop"


def assert_equal_loop(bundle: bundle_runner.Bundle, kind: type[Policy]) -> None:
    seen = observations(STEPS)
    for i, (obs, action) in enumerate(zip(seen, expected(kind, seen), strict=True)):
        found = bundle.step(obs=obs)["policy/action"]
        problem = harness.difference([action], [found], rtol=1e-4, atol=1e-5)
        assert problem is None, f"step {i}: {problem}"
    STEPPED.append(bundle)
