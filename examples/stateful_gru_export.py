# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A GRU policy that keeps its hidden state in a buffer. Usage: stateful_gru_export.py [FOLDER]

The model is ordinary PyTorch. `annotate.module` names the module whose buffers are state, and one pass is enough:
FOLDER/stateful_gru/ holds a model that takes the hidden state, gives the next one, and is wired to itself;
stateful_gru_export.cpp runs it and prints the same numbers.
"""

import sys
from pathlib import Path

import leapp
import torch
from leapp import annotate
from torch import nn


class GRUPolicy(nn.Module):
    def __init__(self, obs_dim: int = 16, hidden_dim: int = 32, action_dim: int = 8) -> None:
        super().__init__()
        self.gru = nn.GRU(obs_dim, hidden_dim, num_layers=1, batch_first=False)
        self.mlp = nn.Sequential(nn.Linear(hidden_dim, 32), nn.ELU(), nn.Linear(32, action_dim))
        self.register_buffer("h_state", torch.zeros(1, 1, hidden_dim))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        gru_out, h_out = self.gru(obs.unsqueeze(0), self.h_state)
        self.h_state = h_out  # self.h_state.copy_(h_out) would do as well
        return self.mlp(gru_out.squeeze(0))


def make_policy() -> GRUPolicy:
    torch.manual_seed(0)
    return GRUPolicy().eval()


@torch.no_grad()
def main(folder: str) -> None:
    model = make_policy()
    obs = torch.sin(0.1 * torch.arange(16)).unsqueeze(0)

    leapp.start("stateful_gru", save_path=folder)
    obs = annotate.input_tensors("policy", {"obs": obs})
    annotate.module("policy", model)
    action = annotate.output_tensors("policy", {"action": model(obs)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()

    print("action: ", " ".join(f"{value:+.6f}" for value in action[0].tolist()))
    print("h_state:", " ".join(f"{value:+.6f}" for value in model.h_state[0, 0, :8].tolist()), "...")
    print("written:", Path(folder) / "stateful_gru" / "stateful_gru.yaml")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
