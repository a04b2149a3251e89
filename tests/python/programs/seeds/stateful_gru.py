# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A recurrent module that keeps its state in a buffer."""

import leapp
import torch
import torch.nn as nn
from leapp import annotate


class GRUPolicy(nn.Module):
    def __init__(self, obs_dim=16, hidden_dim=32, action_dim=8):
        super().__init__()
        self.gru = nn.GRU(obs_dim, hidden_dim, num_layers=1, batch_first=False)
        self.mlp = nn.Sequential(
            nn.Linear(hidden_dim, 32),
            nn.ELU(),
            nn.Linear(32, action_dim),
        )
        self.register_buffer("h_state", torch.zeros(1, 1, hidden_dim))

    def forward(self, obs):
        gru_out, h_out = self.gru(obs.unsqueeze(0), self.h_state)
        self.h_state = h_out  # reassignment detected by LEAPP
        return self.mlp(gru_out.squeeze(0))


model = GRUPolicy().eval()
obs = torch.randn(1, 16)

leapp.start("stateful_gru")

obs_traced = annotate.input_tensors("policy", {"obs": obs})
annotate.module("policy", model)
action = model(obs_traced)

annotate.output_tensors(
    "policy",
    {"action": action},
    export_with="onnx-torchscript",
)

leapp.stop()
leapp.compile_graph(visualize=False)
