# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Export a recurrent policy pipeline: normalise, GRU policy, scale. Usage: recurrent_policy.py [FOLDER]

Writes FOLDER/recurrent_policy/ and prints the first action of every step; recurrent_policy.cpp runs the bundle, without
torch and Python, and prints the same numbers.
"""

import sys

import leapp
import torch
from leapp import annotate

OBSERVATIONS, HIDDEN, ACTIONS, STEPS = 16, 32, 8, 5


class Policy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = torch.nn.GRU(OBSERVATIONS, HIDDEN)
        self.actor = torch.nn.Sequential(torch.nn.Linear(HIDDEN, 64), torch.nn.ELU(), torch.nn.Linear(64, ACTIONS))

    def forward(self, features: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        output, hidden = self.gru(features.unsqueeze(0), hidden)
        return self.actor(output.squeeze(0)), hidden


def observation(step: int) -> torch.Tensor:
    """What the robot would measure; the C++ program computes the same."""
    return torch.sin(0.1 * torch.arange(OBSERVATIONS) + 0.5 * step).unsqueeze(0)


def normalise(obs: torch.Tensor) -> torch.Tensor:
    features = (obs - 0.1) / 1.5
    features[:, :2] *= 0.25  # in place, on a view: captured like everything else
    return features.clamp_(-5.0, 5.0)


def main(folder: str) -> None:
    torch.manual_seed(0)
    policy = Policy().eval()
    hidden = torch.zeros(1, 1, HIDDEN)

    leapp.start("recurrent_policy", save_path=folder)
    with torch.no_grad():
        for step in range(STEPS):
            obs = annotate.input_tensors("normalise", {"obs": observation(step)})
            features = annotate.output_tensors("normalise", {"features": normalise(obs)}, export_with="onnx")

            features, hidden = annotate.input_tensors("policy", {"features": features, "hidden": hidden})
            action, hidden = policy(features, hidden)
            action, hidden = annotate.output_tensors("policy", {"action": action, "hidden": hidden}, export_with="onnx")

            action = annotate.input_tensors("scale", {"action": action})
            target = annotate.output_tensors("scale", {"target": 0.5 * torch.tanh(action)}, export_with="onnx")
            print(f"step {step}: target[0] = {target[0, 0].item():+.6f}")
    leapp.stop()
    results = leapp.compile_graph()
    print("checked:", ", ".join(f"{name} {result.status}" for name, result in results.nodes.items()))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
