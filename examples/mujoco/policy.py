# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The policy: joint positions and a target in, torques out. It sees no velocities: it remembers four frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
JOINTS = ["wrist", "shoulder", "elbow"]  # the policy's order; neither the joints' nor the motors' of arm.xml
LIMITS = [4.0, 30.0, 15.0]
FRAMES, FREQUENCY = 4, 50.0


class Policy(torch.nn.Module):
    limits: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        size = 3 + 3 * (FRAMES - 1) + 2
        self.net = torch.nn.Sequential(
            torch.nn.Linear(size, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3)
        )
        self.register_buffer("limits", torch.tensor(LIMITS), persistent=False)

    def act(self, history: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Torques for the newest of the frames [1, FRAMES, joints]."""
        velocities = (history[:, 1:] - history[:, :-1]) * (FREQUENCY / 5.0)
        features = torch.cat([history[:, -1], velocities.flatten(1), target], dim=1)
        return self.limits * torch.tanh(self.net(features))

    def forward(
        self, q: torch.Tensor, target: torch.Tensor, history: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """One step: the torques, and the history with the new frame in it."""
        history = torch.cat([history[:, 1:], q.unsqueeze(1)], dim=1)
        return self.act(history, target), history


def trained() -> Policy:
    """The policy with the weights that train.py wrote."""
    policy = Policy()
    with np.load(HERE / "weights.npz") as weights:
        policy.load_state_dict({name: torch.from_numpy(weights[name].astype(np.float32)) for name in weights.files})
    return policy.eval()
