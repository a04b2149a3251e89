# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Every way of keeping state: a closed loop in which the bundle equals the program at every step, or a report why not.

Each policy below is an ordinary class with state of its own and a `step(obs)`; it may announce state, or not.
"""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import bundle_runner
import harness
import leapp
import pytest
import torch
from leapp import annotate
from torch import nn

STEPS = 100
STEPPED: list[bundle_runner.Bundle] = []
_stepped_elsewhere = bundle_runner.fixture_that_steps_elsewhere(STEPPED)


def observations(count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(1, 6, generator=generator) for _ in range(count)]


class Policy(nn.Module):
    """`policy(obs)` announces nothing but obs and action; the classes below keep something."""

    outputs = ("action",)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def annotated(self, obs: torch.Tensor, backend: str) -> torch.Tensor:
        obs = annotate.input_tensors("policy", {"obs": obs})
        self.declare()
        action = self(obs)
        return annotate.output_tensors("policy", {"action": action}, export_with=backend)

    def declare(self) -> None:
        pass


class Explicit(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.zeros(1, 4)
        self.cell = nn.GRUCell(6, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        hidden = annotate.state_tensors("policy", {"hidden": self.hidden})
        self.hidden = annotate.update_state("policy", {"hidden": self.cell(obs, hidden)})
        return self.hidden * 2


class BufferReassigned(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(6, 4)
        self.register_buffer("h", torch.zeros(1, 1, 4))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.h = self.gru(obs.unsqueeze(0), self.h)
        return out.squeeze(0)


class DeclaredBufferReassigned(BufferReassigned):
    def declare(self) -> None:
        annotate.module("policy", self)


class BufferInPlace(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(6, 4)
        self.register_buffer("h", torch.zeros(1, 1, 4))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, h = self.gru(obs.unsqueeze(0), self.h)
        self.h.copy_(h)
        return out.squeeze(0)


class DeclaredBufferInPlace(BufferInPlace):
    def declare(self) -> None:
        annotate.module("policy", self)


class BufferSliced(Policy):
    """Partial slice assignment into a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("history", torch.zeros(1, 5, 6))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.history[:, :-1] = self.history[:, 1:].clone()
        self.history[:, -1] = obs
        return self.history.flatten(1).sum(1, keepdim=True) + self.history[:, 0, :1]


class DeclaredBufferSliced(BufferSliced):
    def declare(self) -> None:
        annotate.module("policy", self)


class RegisteredOverwritten(Policy):
    """A buffer that each call overwrites before reading is no state."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = torch.zeros(1, 6)

    def annotated(self, obs: torch.Tensor, backend: str) -> torch.Tensor:
        obs = annotate.input_tensors("policy", {"obs": obs})
        self.scratch = annotate.register_buffer("policy", {"scratch": self.scratch})
        return annotate.output_tensors("policy", {"action": self(obs)}, export_with=backend)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.scratch[:] = obs * 2
        return self.scratch + 1


class RegisteredPartly(RegisteredOverwritten):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.scratch[:, :3] = self.scratch[:, :3] * 0.5 + obs[:, :3]
        return self.scratch.sum(1, keepdim=True)


class RegisteredRolled(RegisteredOverwritten):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.scratch.copy_(self.scratch.roll(1, dims=1))
        self.scratch[:, 0] = obs.sum(1)
        return self.scratch * 1.0


class RegisteredNested(Policy):
    """The names of nested buffers are those of nested inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = {"slow": torch.zeros(1, 6), "rest": [torch.ones(1, 6), torch.zeros(1, 6)]}

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        kept = annotate.register_buffer("policy", {"kept": self.kept})
        kept["slow"].mul_(0.5).add_(obs)
        kept["rest"][0] += kept["slow"]
        kept["rest"][1][:] = obs * 2  # not read before: no state
        return kept["slow"] - kept["rest"][0] + kept["rest"][1]


