# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Policies as they are written: heads, ensembles, histories, chunks, attention, and programs without a leading one."""

from __future__ import annotations

import torch
from batched_networks import Batched, Forward, Recurrent, plain, seeded
from torch import Tensor, nn
from torch.nn import functional


class LastStep(nn.Module):
    """What a recurrent layer says at the end of the steps it is given."""

    def __init__(self, layer: nn.Module, size: int, *state: tuple[int, ...]) -> None:
        super().__init__()
        self.layer: nn.Module = Recurrent(layer, *state) if state else layer
        self.head = nn.Linear(size, 3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x)
        return self.head((y[0] if isinstance(y, tuple) else y)[:, -1])


class FinalState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.head = nn.LSTM(8, 6, 2, batch_first=True), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layer(x)[1][0][-1])


class CellsInALoop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lower, self.upper = nn.LSTMCell(8, 6), nn.GRUCell(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        h = c = torch.zeros(1, 6)
        g = torch.zeros(1, 4)
        for t in range(x.shape[1]):
            h, c = self.lower(x[:, t], (h, c))
            g = self.upper(h, g)
        return g


class Dueling(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.value, self.advantage = nn.Linear(8, 16), nn.Linear(16, 1), nn.Linear(16, 5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = functional.relu(self.body(x))
        advantage = self.advantage(h)
        q = self.value(h) + advantage - advantage.mean(-1, keepdim=True)
        return q, q.argmax(-1)


class Ensemble(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(4, 8, 3)), nn.Parameter(torch.randn(4, 1, 3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = torch.baddbmm(self.bias, x.unsqueeze(0).expand(4, -1, -1), self.weight)
        return y.mean(0), y.min(0)[0]


class Experts(nn.Module):
    """Each row chooses two of them."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.weight = nn.Linear(8, 4), nn.Parameter(torch.randn(4, 8, 3))

    def forward(self, x: Tensor) -> Tensor:
        gate = self.gate(x).softmax(-1)
        chosen = gate.topk(2, -1)[1]
        y = torch.einsum("bi,bkio->bko", x, self.weight[chosen])
        return (y * gate.gather(1, chosen).unsqueeze(-1)).sum(1)


class Queries(nn.Module):
    """A transformer from observations to a chunk of actions."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.first, self.queries = first, nn.Embedding(6, 8)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=first)
        self.decoder, self.head = nn.TransformerDecoderLayer(8, 2, 16, batch_first=first), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        if self.first:
            return self.head(self.decoder(self.queries.weight.unsqueeze(0), self.encoder(x)))
        memory = self.encoder(x.transpose(0, 1))
        return self.head(self.decoder(self.queries.weight.unsqueeze(1), memory)).transpose(0, 1)


class Patches(nn.Module):
    """A vision transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.token = nn.Conv2d(3, 8, 4, 4), nn.Parameter(torch.randn(1, 1, 8))
        self.place = nn.Parameter(torch.randn(1, 5, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patch(x).flatten(2).transpose(1, 2)
        return self.layer(torch.cat([self.token.expand(x.shape[0], -1, -1), patches], 1) + self.place)[:, 0]


class Windows(nn.Module):
    """Attention within windows of an image, which become part of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        b, h, w, c = x.shape
        y = x.roll((1, 1), (1, 2)).view(b, h // 2, 2, w // 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, c)
        y = self.layer(y, y, y, need_weights=False)[0]
        return y.view(b, h // 2, w // 2, 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)


class Masked(nn.Module):
    """Attention that does not look at tokens that are not there."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        missing = (x[..., 0] > 1).logical_and(torch.arange(5) > 0)
        return self.layer(x, x, x, key_padding_mask=missing)[0]


class Cache(nn.Module):
    """Keys and values of the last steps are the state."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.head = nn.Linear(8, 24), nn.Linear(8, 3)
        self.keys, self.values = torch.zeros(1, 2, 5, 4), torch.zeros(1, 2, 5, 4)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (part.view(1, 1, 2, 4).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        self.keys = torch.cat([self.keys[:, :, 1:], k], 2)
        self.values = torch.cat([self.values[:, :, 1:], v], 2)
        y = functional.scaled_dot_product_attention(q, self.keys, self.values)
        return self.head(y.transpose(1, 2).reshape(1, 8))


class Denoiser(nn.Module):
    """A small U-Net over a chunk of actions, in three steps from the same noise."""

    def __init__(self) -> None:
        super().__init__()
        self.begin, self.norm, self.film = nn.Conv1d(2, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.Linear(12, 16)
        self.down, self.up, self.end = nn.Conv1d(8, 8, 3, 2, 1), nn.ConvTranspose1d(8, 8, 4, 2, 1), nn.Conv1d(16, 2, 1)
        self.noise = torch.randn(1, 2, 8)

    def forward(self, x: Tensor) -> Tensor:
        actions = self.noise.expand(x.shape[0], -1, -1)
        for step in range(3):
            time = torch.sin(torch.arange(4.0) * (3 - step)).unsqueeze(0).expand(x.shape[0], -1)
            scale, shift = self.film(torch.cat([x, time], -1)).unsqueeze(-1).chunk(2, 1)
            h = functional.mish(self.norm(self.begin(actions))) * scale + shift
            actions = actions - 0.3 * self.end(torch.cat([self.up(functional.mish(self.down(h))), h], 1))
        return actions.transpose(1, 2)


class Chunks(nn.Module):
    """What the last four chunks of actions say of this step."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.chunks = nn.Linear(8, 12), torch.zeros(1, 4, 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        self.chunks = torch.cat([self.layer(x).view(1, 1, 4, 3), self.chunks[:, :-1]], 1)
        return torch.stack([self.chunks[:, i, i] for i in range(4)], 1).mean(1)


class EveryFourSteps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.chunk, self.count = nn.Linear(8, 12), torch.zeros(1, 4, 3), torch.zeros((), dtype=torch.int64)

    def forward(self, x: Tensor) -> Tensor:
        self.chunk = torch.where(self.count % 4 == 0, self.layer(x).view(1, 4, 3), self.chunk)
        action = self.chunk[:, self.count % 4]
        self.count = self.count + 1
        return action


class RunningMean(nn.Module):
    def __init__(self, first: bool) -> None:
        super().__init__()
        self.count, self.mean = torch.zeros((1, 1) if first else ()), torch.zeros((1, 8) if first else (8,))

    def forward(self, x: Tensor) -> Tensor:
        self.count = self.count + 1
        self.mean = self.mean + ((x - self.mean) / self.count).view(self.mean.shape)
        return (x - self.mean).clamp(-5, 5)


class FirstAxisHistory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.past = torch.zeros(5, 8)
        self.layers = nn.Sequential(nn.Conv1d(8, 6, 3), nn.ELU(), nn.Conv1d(6, 4, 2), nn.Flatten(), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.past = torch.cat([self.past[1:], x])
        return self.layers(self.past.T.unsqueeze(0))


class Ring(nn.Module):
    """A history that is written to at a place that is counted."""

    def __init__(self) -> None:
        super().__init__()
        self.past, self.count, self.head = torch.zeros(1, 5, 8), torch.zeros(1, dtype=torch.int64), nn.Linear(40, 3)

    def forward(self, x: Tensor) -> Tensor:
        self.past = self.past.clone()
        self.past[:, self.count % 5] = x.unsqueeze(1)
        self.count = self.count + 1
        return self.head(self.past.flatten(1))


class Cameras(nn.Module):
    """Several images of a row are part of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x.flatten(0, 1)).view(x.shape[0], 8))


class Codes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.codes = nn.Embedding(7, 8)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        nearest = torch.cdist(x, self.codes.weight).argmin(-1)
        return self.codes(nearest), nearest


class Messages(nn.Module):
    """A graph of joints."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.ends = nn.Linear(4, 4), torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x).index_add(1, self.ends[1], self.layer(x[:, self.ends[0]]))


class Scan(nn.Module):
    """A selective state space."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.gates, self.leave = nn.Linear(8, 16), nn.Linear(16, 9), nn.Linear(16, 3)
        self.state, self.decay = torch.zeros(1, 16, 4), nn.Parameter(torch.randn(16, 4))

    def forward(self, x: Tensor) -> Tensor:
        u = functional.silu(self.enter(x))
        b, c, d = self.gates(u).split([4, 4, 1], -1)
        d = functional.softplus(d)
        self.state = torch.exp(-d.unsqueeze(-1) * self.decay.exp()) * self.state
        self.state = self.state + (d * u).unsqueeze(-1) * b.unsqueeze(1)
        return self.leave((self.state * c.unsqueeze(1)).sum(-1))


class VectorCell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head, self.h = nn.GRUCell(8, 6), nn.Linear(6, 3), torch.zeros(6)

    def forward(self, x: Tensor) -> Tensor:
        self.h = self.cell(x, self.h)
        return self.head(self.h)


class VectorHistory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.past, self.action, self.head = torch.zeros(32), torch.zeros(3), nn.Linear(35, 3)

    def forward(self, x: Tensor) -> Tensor:
        self.past = torch.cat([self.past[8:], x])
        self.action = torch.tanh(self.head(torch.cat([self.past, self.action])))
        return self.action


class Clock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.time, self.head = torch.zeros(()), nn.Linear(10, 3)

    def forward(self, x: Tensor) -> Tensor:
        self.time = self.time + 0.1
        return self.head(torch.cat([x, self.time.sin().view(1, 1), self.time.cos().view(1, 1)], -1))


def rotated(x: Tensor) -> Tensor:
    """The last three by a quaternion, without an axis in front."""
    q, v = x[:4] / x[:4].norm(), x[4:]
    t = 2 * torch.linalg.cross(q[1:], v)
    return v + q[0] * t + torch.linalg.cross(q[1:], t)


def own_choice(x: Tensor) -> Tensor:
    return x[torch.arange(x.shape[0]), x[:, :, 0].argmax(1)]


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.ELU(), nn.LayerNorm(16), nn.Linear(16, 3), nn.Softmax(-1))


def chosen_action() -> Forward:
    torch.default_generator.manual_seed(0)
    gate, table = nn.Linear(8, 4), nn.Embedding(4, 3)
    return lambda x: table(gate(x).argmax())


HIDDEN = (1, 1, 6)
POLICIES: dict[str, Batched] = {
    "gru of several steps": Batched(seeded(lambda: LastStep(nn.GRU(8, 6, batch_first=True), 6, HIDDEN)), (1, 3, 8)),
    "gru of two layers and several steps": Batched(
        seeded(lambda: LastStep(nn.GRU(8, 6, 2, batch_first=True), 6, (2, 1, 6))), (1, 3, 8)
    ),
    "gru that begins with zeros": Batched(seeded(lambda: LastStep(nn.GRU(8, 6, batch_first=True), 6)), (1, 3, 8)),
    "lstm both ways, two layers, several steps": Batched(
        seeded(lambda: LastStep(nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True), 12, (4, 1, 6), (4, 1, 6))),
        (1, 4, 8),
    ),
    "state at the end of several steps": Batched(seeded(FinalState), (1, 4, 8)),
    "cells in a loop": Batched(seeded(CellsInALoop), (1, 4, 8)),
    "dueling heads": Batched(seeded(Dueling)),
    "ensemble": Batched(seeded(Ensemble)),
    "mixture of experts": Batched(seeded(Experts)),
    "queries to a transformer": Batched(seeded(lambda: Queries(True)), (1, 5, 8)),
    "queries, steps first": Batched(seeded(lambda: Queries(False)), (1, 5, 8)),
    "patches of an image": Batched(seeded(Patches), (1, 3, 8, 8)),
    "windows of an image": Batched(seeded(Windows), (1, 4, 4, 4)),
    "masked attention": Batched(seeded(Masked), (1, 5, 8)),
    "cache of keys and values": Batched(seeded(Cache)),
    "denoised chunk": Batched(seeded(Denoiser)),
    "chunks that overlap": Batched(seeded(Chunks)),
    "chunk of every four steps": Batched(seeded(EveryFourSteps)),
    "running mean": Batched(seeded(lambda: RunningMean(True))),
    "running mean without axes": Batched(seeded(lambda: RunningMean(False))),
    "history along the first axis": Batched(seeded(FirstAxisHistory)),
    "ring": Batched(seeded(Ring)),
    "cameras": Batched(seeded(Cameras), (1, 2, 3, 8, 8)),
    "codes": Batched(seeded(Codes)),
    "messages between joints": Batched(seeded(Messages), (1, 4, 4)),
    "state space": Batched(seeded(Scan)),
    "own choice": Batched(plain(own_choice), (1, 5, 3)),
    "vector through layers": Batched(seeded(mlp), (8,)),
    "vector through a cell": Batched(seeded(VectorCell), (8,)),
    "history of vectors": Batched(seeded(VectorHistory), (8,)),
    "clock without axes": Batched(seeded(Clock)),
    "vector rotated": Batched(plain(rotated), (7,)),
    "vector of limited length": Batched(plain(lambda x: x * (1 / x.norm()).clamp(max=1)), (8,)),
    "vector chooses from a table": Batched(chosen_action, (8,)),
    "tokens without a batch": Batched(plain(lambda x: functional.layer_norm(x, (8,)).mean(0)), (5, 8)),
}
