# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""TorchScript models in our runtime: whatever is done to make them fast, the bits are those of torch.jit.load."""

from __future__ import annotations

from pathlib import Path

import harness
import leapp
import pytest
import torch
from leapp import InferenceManager, annotate


class Layers(torch.nn.Module):
    """Linear layers of every kind: with and without bias, one used twice, of rows, of a vector, of a batch of rows."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(6, 16)
        self.twice = torch.nn.Linear(16, 16)
        self.plain = torch.nn.Linear(16, 16, bias=False)
        self.last = torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.elu(self.first(x))
        x = torch.tanh(self.twice(self.twice(x)))
        rows = self.last(self.plain(x))
        return rows + self.last(x.flatten()[:16]) + self.last(x[None])[0]


class Writes(torch.nn.Module):
    """To its own bias and to what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)
        self.register_buffer("bias", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(1.0)
        self.bias.copy_(x[0, :4])
        return torch.nn.functional.linear(x, self.linear.weight, self.bias)


class Branches(torch.nn.Module):
    """Rows or a vector, depending on the data."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x
        if bool(x.sum() > 0):
            y = x[0]
        return self.linear(y).reshape(1, 4)


def manager_of(module: torch.nn.Module, folder: Path, rows: int = 1) -> tuple[InferenceManager, Path]:
    """A bundle whose one node is this module, scripted."""
    torch.manual_seed(0)
    path = folder / "mine.pt"
    torch.jit.script(module.eval()).save(str(path))
    leapp.start("g", save_path=str(folder))
    x = annotate.input_tensors("n", {"x": torch.zeros(rows, 6)})
    annotate.output_tensors(
        "n", {"y": x[:, :4] * 0 + module(x.clone()).detach()}, backend_params={"model_path": str(path)}
    )
    leapp.stop()
    leapp.compile_graph(visualize=False, validate=False)
    return InferenceManager(folder / "g" / "g.yaml"), path


@pytest.mark.parametrize(("kind", "rows"), [(Layers, 1), (Layers, 5), (Writes, 1), (Writes, 5), (Branches, 1)])
def test_the_bits_are_those_of_torch(kind: type[torch.nn.Module], rows: int, tmp_path: Path) -> None:
    manager, path = manager_of(kind(), tmp_path, rows)
    model = torch.jit.load(str(path))
    for seed in range(10):
        torch.manual_seed(seed)
        x = torch.randn(rows, 6)
        with torch.inference_mode():
            expected = model(x.clone())
        found = manager.run_policy({"n/x": x})["n/y"]
        assert harness.difference_in_bits([expected], [torch.as_tensor(found)]) is None
