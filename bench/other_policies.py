# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of kinds that robots run, for choice.py: none of them was used to make the numbers behind the choice."""

from __future__ import annotations

import itertools

import torch
from torch import nn
from torch.nn import functional as F


def mlp(*sizes: int) -> nn.Module:
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class Residual(nn.Module):
    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.inward = nn.Linear(64, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
            for _ in range(blocks)
        )
        self.head = nn.Linear(width, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.inward(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


class Lstm(nn.Module):
    def __init__(self, inputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, width, layers)
        self.head = nn.Linear(width, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][-1])


class History(nn.Module):
    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Conv1d(inputs, 32, 8, 4), nn.ReLU(), nn.Conv1d(32, 32, 5), nn.ReLU(), nn.Conv1d(32, 32, 5), nn.ReLU()),
            *(nn.Flatten(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 8)),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class Impala(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        sizes = [channels, 16, 32, 32]
        self.firsts = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in itertools.pairwise(sizes))
        self.seconds = nn.ModuleList(nn.Conv2d(b, b, 3, padding=1) for b in sizes[1:])
        self.head = nn.Linear(32 * 8 * 8, 256)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for first, second in zip(self.firsts, self.seconds, strict=True):
            x = F.max_pool2d(first(x), 3, stride=2, padding=1)
            x = x + second(F.relu(x))
        return F.relu(self.head(F.relu(x).flatten(1)))


class Depthwise(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(channels, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.Hardswish()]
        for a, b in ((16, 32), (32, 64), (64, 96)):
            layers += [nn.Conv2d(a, a, 3, 2, 1, groups=a), nn.BatchNorm2d(a), nn.ReLU6()]
            layers += [nn.Conv2d(a, b, 1), nn.BatchNorm2d(b), nn.ReLU6()]
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, 12))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class Decoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inward = nn.Linear(width, 128 * 4 * 4)
        layers: list[nn.Module] = []
        for a, b in ((128, 64), (64, 32), (32, 16), (16, 3)):
            layers += [nn.ConvTranspose2d(a, b, 4, 2, 1), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.layers(self.inward(x).view(-1, 128, 4, 4)))


class Tokens(nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, F.gelu, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x)[:, -1])


class Points(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.each = mlp(3, 64, 128, 256)
        self.all = mlp(256, 128, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.all(self.each(x).amax(1))


class Unet(nn.Module):
    def __init__(self, actions: int) -> None:
        super().__init__()

        def block(a: int, b: int) -> nn.Module:
            return nn.Sequential(nn.Conv1d(a, b, 5, padding=2), nn.GroupNorm(8, b), nn.Mish())

        self.down = nn.ModuleList([block(actions, 64), block(64, 128)])
        self.shrink = nn.ModuleList([nn.Conv1d(64, 64, 3, 2, 1), nn.Conv1d(128, 128, 3, 2, 1)])
        self.middle = block(128, 128)
        self.grow = nn.ModuleList([nn.ConvTranspose1d(128, 128, 4, 2, 1), nn.ConvTranspose1d(128, 64, 4, 2, 1)])
        self.up = nn.ModuleList([block(256, 128), block(128, 64)])
        self.head = nn.Conv1d(64, actions, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = []
        for down, shrink in zip(self.down, self.shrink, strict=True):
            x = down(x)
            kept.append(x)
            x = shrink(x)
        x = self.middle(x)
        for grow, up in zip(self.grow, self.up, strict=True):
            x = up(torch.cat([grow(x), kept.pop()], 1))
        return self.head(x)