class PlainReassigned(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.ema = torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.ema = 0.9 * self.ema + 0.1 * obs
        return self.ema + 1


class PlainInPlace(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.ema = torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.ema.mul_(0.9).add_(obs, alpha=0.1)
        return self.ema + 1


class LastAction(Policy):
    """The action of the step before is an output already: an edge, no new output."""

    def __init__(self) -> None:
        super().__init__()
        self.last = torch.zeros(1, 3)
        self.net = nn.Linear(9, 3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = torch.tanh(self.net(torch.cat([obs, self.last], 1))).detach()
        self.last = action
        return action


class LastActionInPlace(LastAction):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = torch.tanh(self.net(torch.cat([obs, self.last], 1))).detach()
        self.last[:] = action
        return action


class ReadBeforeUpdate(Policy):
    """The output depends on the old value only: the next value reaches no output of the same call."""

    def __init__(self) -> None:
        super().__init__()
        self.ema = torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out = obs + self.ema
        self.ema = 0.5 * self.ema + obs
        return out


class Deque(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.history = collections.deque([torch.zeros(1, 6) for _ in range(3)], maxlen=3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.history.append(obs * 1.0)
        return torch.cat(list(self.history), 1)


class DequeOfOneTensor(Deque):
    def __init__(self) -> None:
        super().__init__()
        self.history = collections.deque([torch.zeros(1, 6)] * 4, maxlen=4)


class Lstm(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 4)
        self.hidden = (torch.zeros(1, 1, 4), torch.zeros(1, 1, 4))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.hidden = self.lstm(obs.unsqueeze(0), self.hidden)
        return out.squeeze(0)


class HiddenNoneAtFirst(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(6, 4)
        self.hidden_state: torch.Tensor | None = None

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.hidden_state = self.rnn(obs.unsqueeze(0), self.hidden_state)
        return out.squeeze(0)


class GruCellLoop(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(6, 6), nn.GRUCell(6, 6)])
        self.hidden = [torch.zeros(1, 6), torch.zeros(1, 6)]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        x = obs
        for i, cell in enumerate(self.cells):
            self.hidden[i] = cell(x, self.hidden[i])
            x = self.hidden[i]
        return x


class RunningNormaliser(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("var", torch.ones(6))
        self.register_buffer("count", torch.ones(()))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.count += 1
        delta = obs.mean(0) - self.mean
        self.mean += delta / self.count
        self.var += (delta**2 - self.var) / self.count
        return (obs - self.mean) / torch.sqrt(self.var + 1e-5)


class BatchNormTrain(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.norm(torch.cat([obs, obs * 2, obs + 1]))
        return (obs - self.norm.running_mean) / self.norm.running_var.sqrt()


class CircularBuffer(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.buffer = torch.zeros(4, 6)
        self.index = torch.zeros(1, dtype=torch.int64)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.buffer[self.index] = obs
        self.index.add_(1).remainder_(4)
        return self.buffer.cumsum(0).sum(0, keepdim=True)


class CircularBufferScalarIndex(CircularBuffer):
    def __init__(self) -> None:
        super().__init__()
        self.index = torch.zeros((), dtype=torch.int64)


class CircularBufferNumber(CircularBufferScalarIndex):
    """The index leaves the graph: the program makes a number of it."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.buffer[int(self.index)] = obs
        self.index.add_(1).remainder_(4)
        return self.buffer.cumsum(0).sum(0, keepdim=True)


class CounterInPlace(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.t = torch.zeros(1)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.t += 1
        return obs * self.t


class CounterReassigned(CounterInPlace):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.t = self.t + 1
        return obs * self.t


class CounterReadFirst(CounterInPlace):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out = obs * self.t
        self.t = self.t + 1
        return out


class TwoViews(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.base = torch.zeros(1, 8)
        self.left, self.right = self.base[:, :4], self.base[:, 4:]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.left.add_(obs[:, :4])
        self.right.copy_(self.left * 0.5 + self.right)
        return self.base * 1.0


class DelayLine(Policy):
    """x of two steps ago, with nothing in between that reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = torch.zeros(1, 6), torch.zeros(1, 6)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        out = obs + self.two
        self.two, self.one = self.one, obs * 3
        return out


class SharedBuffer(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = BufferInPlace(), BufferInPlace()
        self.second.h = self.first.h

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.first(obs) + self.second(obs)


class CalledTwice(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.inner = BufferReassigned()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.inner(obs) + self.inner(obs * 2)


POLICIES: list[type[Policy]] = [
    Explicit, BufferReassigned, DeclaredBufferReassigned, BufferInPlace, DeclaredBufferInPlace, BufferSliced,
    DeclaredBufferSliced, RegisteredOverwritten, RegisteredPartly, RegisteredRolled, RegisteredNested, PlainReassigned,
    PlainInPlace, LastAction, LastActionInPlace, ReadBeforeUpdate, Deque, DequeOfOneTensor, Lstm, HiddenNoneAtFirst,
    GruCellLoop, RunningNormaliser, BatchNormTrain, CircularBuffer, CircularBufferScalarIndex, CounterInPlace,
    CounterReassigned, CounterReadFirst, TwoViews, DelayLine, SharedBuffer, CalledTwice,
]  # fmt: skip

# Known in one pass: state that the node overwrites in place, or that a module holds as a buffer, or that is declared.
ONE_PASS = {
    Explicit, BufferReassigned, DeclaredBufferReassigned, BufferInPlace, DeclaredBufferInPlace, BufferSliced,
    DeclaredBufferSliced, RegisteredPartly, RegisteredRolled, RegisteredNested, PlainInPlace, LastActionInPlace,
    RunningNormaliser, CircularBuffer, CircularBufferScalarIndex, CounterInPlace, TwoViews, SharedBuffer, CalledTwice,
    BatchNormTrain,
}  # fmt: skip

# Stateful, but nothing of it is undeclared.
DECLARED = {
    Explicit, DeclaredBufferReassigned, DeclaredBufferInPlace, DeclaredBufferSliced, RegisteredOverwritten,
    RegisteredPartly, RegisteredRolled, RegisteredNested,
}  # fmt: skip


def make(kind: type[Policy]) -> Policy:
    torch.manual_seed(3)
    return kind().eval()


def expected(kind: type[Policy], seen: list[torch.Tensor]) -> list[torch.Tensor]:
    policy = make(kind)
    if isinstance(policy, BatchNormTrain):
        policy.norm.train()
    with torch.no_grad():
        return [policy(obs).clone() for obs in seen]


def export(kind: type[Policy], folder: Path, passes: int, backend: str = "jit", **options: Any) -> Path:
    policy = make(kind)
    if isinstance(policy, BatchNormTrain):
        policy.norm.train()
    leapp.start("loop", save_path=str(folder), **options)
    with torch.no_grad():
        for obs in observations(passes):
            policy.annotated(obs, backend)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "loop"


def assert_equal_loop(bundle: bundle_runner.Bundle, kind: type[Policy]) -> None:
    seen = observations(STEPS)
    for i, (obs, action) in enumerate(zip(seen, expected(kind, seen), strict=True)):
        found = bundle.step(obs=obs)["policy/action"]
        problem = harness.difference([action], [found], rtol=1e-4, atol=1e-5)
        assert problem is None, f"step {i}: {problem}"
    STEPPED.append(bundle)


@pytest.mark.parametrize("kind", POLICIES, ids=lambda kind: kind.__name__)
def test_closed_loop(kind: type[Policy], tmp_path: Path) -> None:
    folder = export(kind, tmp_path, passes=6)
    assert_equal_loop(bundle_runner.Bundle(folder), kind)


@pytest.mark.parametrize("kind", POLICIES, ids=lambda kind: kind.__name__)
def test_closed_loop_in_onnx(kind: type[Policy], tmp_path: Path) -> None:
    folder = export(kind, tmp_path, passes=6, backend="onnx")
    assert_equal_loop(bundle_runner.Bundle(folder), kind)


@pytest.mark.parametrize("kind", sorted(ONE_PASS, key=lambda k: k.__name__), ids=lambda kind: kind.__name__)
def test_one_pass_is_enough(kind: type[Policy], tmp_path: Path) -> None:
    folder = export(kind, tmp_path, passes=1)
    assert_equal_loop(bundle_runner.Bundle(folder), kind)


@pytest.mark.parametrize("kind", sorted(set(POLICIES) - DECLARED, key=lambda k: k.__name__), ids=lambda k: k.__name__)
def test_leaks_as_errors_say_what_to_write(kind: type[Policy], tmp_path: Path) -> None:
    with pytest.raises(leapp.LeappValueError) as failure:
        export(kind, tmp_path, passes=6, leaks="error")
    text = str(failure.value)
    for word in ("'policy'", __file__, "annotate."):
        assert word in text
    assert not (tmp_path / "loop" / "loop.yaml").exists()


@pytest.mark.parametrize("kind", sorted(DECLARED, key=lambda k: k.__name__), ids=lambda k: k.__name__)
def test_declared_state_is_no_leak(kind: type[Policy], tmp_path: Path) -> None:
    folder = export(kind, tmp_path, passes=3, leaks="error")
    assert harness.warnings_in(harness.read_log(folder)) == []


def ports(folder: Path) -> tuple[list[str], list[str], dict[str, list[str]]]:
    found = harness.read_yaml(folder)
    model = found["models"]["policy"]
    return (
        [port["name"] for port in model["inputs"]],
        [port["name"] for port in model["outputs"]],
        found["pipeline"]["feedback_flow"],
    )


@pytest.mark.parametrize(
    ("kind", "inputs", "outputs", "feedback"),
    [
        (PlainReassigned, ["obs", "ema"], ["action", "ema"], {"policy/ema": ["policy/ema"]}),
        (PlainInPlace, ["obs", "ema"], ["action", "ema"], {"policy/ema": ["policy/ema"]}),
        (BufferSliced, ["obs", "history"], ["action", "history"], {"policy/history": ["policy/history"]}),
        (LastAction, ["obs", "last"], ["action"], {"policy/action": ["policy/last"]}),
        (RegisteredOverwritten, ["obs"], ["action"], {}),
        (RegisteredPartly, ["obs", "scratch"], ["action", "scratch"], {"policy/scratch": ["policy/scratch"]}),
        (
            RegisteredNested,
            ["obs", "kept_rest_0", "kept_slow"],
            ["action", "kept_rest_0", "kept_slow"],
            {"policy/kept_slow": ["policy/kept_slow"], "policy/kept_rest_0": ["policy/kept_rest_0"]},
        ),
        (Explicit, ["obs", "hidden"], ["action", "hidden"], {"policy/hidden": ["policy/hidden"]}),
        (
            Lstm,
            ["obs", "hidden_0", "hidden_1"],
            ["action", "hidden_0", "hidden_1"],
            {"policy/hidden_0": ["policy/hidden_0"], "policy/hidden_1": ["policy/hidden_1"]},
        ),
        (
            HiddenNoneAtFirst,
            ["obs", "hidden_state"],
            ["action", "hidden_state"],
            {"policy/hidden_state": ["policy/hidden_state"]},
        ),
    ],
)
def test_ports_are_named_after_what_holds_the_tensor(
    kind: type[Policy], inputs: list[str], outputs: list[str], feedback: dict[str, list[str]], tmp_path: Path
) -> None:
    assert ports(export(kind, tmp_path, passes=3)) == (inputs, outputs, feedback)


def test_every_promotion_is_warned_about_once_with_the_line(tmp_path: Path) -> None:
    folder = export(PlainReassigned, tmp_path, passes=4)
    (warning,) = harness.warnings_in(harness.read_log(folder))
    for word in ("'ema'", __file__, "state_tensors"):
        assert word in warning


def test_constants_on_request(tmp_path: Path) -> None:
    policy = make(PlainInPlace)
    leapp.start("loop", save_path=str(tmp_path), leaks="constant")
    policy.annotated(observations(1)[0], "jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert ports(tmp_path / "loop")[0] == ["obs"]
    assert any(
        "'ema'" in line and "constant" in line for line in harness.warnings_in(harness.read_log(tmp_path / "loop"))
    )


def test_initial_values_are_what_the_first_pass_saw(tmp_path: Path) -> None:
    class Primed(PlainInPlace):
        def __init__(self) -> None:
            super().__init__()
            self.ema = torch.arange(6.0).reshape(1, 6)

    folder = export(Primed, tmp_path, passes=2)
    values = bundle_runner.read_safetensors(folder / "loop_initial_values.safetensors")
    assert torch.equal(values["policy/ema"], torch.arange(6.0).reshape(1, 6))


def test_a_pass_with_a_fresh_state_conflicts_with_nothing(tmp_path: Path) -> None:
    policy = make(PlainReassigned)
    leapp.start("loop", save_path=str(tmp_path))
    for i, obs in enumerate(observations(6)):
        if i == 3:
            policy.ema = torch.zeros(1, 6)
        policy.annotated(obs, "jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert_equal_loop(bundle_runner.Bundle(tmp_path / "loop"), PlainReassigned)


class FirstFrameFill(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.history: collections.deque[torch.Tensor] = collections.deque(maxlen=5)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        while len(self.history) < 4:
            self.history.append(obs * 1.0)
        self.history.append(obs * 1.0)
        return torch.cat(list(self.history), 1)


class FloatCounter(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.t = 0.0

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.t += 1.0
        return obs * self.t


class ChangingList(Policy):
    def __init__(self) -> None:
        super().__init__()
        self.gains = [1.0, 2.0]

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.gains[0] += 1.0
        return obs[:, :2] * torch.tensor(self.gains)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (FirstFrameFill, ["call 1"]),
        (FloatCounter, ["aten::mul", "1", "2", "call 1"]),
        (ChangingList, ["[2, 2]", "[3, 2]"]),
        (CircularBufferNumber, ["is 0 in call 0 and 6 in call 1"]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_cannot_be_exported_is_reported(kind: type[Policy], words: list[str], tmp_path: Path) -> None:
    with pytest.raises(leapp.ValidationError) as failure:
        export(kind, tmp_path, passes=6)
    for word in [*words, __file__]:
        assert word in str(failure.value), f"{word} not in {failure.value}"


def test_a_number_read_from_state_is_warned_about_in_the_first_pass(tmp_path: Path) -> None:
    folder = export(CircularBufferNumber, tmp_path, passes=1)
    assert any(
        "a number is read" in line and __file__ in line for line in harness.warnings_in(harness.read_log(folder))
    )


def test_a_delay_from_an_earlier_node(tmp_path: Path) -> None:
    """B reads what A made a pass ago: 100, 102, 104 for 1, 2, 3."""
    leapp.start("delay", save_path=str(tmp_path))
    previous = torch.zeros(1)
    found = []
    for value in (1.0, 2.0, 3.0):
        x = annotate.input_tensors("a", {"x": torch.tensor([value])})
        doubled = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
        z = annotate.input_tensors("b", {"z": previous})
        found.append(annotate.output_tensors("b", {"out": z + 100}, export_with="jit").item())
        previous = doubled
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert found == [100.0, 102.0, 104.0]
    bundle = bundle_runner.Bundle(tmp_path / "delay")
    assert bundle.yaml["pipeline"]["feedback_flow"] == {"a/y": ["b/z"]}
    assert [bundle.step(x=torch.tensor([v]))["b/out"].item() for v in (1.0, 2.0, 3.0)] == found


def test_another_nodes_value_is_an_edge(tmp_path: Path) -> None:
    """Read without being announced: published, and kept to itself."""
    leapp.start("edges", save_path=str(tmp_path))
    for i in range(2):
        x = annotate.input_tensors("a", {"x": torch.full((3,), i + 1.0)})
        inner = x * 3
        y = annotate.output_tensors("a", {"y": inner + 1}, export_with="jit")
        z = annotate.input_tensors("b", {"z": torch.full((3,), i + 10.0)})
        annotate.output_tensors("b", {"out": z + y * inner}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    bundle = bundle_runner.Bundle(tmp_path / "edges")
    x, z = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([5.0, 6.0, 7.0])
    found = bundle.step(x=x, z=z)
    assert torch.equal(found["b/out"], z + (x * 3 + 1) * (x * 3))
    flow = bundle.yaml["pipeline"]["data_flow"]
    assert flow == {"a/y": ["b/y"], "a/inner": ["b/inner"]}


def test_many_passes_keep_memory_flat(tmp_path: Path) -> None:
    import resource

    policy = make(Deque)
    leapp.start("loop", save_path=str(tmp_path))
    obs = observations(1)[0]
    peak = []
    with torch.no_grad():
        for i in range(1000):
            policy.annotated(obs, "jit")
            if i in (200, 999):
                peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert peak[1] - peak[0] < 4000, f"{peak} kB"
    assert_equal_loop(bundle_runner.Bundle(tmp_path / "loop"), Deque)
