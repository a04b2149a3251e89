# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Every way of keeping state: a closed loop in which the bundle equals the program at every step, or a report why not.

Each policy below is an ordinary class with state of its own and a `step(obs)`; it may announce state, or not.
"""

from __future__ import annotations

from pathlib import Path

import bundle_runner
import closed_loop
import harness
import leapp
import pytest
import state_policies
import torch
from leapp import annotate
from state_policies import (
    DECLARED,
    ONE_PASS,
    POLICIES,
    STEPPED,
    BufferSliced,
    ChangingList,
    CircularBufferNumber,
    Deque,
    Explicit,
    FirstFrameFill,
    FloatCounter,
    HiddenNoneAtFirst,
    LastAction,
    Lstm,
    PlainInPlace,
    PlainReassigned,
    Policy,
    RegisteredNested,
    RegisteredOverwritten,
    RegisteredPartly,
    assert_equal_loop,
    export,
    make,
    observations,
)

_stepped_elsewhere = bundle_runner.fixture_that_steps_elsewhere(STEPPED)


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
    for word in ("'policy'", state_policies.__file__, "annotate."):
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
    for word in ("'ema'", state_policies.__file__, "state_tensors"):
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
    for word in [*words, state_policies.__file__]:
        assert word in str(failure.value), f"{word} not in {failure.value}"


def test_a_number_read_from_state_is_warned_about_in_the_first_pass(tmp_path: Path) -> None:
    folder = export(CircularBufferNumber, tmp_path, passes=1)
    assert any(
        "a number is read" in line and state_policies.__file__ in line
        for line in harness.warnings_in(harness.read_log(folder))
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


class Caches:
    """Keys and values, alike but for the weights, pushed by the same line."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.layers = [torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)]
        self.held = [torch.zeros(4, 3), torch.zeros(4, 3)]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        for i, layer in enumerate(self.layers):
            self.held[i] = torch.cat([self.held[i][1:], layer(x)])
        keys, values = self.held
        return torch.softmax(x @ keys.T, -1) @ values


@torch.no_grad()
def test_two_states_that_one_line_makes(tmp_path: Path) -> None:
    closed_loop.check(Caches, tmp_path, passes=[3], shape=(1, 3))
