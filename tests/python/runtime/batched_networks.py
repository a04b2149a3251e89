# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Networks and programs with a leading axis of one, as a policy has them: some keep many rows apart, some would mix
them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Forward = Callable[[Tensor], Any]


@dataclass(frozen=True)
class Batched:
    """``widened``: whether one run of the model does all rows."""

    make: Callable[[], Forward]
    shape: tuple[int, ...] = (1, 8)
    widened: bool = True


class Recurrent(nn.Module):
    def __init__(self, layer: nn.Module, *state: tuple[int, ...]) -> None:
        super().__init__()
        self.layer = layer
        self.state = tuple(torch.zeros(shape) for shape in state)

    def forward(self, x: Tensor) -> Tensor:
        given = self.state if len(self.state) > 1 else self.state[0]
        y, state = self.layer(x, given)
        self.state = state if isinstance(state, tuple) else (state,)
        return y


class Cell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.h, self.c = nn.LSTMCell(8, 6), torch.zeros(1, 6), torch.zeros(1, 6)

    def forward(self, x: Tensor) -> Tensor:
        self.h, self.c = self.cell(x, (self.h, self.c))
        return self.h


class Kept(nn.Module):
    """Some function of what is kept and what comes: (state, x) -> (next state, result)."""

    def __init__(self, first: Tensor, step: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> None:
        super().__init__()
        self.first, self.step = first, step
        self.kept = first.clone()

    def forward(self, x: Tensor) -> Tensor:
        self.kept, y = self.step(self.kept, x)
        return y


class Attention(nn.Module):
    def __init__(self, heads: int, first: bool) -> None:
        super().__init__()
        self.layer = nn.MultiheadAttention(8, heads, batch_first=first)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x, x, x, need_weights=False)[0]


