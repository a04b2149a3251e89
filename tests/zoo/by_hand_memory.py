# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Networks that remember: caches, queues, filters, world models, and what prepares itself in its first call."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from catalogue import Case, Inputs, Maker, numbers, together, tokens
from torch import Tensor, nn
from torch.nn import functional


class CachedDecoder(nn.Module):
    """One token a step; keys and values go to their place of a cache of fixed length."""

    def __init__(self, width: int = 16, heads: int = 2, longest: int = 16) -> None:
        super().__init__()
        self.heads, self.words, self.head = heads, nn.Embedding(30, width), nn.Linear(width, 30)
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("keys", torch.zeros(1, heads, longest, width // heads))
        self.register_buffer("values", torch.zeros(1, heads, longest, width // heads))

    def attend(self, token: Tensor, position: Tensor) -> Tensor:
        x = self.words(token)
        q, k, v = self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        mask = torch.arange(self.keys.shape[2]) <= position
        mixed = functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask[None, None, None])
        logits: Tensor = self.head(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return logits

    def forward(self, token: Tensor, position: Tensor) -> Tensor:
        return self.attend(token, position)


class CountingDecoder(CachedDecoder):
    """The same; the position is a tensor of its own that counts."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("position", torch.zeros(1, dtype=torch.long))

    def forward(self, token: Tensor) -> Tensor:  # type: ignore[override]
        logits = self.attend(token, self.position)
        self.position += 1
        return logits


class SlidingDecoder(CachedDecoder):
    """The same; the cache slides, the newest comes last."""

    def forward(self, token: Tensor) -> Tensor:  # type: ignore[override]
        x = self.words(token)
        q, k, v = self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        self.keys = torch.cat([self.keys[:, :, 1:], k], 2)
        self.values = torch.cat([self.values[:, :, 1:], v], 2)
        mixed = functional.scaled_dot_product_attention(q, self.keys, self.values)
        logits: Tensor = self.head(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return logits


class WorldModel(nn.Module):
    """An RSSM: the deterministic and the stochastic state are outputs too, under other names."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.enter = nn.GRUCell(16, 16), nn.Linear(8 + 2, 16)
        self.prior, self.posterior, self.decode = nn.Linear(16, 16), nn.Linear(16 + 5, 16), nn.Linear(16 + 8, 5)
        self.state = {"deter": torch.zeros(1, 16), "stoch": torch.zeros(1, 8)}

    def forward(self, observation: Tensor, action: Tensor) -> dict[str, Tensor]:
        entered = functional.elu(self.enter(torch.cat([self.state["stoch"], action], -1)))
        deter = self.cell(entered, self.state["deter"])
        mean, spread = self.posterior(torch.cat([deter, observation], -1)).chunk(2, -1)
        prior, _ = self.prior(deter).chunk(2, -1)
        stoch = mean + 0.1 * functional.softplus(spread)
        self.state = {"deter": deter, "stoch": stoch}
        decoded = self.decode(torch.cat([deter, stoch], -1))
        return {"deter": deter, "stoch": stoch, "prior": prior, "decoded": decoded}


class Rwkv(nn.Module):
    """Linear attention with decay; weights are rescaled in the first call."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.mix = nn.ParameterList(torch.rand(width) for _ in range(3))
        self.key, self.value, self.gate = (nn.Linear(width, width) for _ in range(3))
        self.out, self.decay, self.first = nn.Linear(width, width), nn.Parameter(torch.rand(width)), torch.rand(width)
        self.rescaled = False
        self.previous, self.top, self.bottom = torch.zeros(1, width), torch.zeros(1, width), torch.zeros(1, width)

    def forward(self, x: Tensor) -> Tensor:
        if not self.rescaled:
            self.out.weight.div_(2)
            self.rescaled = True
        mixed = [x * m + self.previous * (1 - m) for m in self.mix]
        k, v, r = self.key(mixed[0]).exp(), self.value(mixed[1]), self.gate(mixed[2]).sigmoid()
        bonus = self.first.exp() * k
        answer = (self.top + bonus * v) / (self.bottom + bonus)
        decay = (-self.decay.exp()).exp()
        self.top, self.bottom, self.previous = decay * self.top + k * v, decay * self.bottom + k, x
        out: Tensor = self.out(r * answer)
        return out


class LazyTables(nn.Module):
    """Relative positions that the first call makes and later ones read, as convit's."""

    def __init__(self) -> None:
        super().__init__()
        self.positions, self.scale = nn.Linear(3, 2), nn.Linear(8, 8)
        self.table: Tensor | None = None
        self.cache: dict[int, Tensor] = {}

    def tables(self, count: int) -> Tensor:
        if self.table is None or self.table.shape[0] != count:
            offset = torch.arange(count)[None] - torch.arange(count)[:, None]
            table = torch.zeros(count, count, 3)
            table[..., 0], table[..., 1] = offset, offset**2
            self.table = table
        return self.table

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] not in self.cache:
            self.cache[x.shape[0]] = torch.linspace(0, 1, x.shape[0])[:, None]
        attention = self.positions(self.tables(x.shape[0])).softmax(1)
        mixed: Tensor = torch.einsum("ijh,jd->ihd", attention, self.scale(x)).flatten(1) + self.cache[x.shape[0]]
        return mixed


class Kalman(nn.Module):
    """The covariance depends on nothing but itself, and is an output."""

    def __init__(self) -> None:
        super().__init__()
        self.mean, self.covariance = torch.zeros(4), torch.eye(4)
        self.transition = torch.eye(4) + 0.1 * torch.diag(torch.ones(2), 2)
        self.observe, self.noise = torch.eye(2, 4), 0.1 * torch.eye(2)

    def forward(self, measured: Tensor) -> tuple[Tensor, Tensor]:
        mean = self.transition @ self.mean
        covariance = self.transition @ self.covariance @ self.transition.T + 0.01 * torch.eye(4)
        gain = torch.linalg.solve(self.observe @ covariance @ self.observe.T + self.noise, self.observe @ covariance).T
        self.mean = mean + gain @ (measured - self.observe @ mean)
        self.covariance = covariance - gain @ self.observe @ covariance
        return self.mean, self.covariance


class ActionQueue(nn.Module):
    """A chunk of actions every four steps, one of them a step; the place in it is a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4 * 3))
        self.register_buffer("queue", torch.zeros(4, 3))
        self.register_buffer("place", torch.zeros((), dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        if self.place == 0:
            self.queue.copy_(self.policy(x).view(4, 3))
        action = self.queue[self.place].clone()
        self.place.copy_((self.place + 1) % 4)
        return action


class StreamingConvolution(nn.Module):
    """Causal convolutions over a stream, each with the frames it still needs."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(4, 4, 3, dilation=2**i) for i in range(3))
        self.past = [torch.zeros(1, 4, 2 * 2**i) for i in range(3)]

    def forward(self, frame: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            window = torch.cat([self.past[i], frame], -1)
            self.past[i] = window[..., 1:]
            frame = functional.relu(layer(window)) + frame
        return frame


class StackedLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 16, num_layers=2), nn.Linear(16, 3)
        self.hidden: tuple[Tensor, Tensor] | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.hidden is None:
            self.hidden = (torch.zeros(2, 1, 16), torch.zeros(2, 1, 16))
        out, self.hidden = self.lstm(x, self.hidden)
        action: Tensor = self.head(out)
        return action


class SelectiveState(nn.Module):
    """One step of a selective state space model (Mamba), with its convolution's window."""

    def __init__(self, width: int = 8, states: int = 4) -> None:
        super().__init__()
        self.enter, self.out = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.select, self.step = nn.Linear(width, 1 + 2 * states), nn.Linear(1, width)
        self.rates, self.skip = nn.Parameter(torch.rand(width, states)), nn.Parameter(torch.ones(width))
        self.taps = nn.Parameter(torch.randn(width, 4) * 0.3)
        self.register_buffer("window", torch.zeros(1, width, 4))
        self.register_buffer("state", torch.zeros(1, width, states))

    def forward(self, x: Tensor) -> Tensor:
        u, gate = self.enter(x).chunk(2, -1)
        self.window.copy_(self.window.roll(-1, -1))
        self.window[:, :, -1] = u
        u = functional.silu((self.window * self.taps).sum(-1))
        step, into, out = self.select(u).split([1, 4, 4], -1)
        delta = functional.softplus(self.step(step))[..., None]
        self.state.copy_(self.state * (-delta * self.rates.exp()).exp() + delta * into[:, None] * u[..., None])
        y = (self.state * out[:, None]).sum(-1) + self.skip * u
        done: Tensor = self.out(y * functional.silu(gate))
        return done


class RunningNorm(nn.Module):
    """Observations normalised by what was seen so far, in double precision, and clipped."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.mean = torch.tensor(1e-4).double(), torch.zeros(5).double()
        self.square = torch.ones(5).double()
        self.policy = nn.Linear(5, 2)

    def forward(self, x: Tensor) -> Tensor:
        self.count = self.count + 1
        delta = x.double() - self.mean
        self.mean = self.mean + delta / self.count
        self.square = self.square + delta * (x.double() - self.mean)
        normal = ((x.double() - self.mean) / (self.square / self.count).sqrt().clamp(min=1e-2)).clamp(-5, 5)
        action: Tensor = self.policy(normal.float())
        return action


class GaitClock(nn.Module):
    """A phase that runs by itself, and a policy that is told of it."""

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.phase = nn.Linear(6, 3), torch.zeros(2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.phase = (self.phase + torch.tensor([0.07, 0.11])) % 1.0
        clock = torch.sin(2 * torch.pi * self.phase)
        return self.policy(torch.cat([x, clock])), clock


def token_and_position() -> Case:
    """The position is an input: the caller counts."""
    position = iter(range(10**6))

    def inputs(generator: torch.Generator) -> Inputs:
        place = torch.tensor([next(position) % 16])
        return {"token": torch.randint(0, 30, (1, 1), generator=generator), "position": place}

    return Case(CachedDecoder(), inputs)


NETWORKS: Mapping[str, Maker] = {
    "decoder, position as input": token_and_position,
    "decoder, counting tensor": lambda: Case(CountingDecoder(), tokens(30, 1, 1, name="token")),
    "decoder, sliding cache": lambda: Case(SlidingDecoder(), tokens(30, 1, 1, name="token")),
    "world model": lambda: Case(WorldModel(), together(numbers(observation=(1, 5)), numbers(action=(1, 2)))),
    "rwkv": lambda: Case(Rwkv(), numbers(x=(1, 16))),
    "lazy tables": lambda: Case(LazyTables(), numbers(x=(6, 8))),
    "kalman": lambda: Case(Kalman(), numbers(measured=(2,))),
    "action queue": lambda: Case(ActionQueue(), numbers(x=(6,)), passes=9, steps=9),
    "streaming convolution": lambda: Case(StreamingConvolution(), numbers(frame=(1, 4, 1))),
    "stacked lstm": lambda: Case(StackedLstm(), numbers(x=(1, 1, 6))),
    "selective state": lambda: Case(SelectiveState(), numbers(x=(1, 8))),
    "running norm": lambda: Case(RunningNorm(), numbers(x=(5,))),
    "gait clock": lambda: Case(GaitClock(), numbers(x=(4,))),
}
