# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a program draws in every call the model draws in every step, from the same distribution."""

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


def normal_of_nothing(x: Tensor) -> Tensor:
    return x + torch.randn(64, 4)


def uniform_of_a_generator(x: Tensor) -> Tensor:
    return x + torch.rand(64, 4, generator=GENERATOR)


def whole_numbers_of_nothing(x: Tensor) -> Tensor:
    return x + torch.randint(3, 9, SIZE) + torch.randint(4, SIZE, generator=GENERATOR)


def normal_of_numbers(x: Tensor) -> Tensor:
    return x + torch.normal(0.5, 2.0, SIZE)


def normal_of_constants(x: Tensor) -> Tensor:
    return x + torch.normal(torch.full(SIZE, 0.5), torch.full(SIZE, 2.0))


def reparametrised(x: Tensor) -> Tensor:
    return torch.distributions.Normal(x, 0.5).rsample()


def of_a_distribution(x: Tensor) -> Tensor:
    mean = torch.distributions.Normal(torch.zeros(64, 4), 1.0).sample()
    kind = torch.distributions.Categorical(probs=torch.tensor([0.2, 0.8])).sample((64, 4))
    return x + mean + kind


def coins_of_nothing(x: Tensor) -> Tensor:
    return x + torch.bernoulli(torch.full(SIZE, 0.3))


def order(x: Tensor) -> Tensor:
    return (x + torch.arange(64)[:, None])[torch.randperm(64)] * torch.tensor([1.0, 0.0, 0.0, 0.0])


def dropout_of_nothing(x: Tensor) -> Tensor:
    return x + torch.nn.functional.dropout(torch.ones(64, 4), 0.25, training=True)


def chosen_of_nothing(x: Tensor) -> Tensor:
    return x + torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 256, replacement=True).reshape(64, 4)


def written_into_fresh_memory(x: Tensor) -> Tensor:
    return x + torch.empty(64, 4).normal_() + torch.empty(64, 4).exponential_()


def written_into_a_part(x: Tensor) -> Tensor:
    noise = torch.zeros(64, 4)
    noise[:, :2].uniform_(-1, 1)
    noise[:, 3] = 2.0
    return x + noise


def written_into_what_is_kept(x: Tensor) -> Tensor:
    return x + torch.randn(SIZE, out=BUFFER) + BUFFER.normal_()


def a_part_of_it(x: Tensor) -> Tensor:
    noise = torch.randn(128, 4)
    noise[64] = 0.0
    return x + 2 * noise[64:]


def sampler_of_nothing(x: Tensor) -> Tensor:
    y = torch.randn(64, 4)
    for _ in range(3):
        y = 0.8 * y + 0.1 * x + 0.3 * torch.randn(y.shape)
    return y


def cross_entropy_planner(x: Tensor) -> Tensor:
    mean, spread = torch.zeros(64, 4), torch.ones(64, 4)
    for _ in range(3):
        plans = mean + spread * torch.randn(32, 64, 4)
        best = plans[torch.topk(-(plans - 0.2 - x).square().sum((1, 2)), 8).indices]
        mean, spread = best.mean(0), best.std(0)
    return mean


def a_number(x: Tensor) -> Tensor:
    return x + torch.rand(1).item() * torch.ones(64, 4)


def a_choice(x: Tensor) -> Tensor:
    return x + torch.where(torch.rand(64, 4) < 0.25, torch.rand(64, 4), 3.0)


def nothing_else(x: Tensor) -> Tensor:
    return torch.randn(64, 4)


GENERATOR = torch.Generator().manual_seed(5)
BUFFER = torch.zeros(64, 4)
FROM_LIVE: list[Step] = [normal, uniform, whole_numbers, coins, chosen, categorical, dropout, sampler, planner]
FROM_NOTHING: list[Step] = [
    normal_of_nothing,
    uniform_of_a_generator,
    whole_numbers_of_nothing,
    normal_of_numbers,
    normal_of_constants,
    reparametrised,
    of_a_distribution,
    coins_of_nothing,
    order,
    dropout_of_nothing,
    chosen_of_nothing,
    written_into_fresh_memory,
    written_into_a_part,
    written_into_what_is_kept,
    a_part_of_it,
    sampler_of_nothing,
    cross_entropy_planner,
    a_number,
    a_choice,
    nothing_else,
]
FEW_INDEPENDENT = {categorical: 0.07, planner: 0.12, cross_entropy_planner: 0.12, a_number: 0.5}


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
    given = {"n/x": x} if manager.inputs else {}
    return np.stack([np.asarray(manager.run_policy(given)["n/y"]) for _ in range(steps)])