class Causal(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (layer(x).view(1, -1, 2, 4).transpose(1, 2) for layer in (self.q, self.k, self.v))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(1, -1, 8)


class Branch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        if x[0, 0] > 0:
            return self.one(x)
        return self.two(x) * 2


class Chosen(nn.Module):
    """A row of a table that each row chooses for itself."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.gate = nn.Embedding(5, 4), nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.table(self.gate(x).argmax(-1))


def plain(function: Forward) -> Callable[[], Forward]:
    return lambda: function


def seeded(make: Callable[[], nn.Module]) -> Callable[[], Forward]:
    def made() -> Forward:
        torch.default_generator.manual_seed(0)
        return make().eval()

    return made


def moved(module: nn.BatchNorm2d) -> nn.BatchNorm2d:
    module.running_mean.normal_()
    module.running_var.uniform_(0.5, 2)
    return module


def history(state: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    state = torch.cat([state[:, 1:], x.unsqueeze(1)], 1)
    return state, state.flatten(1)


def counted(state: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return state + 1, x * (state % 3 == 0)


def flagged(state: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return state ^ (x > 1.0), torch.where(state, x, -x)


def shared(state: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    state = 0.9 * state + 0.1 * x.mean()
    return state, x - state


NETWORKS: dict[str, Batched] = {
    "mlp": Batched(seeded(lambda: nn.Sequential(nn.Linear(8, 16), nn.ELU(), nn.Linear(16, 4), nn.Tanh()))),
    "mlp of layers of all kinds": Batched(
        seeded(
            lambda: nn.Sequential(
                *(nn.Linear(8, 16), nn.LayerNorm(16), nn.SiLU(), nn.Linear(16, 16), nn.RMSNorm(16), nn.GELU()),
                *(nn.Linear(16, 8), nn.Softmax(-1), nn.Linear(8, 3), nn.LogSoftmax(1)),
            )
        ),
    ),
    "cnn": Batched(
        seeded(
            lambda: nn.Sequential(
                *(nn.Conv2d(3, 8, 3, 2), moved(nn.BatchNorm2d(8)), nn.ReLU(), nn.MaxPool2d(2), nn.GroupNorm(2, 8)),
                *(nn.Conv2d(8, 4, 2, groups=2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)),
            )
        ),
        (1, 3, 16, 16),
    ),
    "cnn up and down": Batched(
        seeded(
            lambda: nn.Sequential(
                *(nn.Conv2d(2, 4, 3, padding=1), nn.InstanceNorm2d(4), nn.AvgPool2d(2), nn.Upsample(scale_factor=2)),
                *(nn.ConvTranspose2d(4, 3, 2, 2), nn.PixelUnshuffle(2), nn.PixelShuffle(2), nn.ZeroPad2d(1)),
            )
        ),
        (1, 2, 8, 8),
    ),
    "conv over time": Batched(seeded(lambda: nn.Sequential(nn.Conv1d(4, 6, 3), nn.Mish())), (1, 4, 9)),
    "gru": Batched(seeded(lambda: Recurrent(nn.GRU(8, 6, batch_first=True), (1, 1, 6))), (1, 3, 8)),
    "gru of two layers": Batched(seeded(lambda: Recurrent(nn.GRU(8, 6, 2), (2, 1, 6))), (1, 1, 8)),
    "lstm": Batched(seeded(lambda: Recurrent(nn.LSTM(8, 6, batch_first=True), (1, 1, 6), (1, 1, 6))), (1, 2, 8)),
    "lstm both ways": Batched(
        seeded(lambda: Recurrent(nn.LSTM(8, 6, batch_first=True, bidirectional=True), (2, 1, 6), (2, 1, 6))), (1, 4, 8)
    ),
    "lstm cell": Batched(seeded(Cell)),
    "rnn": Batched(seeded(lambda: Recurrent(nn.RNN(8, 6, batch_first=True), (1, 1, 6))), (1, 3, 8)),
    "attention": Batched(seeded(lambda: Attention(2, True)), (1, 5, 8)),
    "attention, steps first": Batched(seeded(lambda: Attention(2, False)), (1, 1, 8)),
    "causal attention": Batched(seeded(Causal), (1, 5, 8)),
    "transformer": Batched(
        seeded(lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)), (1, 5, 8)
    ),
    "branch": Batched(seeded(Branch)),
    "chosen row of a table": Batched(seeded(Chosen)),
    "history": Batched(lambda: Kept(torch.zeros(1, 3, 8), history)),
    "counter": Batched(lambda: Kept(torch.zeros(1, 1, dtype=torch.int64), counted)),
    "counter without axes": Batched(lambda: Kept(torch.zeros((), dtype=torch.int64), counted)),
    "flags": Batched(lambda: Kept(torch.zeros(1, 8, dtype=torch.bool), flagged)),
    "state of all rows": Batched(lambda: Kept(torch.zeros(1, 1), shared)),
    "mean over the first axis": Batched(plain(lambda x: x.mean(0, keepdim=True) - x * 2)),
    "sum over the first axis": Batched(plain(lambda x: x.sum(0).unsqueeze(0))),
    "mean of all": Batched(plain(lambda x: x - x.mean())),
    "largest of all": Batched(plain(lambda x: x / x.abs().max())),
    "norm of all": Batched(plain(lambda x: x / x.norm())),
    "softmax over the first axis": Batched(plain(lambda x: x.softmax(0))),
    "flat": Batched(plain(lambda x: x.view(-1).cumsum(0).view(1, -1))),
    "turned": Batched(plain(lambda x: (x.T * torch.arange(8.0).unsqueeze(1)).T)),
    "outer product": Batched(plain(lambda x: (x.T @ x).unsqueeze(0))),
    "product with itself": Batched(plain(lambda x: x @ x.T)),
    "sum along rows": Batched(plain(lambda x: x.cumsum(0))),
    "sum along columns": Batched(plain(lambda x: x.cumsum(1))),
    "sorted": Batched(plain(lambda x: x.sort(1)[0])),
    "sorted with places": Batched(plain(lambda x: x.argsort(-1))),
    "largest three": Batched(plain(lambda x: x.topk(3))),
    "gathered": Batched(plain(lambda x: x.gather(1, x.argsort(-1)[:, :3]))),
    "scattered": Batched(plain(lambda x: torch.zeros(1, 8).scatter(1, x.argsort(-1)[:, :2], 1.0))),
    "picked by index": Batched(plain(lambda x: x[:, torch.tensor([3, 1, 1])])),
    "one row picked": Batched(plain(lambda x: x[0].unsqueeze(0) + 1)),
    "rows repeated": Batched(plain(lambda x: x.repeat(3, 1).sum(0, keepdim=True))),
    "rows expanded": Batched(plain(lambda x: (x.expand(4, 8) * torch.arange(4.0).unsqueeze(1)).mean(0).view(1, 8))),
    "rows stacked": Batched(plain(lambda x: torch.stack([x, x * 2], 0).max(0)[0])),
    "rows joined": Batched(plain(lambda x: torch.cat([x, x + 1], 0).mean(0, keepdim=True))),
    "where": Batched(plain(lambda x: torch.where(x > 0, x, x * 0.1))),
    "mask": Batched(plain(lambda x: x.masked_fill(x < x.median(-1, keepdim=True)[0], 0.0))),
    "masked mean": Batched(
        plain(lambda x: (x * (x > 0)).sum(-1, keepdim=True) / (x > 0).sum(-1, keepdim=True).clamp(1))
    ),
    "any of all": Batched(plain(lambda x: torch.where((x > 1.5).any(), x * 0, x))),
    "einsum": Batched(plain(lambda x: torch.einsum("bij,bkj->bik", x, x)), (1, 3, 4)),
    "einsum over rows": Batched(plain(lambda x: torch.einsum("bi,bj->ij", x, x).view(1, 64))),
    "einsum of heads": Batched(
        plain(lambda x: torch.einsum("bhid,bhjd->bhij", x.view(1, 2, 3, 4), x.view(1, 2, 3, 4))), (1, 24)
    ),
    "broadcast of one row": Batched(plain(lambda x: x + torch.arange(8.0))),
    "broadcast of a column": Batched(plain(lambda x: (x + torch.arange(3.0).view(3, 1)).sum(0, keepdim=True))),
    "broadcast against itself": Batched(plain(lambda x: x.unsqueeze(2) - x.unsqueeze(1))),
    "distances of all": Batched(plain(lambda x: torch.cdist(x.view(1, 4, 2), x.view(1, 4, 2)))),
    "batched product": Batched(plain(lambda x: torch.bmm(x, x.transpose(1, 2))), (1, 3, 4)),
    "normalised": Batched(plain(lambda x: functional.normalize(x, dim=-1))),
    "normalised over all": Batched(plain(lambda x: functional.layer_norm(x, (1, 8)))),
    "quaternions": Batched(plain(lambda x: torch.cross(x.view(1, 2, 4)[..., :3], x.view(1, 2, 4)[..., 1:], dim=-1))),
    "rolled": Batched(plain(lambda x: x.roll(1, 1))),
    "rolled along rows": Batched(plain(lambda x: x.roll(1, 0))),
    "flipped": Batched(plain(lambda x: x.flip(1))),
    "flipped rows": Batched(plain(lambda x: x.flip(0))),
    "upper triangle": Batched(plain(lambda x: x.view(1, 4, 4).triu(1)), (1, 16)),
    "diagonal": Batched(plain(lambda x: torch.diagonal(x, dim1=1, dim2=2)), (1, 4, 4)),
    "variance": Batched(
        plain(lambda x: torch.cat([x.var(-1, keepdim=True), x.std(0, unbiased=False).unsqueeze(0)], 1))
    ),
    "logsumexp over the first axis": Batched(plain(lambda x: x.logsumexp(0, keepdim=True))),
    "place of the largest": Batched(plain(lambda x: x.argmax().view(1, 1))),
    "place of the largest in a row": Batched(plain(lambda x: x.argmax(-1, keepdim=True))),
    "one of so many": Batched(plain(lambda x: functional.one_hot(x.argmax(-1), 8))),
    "buckets": Batched(plain(lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])))),
    "rounded and whole": Batched(plain(lambda x: ((x * 10).long() % 3, x > 0, x.half()))),
    "constant beside": Batched(plain(lambda x: (x * 2, torch.ones(1, 3) * 0.5 + 0 * x[:, :3]))),
    "two axes of one": Batched(plain(lambda x: x.squeeze(1).unsqueeze(0) * 2), (1, 1, 8)),
    "steps made rows": Batched(plain(lambda x: x.squeeze(0).mean(0, keepdim=True)), (1, 5, 8)),
    "steps by steps": Batched(plain(lambda x: x[0] @ x[0].T), (1, 3, 8)),
    "no leading one": Batched(plain(lambda x: x * 2), (2, 4)),
    "no axes in front": Batched(plain(lambda x: x.cumsum(0)), (5,)),
    "image to patches": Batched(
        plain(lambda x: x.view(1, 3, 2, 4, 2, 4).permute(0, 2, 4, 1, 3, 5).reshape(1, 4, 48)), (1, 3, 8, 8)
    ),
    "image resized": Batched(
        plain(lambda x: functional.interpolate(x, size=(5, 7), mode="bilinear", align_corners=False)), (1, 2, 4, 4)
    ),
    "image sampled": Batched(
        plain(lambda x: functional.grid_sample(x, torch.tanh(x[:, :2].permute(0, 2, 3, 1)), align_corners=False)),
        (1, 2, 4, 4),
    ),
    "unfolded": Batched(plain(lambda x: x.unfold(1, 4, 2)), (1, 10)),
    "loop": Batched(plain(lambda x: sum((x * k).sin() for k in range(4)) / 4)),
    "fft": Batched(plain(lambda x: torch.fft.rfft(x).abs())),
    "quantiles": Batched(plain(lambda x: torch.quantile(x, 0.5, dim=1, keepdim=True))),
    "inverse": Batched(plain(lambda x: torch.linalg.inv(x + 4 * torch.eye(3))), (1, 3, 3)),
    "solved": Batched(plain(lambda x: torch.linalg.solve(x + 4 * torch.eye(3), x[..., :1])), (1, 3, 3)),
    "cumulative maximum": Batched(plain(lambda x: x.cummax(1)[0])),
    "counts": Batched(plain(lambda x: (x > 0).sum(0, keepdim=True).float() + (x > 0).float().mean())),
    "index of rows": Batched(plain(lambda x: x + torch.arange(x.shape[0]).unsqueeze(1) * 3)),
    "number of rows": Batched(plain(lambda x: x * x.shape[0] / x.numel())),
    "clamped by itself": Batched(plain(lambda x: x[:, 1:].clamp(min=x[:, :1], max=x[:, :1] + 1))),
    "prelu and friends": Batched(seeded(lambda: nn.Sequential(nn.PReLU(), nn.Softplus(), nn.Hardswish()))),
}
