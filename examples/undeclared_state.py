# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A policy that remembers three things and declares none of them. Usage: undeclared_state.py [FOLDER]

A history of observations is shifted in place, the last action is an attribute, and so is a moving average of the
actions. Only the observation and the target are annotated. LEAPP finds the three, makes feedback ports of them, named
after the attributes, and says so in warnings; `leapp.start(..., leaks="error")` refuses and tells what to write.
undeclared_state.cpp runs the bundle and prints the same numbers.
"""

import sys
from pathlib import Path

import leapp
import torch
from leapp import annotate
from torch import nn

OBSERVATIONS, HISTORY, ACTIONS, PASSES = 6, 5, 3, 3


class Policy:
    def __init__(self) -> None:
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(HISTORY * OBSERVATIONS + ACTIONS, 32), nn.ELU(), nn.Linear(32, ACTIONS))
        self.history = torch.zeros(1, HISTORY, OBSERVATIONS)
        self.last_action = torch.zeros(1, ACTIONS)
        self.smooth_action = torch.zeros(1, ACTIONS)

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        self.history[:, :-1] = self.history[:, 1:].clone()
        self.history[:, -1] = obs
        action = torch.tanh(self.net(torch.cat([self.history.flatten(1), self.last_action], dim=1)))
        self.smooth_action = 0.8 * self.smooth_action + 0.2 * action
        self.last_action = action
        return 0.5 * self.smooth_action


def observation(step: int) -> torch.Tensor:
    return torch.sin(torch.arange(OBSERVATIONS) + 0.5 * step).unsqueeze(0)


@torch.no_grad()
def main(folder: str) -> None:
    policy = Policy()
    leapp.start("undeclared_state", save_path=folder)
    for step in range(PASSES):
        obs = annotate.input_tensors("policy", {"obs": observation(step)})
        target = annotate.output_tensors("policy", {"target": policy(obs)}, export_with="jit")
        print(f"step {step}: target =", " ".join(f"{value:+.6f}" for value in target[0].tolist()))
    leapp.stop()
    leapp.compile_graph()
    print("written:", Path(folder) / "undeclared_state" / "undeclared_state.yaml")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