def distance(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """Kolmogorov and Smirnov's: the largest difference of the two distribution functions."""
    a, b = np.sort(a.ravel()), np.sort(b.ravel())
    at = np.concatenate([a, b])
    return float(np.abs(np.searchsorted(a, at, "right") / a.size - np.searchsorted(b, at, "right") / b.size).max())


@pytest.mark.parametrize("backend", ["onnx", "jit"])
@pytest.mark.parametrize("step", FROM_LIVE + FROM_NOTHING, ids=lambda step: step.__name__)
def test_a_draw_stays_a_draw(step: Step, backend: str, tmp_path: Path) -> None:
    results = export(step, tmp_path, backend)
    assert results == {"n": True}
    assert "random" in {finding.kind for finding in results.nodes["n"].findings}
    assert not harness.warnings_in(harness.read_log(tmp_path / "g"))
    found = stepped(tmp_path)
    assert not np.array_equal(found[0], found[1]), "every step draws anew"
    eager = np.stack([step(torch.zeros(SIZE)).numpy() for _ in range(40)])
    # Two samples of 10 240 numbers: a distance of 0.035 happens once in ten million times. Fewer are independent where
    # a step chooses among its draws, or uses one of them several times.
    assert distance(found, eager) < FEW_INDEPENDENT.get(step, 0.035)
    loose = 2.5 if step is a_number else 1.0
    np.testing.assert_allclose(found.mean(), eager.mean(), atol=0.12 * loose, rtol=0.02)
    np.testing.assert_allclose(found.std(), eager.std(), rtol=0.1 * loose)


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_one_call_cannot_tell(backend: str, tmp_path: Path) -> None:
    assert export(normal_of_nothing, tmp_path, backend, calls=1) == {"n": True}
    found = stepped(tmp_path)
    assert np.array_equal(found[0], found[1])
    [warning] = harness.warnings_in(harness.read_log(tmp_path / "g"))
    assert "uses a random tensor" in warning
    assert "run two passes before leapp.stop() to have it drawn in every step" in warning


class Kept:
    """Numbers that are drawn once, in one way or another."""

    def __init__(self) -> None:
        self.noise: Tensor | None = None
        self.weight = torch.zeros(64, 4)

    def in_an_attribute(self, x: Tensor) -> Tensor:
        if self.noise is None:
            self.noise = torch.randn(64, 4)
        return x + self.noise

    def computed(self, x: Tensor) -> Tensor:
        if self.noise is None:
            self.noise = torch.randn(64, 4).cumsum(0) * 0.1
        return x + self.noise

    def in_place(self, x: Tensor) -> Tensor:
        if self.noise is None:
            self.noise = self.weight.normal_()
        return x + self.weight

    def in_part(self, x: Tensor) -> Tensor:
        if self.noise is None:
            self.noise = torch.empty(64, 4)
            self.noise[:32].normal_()
            self.noise[32:].uniform_()
        return x + self.noise.t().t()

    def of_a_module(self, x: Tensor) -> Tensor:
        if not hasattr(self, "layer"):
            self.layer = torch.nn.Linear(4, 4)
        with torch.no_grad():
            moved: Tensor = self.layer(x + 1)
        return moved

    def of_a_seed(self, x: Tensor) -> Tensor:
        return x + torch.randn(64, 4, generator=torch.Generator().manual_seed(3))

    def of_the_seed(self, x: Tensor) -> Tensor:
        torch.manual_seed(3)
        return x + torch.rand(64, 4) * torch.bernoulli(torch.full(SIZE, 0.5))


@pytest.mark.parametrize("backend", ["onnx", "jit"])
@pytest.mark.parametrize(
    "way", ["in_an_attribute", "computed", "in_place", "in_part", "of_a_module", "of_a_seed", "of_the_seed"]
)
def test_numbers_that_stay_the_same_are_a_constant(way: str, backend: str, tmp_path: Path) -> None:
    step = getattr(Kept(), way)
    results = export(step, tmp_path, backend)
    assert results == {"n": True}
    assert not {finding.kind for finding in results.nodes["n"].findings} & {"random", "random_constant"}
    assert not harness.warnings_in(harness.read_log(tmp_path / "g"))
    found = stepped(tmp_path, 3)
    np.testing.assert_allclose(found[0], step(torch.zeros(SIZE)).numpy(), atol=1e-5)
    np.testing.assert_array_equal(found[0], found[2])


def test_one_call_that_keeps_its_numbers_is_warned_about(tmp_path: Path) -> None:
    kept = Kept()
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.zeros(SIZE)})
    annotate.output_tensors("n", {"y": kept.in_an_attribute(x)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert "'noise'" in "".join(harness.warnings_in(harness.read_log(tmp_path / "g")))


class Sometimes:
    """Noise for a few steps at a time."""

    def __init__(self, drawn: set[int]) -> None:
        self.step, self.drawn = 0, drawn

    def __call__(self, x: Tensor) -> Tensor:
        if self.step in self.drawn:
            self.noise = torch.randn(64, 4)
        self.step += 1
        return x + self.noise


def test_numbers_that_are_drawn_now_and_then_are_reported(tmp_path: Path) -> None:
    with pytest.raises(leapp.ValidationError, match="draws other numbers in call 2, and those of call 0"):
        export(Sometimes({0, 2}), tmp_path, "jit")
    with pytest.raises(leapp.ValidationError, match=r"aten::randn at .* in call 0, a constant .* in call 2"):
        export(Sometimes({0, 1}), tmp_path, "jit")


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_a_state_that_begins_with_random_numbers(backend: str, tmp_path: Path) -> None:
    class Walk:
        h: Tensor | None = None

        def __call__(self, x: Tensor) -> Tensor:
            if self.h is None:
                self.h = self.first = torch.randn(64, 4)
            self.h = 0.5 * self.h + x
            return self.h * 1.0

    walk = Walk()
    assert export(walk, tmp_path, backend) == {"n": True}
    np.testing.assert_allclose(stepped(tmp_path, 2)[1], 0.25 * walk.first.numpy(), atol=1e-6)


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_noise_of_the_step_before(backend: str, tmp_path: Path) -> None:
    class Delayed:
        noise = torch.zeros(64, 4)

        def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
            before, self.noise = self.noise, torch.randn(64, 4)
            return before + x, self.noise

    delayed = Delayed()
    leapp.start("g", save_path=str(tmp_path))
    for i in range(3):
        x = annotate.input_tensors("n", {"x": torch.full(SIZE, 0.1 * i)})
        before, now = delayed(x)
        annotate.output_tensors("n", {"before": before, "now": now * 1.0}, export_with=backend)
    leapp.stop()
    assert leapp.compile_graph(visualize=False) == {"n": True}
    manager = leapp.InferenceManager(str(tmp_path / "g" / "g.yaml"))
    steps = [manager.run_policy({"n/x": torch.zeros(SIZE)}) for _ in range(3)]
    assert not np.asarray(steps[0]["n/before"]).any()
    np.testing.assert_array_equal(np.asarray(steps[2]["n/before"]), np.asarray(steps[1]["n/now"]))


def test_numbers_that_are_drawn_while_two_nodes_are_open(tmp_path: Path) -> None:
    """Nobody knows whose they are: a constant, with a warning."""
    leapp.start("g", save_path=str(tmp_path))
    a, b = annotate.input_tensors("a", {"x": torch.ones(4)}), annotate.input_tensors("b", {"x": torch.ones(4)})
    noise = torch.randn(4)
    annotate.output_tensors("a", {"y": a + noise}, export_with="jit")
    annotate.output_tensors("b", {"y": b * noise}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph(visualize=False) == {"a": True, "b": True}
    assert len(harness.warnings_in(harness.read_log(tmp_path / "g"))) == 2


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


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_a_command_that_is_drawn_when_a_value_says_so(backend: str, tmp_path: Path) -> None:
    """One side of a branch draws, and both read what was drawn last."""

    class Commanded:
        command = torch.zeros(64, 4)

        def __call__(self, x: Tensor) -> Tensor:
            if x.sum() > 0:
                self.command = torch.randn(64, 4)
            return x + self.command

    commanded = Commanded()
    leapp.start("g", save_path=str(tmp_path))
    for sign in (1, -1, -1, 1):
        x = annotate.input_tensors("n", {"x": torch.full(SIZE, float(sign))})
        annotate.output_tensors("n", {"y": commanded(x)}, export_with=backend)
    leapp.stop()
    assert leapp.compile_graph(visualize=False) == {"n": True}
    manager = leapp.InferenceManager(str(tmp_path / "g" / "g.yaml"))
    inputs = [torch.full(SIZE, float(sign)) for sign in (1, -1, -1, 1)]
    drawn = [torch.as_tensor(manager.run_policy({"n/x": x})["n/y"]) - x for x in inputs]
    torch.testing.assert_close(drawn[1], drawn[0])
    torch.testing.assert_close(drawn[2], drawn[0])
    assert not torch.allclose(drawn[3], drawn[0])
    assert 0.8 < drawn[3].std() < 1.2
