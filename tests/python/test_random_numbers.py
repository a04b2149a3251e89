# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a program draws from live values the model draws in every step, from the same distribution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import leapp
import numpy as np
import onnx
import pytest
import torch
from leapp import annotate

Tensor = torch.Tensor
Step = Callable[[Tensor], Tensor]
SIZE = (64, 4)


def normal(x: Tensor) -> Tensor:
    return x + torch.randn_like(x)


def uniform(x: Tensor) -> Tensor:
    return x * 0 + torch.rand_like(x)


def whole_numbers(x: Tensor) -> Tensor:
    return x * 0 + torch.randint_like(x, 3, 9)


def coins(x: Tensor) -> Tensor:
    return torch.bernoulli(x * 0 + 0.3)


def chosen(x: Tensor) -> Tensor:
    weights = torch.tensor([0.1, 0.2, 0.7]) + x[0, 0] * 0
    return x * 0 + torch.multinomial(weights, 256, replacement=True).reshape(64, 4)


def categorical(x: Tensor) -> Tensor:
    logits = x[:, :3] * 0 + torch.tensor([0.0, 1.0, 2.0])
    return torch.distributions.Categorical(logits=logits).sample().float()[:, None] + x * 0


def dropout(x: Tensor) -> Tensor:
    return torch.nn.functional.dropout(x * 0 + 1, 0.25, training=True)


def sampler(x: Tensor) -> Tensor:
    """Noise to begin with and in every step, as samplers of diffusion policies have it."""
    y = torch.randn_like(x)
    for t in range(4):
        y = 0.8 * y + 0.1 * x
        if t < 3:
            y = y + 0.3 * torch.randn_like(y)
    return y


def planner(x: Tensor) -> Tensor:
    """Draws candidates, weighs them, and takes the mean of the best."""
    candidates = torch.randn_like(x.expand(32, 64, 4)) * 0.5
    value = -(candidates - 0.2).square().sum((1, 2))
    best = torch.topk(value, 8).indices
    return candidates[best].mean(0)


DRAWS: list[Step] = [normal, uniform, whole_numbers, coins, chosen, categorical, dropout, sampler, planner]


def export(step: Callable[[Tensor], Any], folder: Path, backend: str, calls: int = 3, **params: Any) -> Any:
    leapp.start("g", save_path=str(folder))
    for i in range(calls):
        x = annotate.input_tensors("n", {"x": torch.full(SIZE, 0.1 * i)})
        annotate.output_tensors("n", {"y": step(x)}, export_with=backend, backend_params=params or None)
    leapp.stop()
    return leapp.compile_graph(visualize=False)


def stepped(folder: Path, steps: int = 40) -> np.ndarray[Any, Any]:
    manager = leapp.InferenceManager(str(folder / "g" / "g.yaml"))
    x = torch.zeros(SIZE)
    return np.stack([np.asarray(manager.run_policy({"n/x": x})["n/y"]) for _ in range(steps)])


def distance(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """Kolmogorov and Smirnov's: the largest difference of the two distribution functions."""
    a, b = np.sort(a.ravel()), np.sort(b.ravel())
    at = np.concatenate([a, b])
    return float(np.abs(np.searchsorted(a, at, "right") / a.size - np.searchsorted(b, at, "right") / b.size).max())


@pytest.mark.parametrize("backend", ["onnx", "jit"])
@pytest.mark.parametrize("step", DRAWS, ids=lambda step: step.__name__)
def test_a_draw_stays_a_draw(step: Step, backend: str, tmp_path: Path) -> None:
    results = export(step, tmp_path, backend)
    assert results == {"n": True}
    assert "random" in {finding.kind for finding in results.nodes["n"].findings}
    assert not harness.warnings_in(harness.read_log(tmp_path / "g"))
    found = stepped(tmp_path)
    assert not np.array_equal(found[0], found[1]), "every step draws anew"
    eager = np.stack([step(torch.zeros(SIZE)).numpy() for _ in range(40)])
    # Two samples of 10 240 numbers: a distance of 0.035 happens once in ten million times. Fewer are independent where
    # a step chooses among its draws.
    assert distance(found, eager) < (0.12 if step is planner else 0.035)
    np.testing.assert_allclose(found.mean(), eager.mean(), atol=0.12)
    np.testing.assert_allclose(found.std(), eager.std(), rtol=0.1)


def test_a_seed_makes_a_model_repeat_itself(tmp_path: Path) -> None:
    export(sampler, tmp_path, "onnx", seed=7)
    first, again = stepped(tmp_path, 5), stepped(tmp_path, 5)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[0], first[1])
    model = onnx.load(tmp_path / "g" / "n.onnx")
    seeds = [a.f for node in model.graph.node for a in node.attribute if a.name == "seed"]
    assert len(seeds) == 4
    assert len(set(seeds)) == 4, "each operator has one of its own"
    export(sampler, tmp_path, "onnx", seed=8)
    assert not np.array_equal(stepped(tmp_path, 5), first)


def test_a_seed_that_nothing_takes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="seed"):
        export(normal, tmp_path, "jit", seed=7)
    with pytest.raises(ValueError, match="seed"):
        export(normal, tmp_path, "onnx", seed=-1)


def test_noise_from_outside_is_an_input(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    for _ in range(3):
        x, noise = annotate.input_tensors("n", {"x": torch.ones(4), "noise": torch.randn(4)})
        annotate.output_tensors("n", {"y": x + 2 * noise}, export_with="onnx")
    leapp.stop()
    results = leapp.compile_graph(visualize=False)
    assert results == {"n": True}
    assert not results.nodes["n"].findings
    manager = leapp.InferenceManager(str(tmp_path / "g" / "g.yaml"))
    noise = torch.randn(4)
    given = manager.run_policy({"n/x": torch.ones(4), "n/noise": noise})["n/y"]
    torch.testing.assert_close(torch.as_tensor(given), 1 + 2 * noise)


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_noise_that_is_carried_as_state(backend: str, tmp_path: Path) -> None:
    """Coloured noise: a draw in every step, and what is left of those before."""
    kept = {"noise": torch.zeros(64, 4)}

    def step(x: Tensor) -> Tensor:
        before = annotate.state_tensors("n", {"noise": kept["noise"]})
        kept["noise"] = annotate.update_state("n", {"noise": 0.9 * before + torch.randn_like(before) * 0.4})
        return x + kept["noise"]

    assert export(step, tmp_path, backend) == {"n": True}
    found = stepped(tmp_path, 200)[50:]
    assert abs(found.std() - 0.4 / np.sqrt(1 - 0.81)) < 0.1
    neighbours = np.corrcoef(found[:-1].ravel(), found[1:].ravel())[0, 1]
    assert abs(neighbours - 0.9) < 0.05
