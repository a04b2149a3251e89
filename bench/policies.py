# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The policies that stepping.py runs: normalise -> policy -> scale, three nodes each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import leapp
import torch
from leapp import annotate
from torch import nn


class Mlp(nn.Module):
    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.sizes = sizes
        layers: list[nn.Module] = []
        for i, (a, b) in enumerate(itertools.pairwise(sizes)):
            layers += [nn.Linear(a, b)] + ([nn.ELU()] if i < len(sizes) - 2 else [])
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sizes = (48, 256, 12)
        self.gru = nn.GRU(48, 256)
        self.head = nn.Linear(256, 12)
        self.register_buffer("hidden", torch.zeros(1, 1, 256))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, self.hidden = self.gru(x.unsqueeze(0), self.hidden)
        return self.head(y.squeeze(0))


class Cnn(nn.Module):
    """The network of the Atari paper in Nature, on four frames."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes = (84, 512, 12)
        self.observation = (1, 4, 84, 84)
        self.layers = nn.Sequential(
            *(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU()),
            *(nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 12)),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class Act(nn.Module):
    """Like ACT without its camera's backbone: 50 tokens of features to a chunk of 50 actions."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes = (256, 256, 14)
        self.observation = (1, 50, 256)
        self.inward = nn.Linear(256, 256)
        self.places = nn.Parameter(torch.randn(1, 50, 256) * 0.02)
        self.queries = nn.Parameter(torch.randn(1, 50, 256) * 0.02)
        self.transformer = nn.Transformer(256, 8, 4, 4, 1024, dropout=0.0, batch_first=True)
        self.head = nn.Linear(256, 14)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.transformer(self.inward(x) + self.places, self.queries))


WORKLOADS = {
    "mlp": ("MLP 48-512-256-128-12, 781 KB", lambda: Mlp([48, 512, 256, 128, 12])),
    "small": ("MLP 12-32-32-8, 7 KB", lambda: Mlp([12, 32, 32, 8])),
    "gru": ("GRU-256, 48 in, 12 out, 924 KB", Gru),
}
# Only for the comparison of engines.
LARGER = {
    "cnn": ("CNN 4x84x84 (Nature), 6.8 MB", Cnn),
    "act": ("ACT-like transformer, d 256, 4+4 layers, chunk 50, 30 MB", Act),
}
# Only for many rows in a step: weights that do not fit into a cache.
HEAVY = {
    "heavy": ("MLP 256-2048-2048-1024-12, 27 MB", lambda: Mlp([256, 2048, 2048, 1024, 12])),
    "huge": ("MLP 512-4096-4096-2048-12, 109 MB", lambda: Mlp([512, 4096, 4096, 2048, 12])),
}


class Pipeline:
    """One of them, eager or annotated."""

    def __init__(self, name: str) -> None:
        torch.manual_seed(0)
        self.policy = {**WORKLOADS, **LARGER, **HEAVY}[name][1]().eval()
        first, last = self.policy.sizes[0], self.policy.sizes[-1]
        self.mean, self.deviation = torch.full((first,), 0.1), torch.full((first,), 1.5)
        self.range = torch.full((last,), 0.25)
        self.obs = torch.randn(*getattr(self.policy, "observation", (1, first)))

    def normalise(self, obs: torch.Tensor) -> torch.Tensor:
        return torch.clamp((obs - self.mean) / self.deviation, -5.0, 5.0)

    def scale(self, action: torch.Tensor) -> torch.Tensor:
        return torch.tanh(action) * self.range + 0.1

    def eager(self) -> torch.Tensor:
        return self.scale(self.policy(self.normalise(self.obs)))

    def annotated(self, backend: str) -> None:
        obs = annotate.input_tensors("normalise", {"obs": self.obs})
        features = annotate.output_tensors("normalise", {"features": self.normalise(obs)}, export_with=backend)
        features = annotate.input_tensors("policy", {"features": features})
        if isinstance(self.policy, Gru):
            annotate.module("policy", self.policy)
        action = annotate.output_tensors("policy", {"action": self.policy(features)}, export_with=backend)
        action = annotate.input_tensors("scale", {"action": action})
        annotate.output_tensors("scale", {"target": self.scale(action)}, export_with=backend)


@torch.no_grad()
def export(name: str, backend: str, folder: Path) -> Path:
    """Writes FOLDER/NAME/NAME.yaml with whichever `leapp` this interpreter has."""
    pipeline = Pipeline(name)
    leapp.start(name, save_path=str(folder))
    pipeline.annotated(backend)
    leapp.stop()
    leapp.compile_graph(visualize=False, validate=False)
    return folder / name / f"{name}.yaml"
