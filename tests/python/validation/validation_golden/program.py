# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Three nodes: one changes from call to call, one is spoiled, one has a line beside it. Exact in float32."""

from __future__ import annotations

import torch
from leapp import annotate


class Pipeline:
    def __init__(self) -> None:
        self.gain = 1.0
        self.weight = torch.tensor([[1.0, -2.0], [0.5, -4.0]])

    def normalise(self, obs: torch.Tensor) -> torch.Tensor:
        self.gain *= 2
        return obs * self.gain

    def policy(self, features: torch.Tensor) -> torch.Tensor:
        hidden = features @ self.weight
        hidden = torch.relu(hidden)
        return hidden - 1

    def step(self, obs: torch.Tensor) -> None:
        obs = annotate.input_tensors("normalise", {"obs": obs})
        features = annotate.output_tensors("normalise", {"features": self.normalise(obs)}, export_with="onnx")
        features = annotate.input_tensors("policy", {"features": features})
        action = annotate.output_tensors("policy", {"action": self.policy(features)}, export_with="onnx")
        limited = torch.clamp(action, -1, 1)
        limited = annotate.input_tensors("drive", {"action": limited})
        annotate.output_tensors("drive", {"torque": limited * 8}, export_with="jit")
