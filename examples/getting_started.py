# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Two nodes, one made with the decorator and one with two lines. Usage: getting_started.py [FOLDER]

Writes FOLDER/getting_started/ and prints an action per step; getting_started.cpp runs the bundle and prints the same.
"""

import sys

import leapp
import torch
from leapp import annotate

STEPS = 3


@annotate.method(export_with="jit")
def preprocess(obs: torch.Tensor, command: torch.Tensor) -> torch.Tensor:
    features = torch.cat([(obs - 0.1) / 2.0, command], dim=-1)
    return features


def main(folder: str) -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ELU(), torch.nn.Linear(16, 2)).eval()

    leapp.start("getting_started", save_path=folder)
    for step in range(STEPS):
        obs = torch.sin(0.3 * torch.arange(6) + step).unsqueeze(0)
        features = preprocess(obs, torch.tensor([[0.5, -0.25]]))

        features = annotate.input_tensors("policy", {"features": features})
        with torch.no_grad():
            action = torch.tanh(net(features))
        annotate.output_tensors("policy", {"action": action}, export_with="jit")
        print(f"step {step}: action = {action[0, 0].item():+.6f} {action[0, 1].item():+.6f}")
    leapp.stop()
    leapp.compile_graph()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
