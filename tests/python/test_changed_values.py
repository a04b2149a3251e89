# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Python values that a node's only call changed: a warning with their names and the line. Otherwise none."""

from __future__ import annotations

import collections
import enum
import itertools
import random
import sys
import threading
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import harness
import leapp
import numpy as np
import pytest
import torch
from leapp import annotate, plain_values

Step = Callable[[torch.Tensor], torch.Tensor]
HERE = Path(__file__).name


def run(step: Step, folder: Path, passes: int = 1, **options: Any) -> list[str]:
    """The warnings about changed values."""
    leapp.start("loop", save_path=str(folder), **options)
    for i in range(passes):
        obs = annotate.input_tensors("policy", {"obs": torch.full((3,), float(i))})
        annotate.output_tensors("policy", {"action": step(obs)}, export_with="jit")
    return finish(folder)


def finish(folder: Path) -> list[str]:
    """The same at the end of a session `loop`."""
    leapp.stop()
    leapp.compile_graph(visualize=False, strict=False)
    return changed(folder / "loop")


def changed(folder: Path) -> list[str]:
    return [line for line in harness.warnings_in(harness.read_log(folder)) if "has seen one call" in line]


class Mode(enum.Enum):
    STAND = 1
    WALK = 2


@dataclass(slots=True)
class Slots:
    phase: float = 0.0


class Robot:
    """Each method is a step that changes something, at the line marked."""

    calls = 0

    def __init__(self) -> None:
        self.steps = 0
        self.first = True
        self.gain = None
        self.mode = Mode.STAND
        self.gains = [1.0, 2.0]
        self.window = collections.deque([1, 2, 3], maxlen=3)
        self.table = {"a": 1, "b": (2, 3)}
        self.array = np.zeros(3)
        self.scalar = np.float32(1)
        self.ticks = itertools.count()
        self.random = random.Random(3)
        self.numpy_random = np.random.default_rng(3)
        self.slots = Slots()
        self.space = types.SimpleNamespace(level=0)
        self.parts = {"leg": [types.SimpleNamespace(angle=0.0)]}
        self.module = torch.nn.Sequential(torch.nn.Sequential(Module()))

    def number(self, obs: torch.Tensor) -> torch.Tensor:
        self.steps += 1  # here
        return obs * self.steps

    def flag(self, obs: torch.Tensor) -> torch.Tensor:
        if self.first:
            self.first = False  # here
            return obs * 2
        return obs

    def none(self, obs: torch.Tensor) -> torch.Tensor:
        gain = self.gain or 1.0
        self.gain = 0.5  # here
        return obs * gain

    def enumeration(self, obs: torch.Tensor) -> torch.Tensor:
        self.mode = Mode.WALK  # here
        return obs * self.mode.value

    def numbers_in_a_list(self, obs: torch.Tensor) -> torch.Tensor:
        self.gains[0] += 1.0  # here
        return obs[:2] * torch.tensor(self.gains)

    def numbers_in_a_deque(self, obs: torch.Tensor) -> torch.Tensor:
        self.window.append(7)  # here
        return obs * torch.tensor(list(self.window))

    def numbers_in_a_dict(self, obs: torch.Tensor) -> torch.Tensor:
        self.table["a"] += 1  # here
        return obs * self.table["a"]

    def plain_array(self, obs: torch.Tensor) -> torch.Tensor:
        self.array += 1  # here
        return obs + torch.from_numpy(self.array.copy())

    def numpy_scalar(self, obs: torch.Tensor) -> torch.Tensor:
        self.scalar = self.scalar * 2  # here
        return obs * float(self.scalar)

    def counter(self, obs: torch.Tensor) -> torch.Tensor:
        return obs * next(self.ticks)  # here

    def generator(self, obs: torch.Tensor) -> torch.Tensor:
        return obs * self.random.random()  # here

    def numpy_generator(self, obs: torch.Tensor) -> torch.Tensor:
        return obs * self.numpy_random.random()  # here

    def class_attribute(self, obs: torch.Tensor) -> torch.Tensor:
        Robot.calls += 1  # here
        return obs * Robot.calls

    def slot(self, obs: torch.Tensor) -> torch.Tensor:
        self.slots.phase += 0.1  # here
        return obs * self.slots.phase

    def namespace(self, obs: torch.Tensor) -> torch.Tensor:
        self.space.level += 1  # here
        return obs * self.space.level

    def inside_containers(self, obs: torch.Tensor) -> torch.Tensor:
        self.parts["leg"][0].angle += 0.5  # here
        return obs * self.parts["leg"][0].angle

    def inner_module(self, obs: torch.Tensor) -> torch.Tensor:
        return self.module(obs)

    def new_attribute(self, obs: torch.Tensor) -> torch.Tensor:
        self.late = getattr(self, "late", 0) + 1  # here
        return obs * self.late


class Module(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.calls += 1  # here
        return obs * self.calls


ROWS = {
    "number": "Robot.steps (was 0, is 1)",
    "flag": "Robot.first (was True, is False)",
    "none": "Robot.gain (was None, is 0.5)",
    "enumeration": "Robot.mode",
    "numbers_in_a_list": "Robot.gains",
    "numbers_in_a_deque": "Robot.window",
    "numbers_in_a_dict": "Robot.table",
    "plain_array": "Robot.array",
    "numpy_scalar": "Robot.scalar",
    "counter": "Robot.ticks",
    "generator": "Robot.random",
    "numpy_generator": "Robot.numpy_random",
    "class_attribute": "Robot.calls",
    "slot": "Slots.phase (was 0.0, is 0.1)",
    "namespace": "SimpleNamespace.level (was 0, is 1)",
    "inside_containers": "SimpleNamespace.angle (was 0.0, is 0.5)",
    "inner_module": "Module.calls (was 0, is 1)",
    "new_attribute": "Robot.late",
}


@pytest.mark.parametrize("name", ROWS)
def test_what_changes_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    step = getattr(Robot(), name)
    (warning,) = run(step, tmp_path)
    assert f", and {ROWS[name]}" in warning
    assert "changed since it began" in warning
    assert "Run at least 2 passes" in warning
    function = Module.forward if name == "inner_module" else getattr(Robot, name)
    assert f"{HERE}:{harness.line_of(function, '# here')}: node" in warning


@pytest.mark.parametrize("name", ROWS)
def test_two_passes_say_more(name: str, tmp_path: Path) -> None:
    assert run(getattr(Robot(), name), tmp_path, passes=2) == []


count = 0


def test_a_global_variable(tmp_path: Path) -> None:
    def step(obs: torch.Tensor) -> torch.Tensor:
        global count
        count += 1
        return obs * count

    (warning,) = run(step, tmp_path)
    assert "and count (was 0, is 1) changed" in warning


def test_an_enclosed_variable(tmp_path: Path) -> None:
    gain = 1.0

    def step(obs: torch.Tensor) -> torch.Tensor:
        nonlocal gain
        gain *= 0.5
        return obs * gain

    (warning,) = run(step, tmp_path)
    assert "and gain (was 1.0, is 0.5) changed" in warning
    assert f"{HERE}:{harness.line_of(step, 'gain *= 0.5')}: node" in warning


def test_a_variable_of_the_function_that_opens_the_node(tmp_path: Path) -> None:
    leapp.start("loop", save_path=str(tmp_path))
    gain = 1.0
    obs = annotate.input_tensors("policy", {"obs": torch.ones(3)})
    gain = gain / 2
    annotate.output_tensors("policy", {"action": obs * gain}, export_with="jit")
    (warning,) = finish(tmp_path)
    assert "gain (was 1.0, is 0.5)" in warning


@pytest.mark.parametrize("draw", [random.random, np.random.rand])
def test_a_draw_from_the_shared_generator(draw: Callable[[], float], tmp_path: Path) -> None:
    (warning,) = run(lambda obs: obs * draw(), tmp_path)
    assert "numpy.random changed" in warning if draw is np.random.rand else "and random changed" in warning


class Annotated:
    def __init__(self) -> None:
        self.gain = 1.0
        self.offset = 0.0

    @annotate.method("policy", export_with="jit")
    def act(self, obs: torch.Tensor) -> torch.Tensor:
        action = obs * self.gain
        self.gain *= 0.5
        return action

    def step(self, obs: torch.Tensor) -> torch.Tensor:
        obs = annotate.input_tensors("policy", {"obs": obs})
        action = annotate.output_tensors("policy", {"action": obs + self.offset}, export_with="jit")
        self.offset += 0.25
        return action


@dataclass
class Held:
    policies: list[Annotated] = field(default_factory=lambda: [Annotated()])


def test_an_annotated_method_of_an_object_that_is_far_away(tmp_path: Path) -> None:
    held = Held()
    leapp.start("loop", save_path=str(tmp_path))
    held.policies[0].act(torch.ones(3))
    (warning,) = finish(tmp_path)
    assert "Annotated.gain (was 1.0, is 0.5)" in warning
    assert f"{HERE}:{harness.line_of(Annotated.act, 'self.gain *= 0.5')}: node" in warning


def test_a_change_after_the_node_was_closed(tmp_path: Path) -> None:
    policy = Annotated()
    leapp.start("loop", save_path=str(tmp_path))
    policy.step(torch.ones(3))
    (warning,) = finish(tmp_path)
    assert "Annotated.offset (was 0.0, is 0.25)" in warning


class Environment:
    def __init__(self) -> None:
        self.clock = 0.0

    def step(self) -> torch.Tensor:
        self.clock += 0.02
        return torch.ones(3)


class Quiet:
    """Numbers that stay, tensors that come and go."""

    def __init__(self) -> None:
        self.gain = 2.0
        self.seen: list[torch.Tensor] = []
        self.nan = float("nan")

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        count = len(self.seen)
        for i in range(3):
            obs = obs + i * count
        return obs * self.gain


def test_what_stays_or_changes_elsewhere_is_no_news(tmp_path: Path) -> None:
    environment, policy = Environment(), Quiet()
    leapp.start("loop", save_path=str(tmp_path))
    for _ in range(1):
        given = environment.step()
        obs = annotate.input_tensors("policy", {"obs": given})
        action = annotate.output_tensors("policy", {"action": policy(obs)}, export_with="jit")
        policy.seen.append(action)
        environment.step()
    assert finish(tmp_path) == []


def test_what_the_node_is_given_and_gives_back_is_no_news(tmp_path: Path) -> None:
    given, other, result = np.ones(3), 1, None
    for name in ("a", "b"):
        leapp.start(name, save_path=str(tmp_path))
        obs, other = annotate.input_tensors("policy", {"obs": given, "other": other + 1})
        obs += 1
        result = annotate.output_tensors("policy", {"action": obs * 2}, export_with="jit")
        leapp.stop()
        leapp.compile_graph(visualize=False)
        assert changed(tmp_path / name) == []
    assert result is not None
    assert given[0] == 3


def test_asked_for_constants_are_no_news(tmp_path: Path) -> None:
    assert run(Robot().number, tmp_path, leaks="constant") == []


def test_a_node_without_a_model_is_no_news(tmp_path: Path) -> None:
    robot = Robot()
    leapp.start("loop", save_path=str(tmp_path))
    obs = annotate.input_tensors("policy", {"obs": torch.ones(3)})
    annotate.output_tensors("policy", {"action": robot.number(obs)})
    assert finish(tmp_path) == []


def test_a_call_that_failed_does_not_count(tmp_path: Path) -> None:
    class Failing(Annotated):
        fails = True

        @annotate.method("policy", export_with="jit")
        def act(self, obs: torch.Tensor) -> torch.Tensor:
            if self.fails:
                self.gain = 3.0
                raise KeyError("no")
            return obs * self.gain

    policy = Failing()
    leapp.start("loop", save_path=str(tmp_path))
    with pytest.raises(KeyError):
        policy.act(torch.ones(3))
    policy.fails = False
    policy.act(torch.ones(3))
    assert finish(tmp_path) == []


def test_a_later_call_that_failed_hides_nothing(tmp_path: Path) -> None:
    class FailingLater(Annotated):
        @annotate.method("policy", export_with="jit")
        def act(self, obs: torch.Tensor) -> torch.Tensor:
            if self.gain < 1.0:
                raise KeyError("no")
            self.gain *= 0.5
            return obs * self.gain

    policy = FailingLater()
    leapp.start("loop", save_path=str(tmp_path))
    policy.act(torch.ones(3))
    with pytest.raises(KeyError):
        policy.act(torch.ones(3))
    (warning,) = finish(tmp_path)
    assert "FailingLater.gain (was 1.0, is 0.5)" in warning


class Touching:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")


def test_nothing_of_the_program_runs(tmp_path: Path) -> None:
    class Touchy:
        def __init__(self) -> None:
            object.__setattr__(self, "number", 1)

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        __hash__ = object.__hash__
        inner = Touching()

    touchy = Touchy()
    leapp.start("loop", save_path=str(tmp_path))
    obs = annotate.input_tensors("policy", {"obs": torch.ones(3)})
    object.__setattr__(touchy, "number", 2)
    annotate.output_tensors("policy", {"action": obs * 2}, export_with="jit")
    (warning,) = finish(tmp_path)
    assert "Touchy.number (was 1, is 2)" in warning


def test_variables_are_not_kept(tmp_path: Path) -> None:
    kept = torch.ones(1000)
    watchers = [weakref.ref(kept)]
    leapp.start("loop", save_path=str(tmp_path))
    obs = annotate.input_tensors("policy", {"obs": torch.ones(3)})
    kept = torch.ones(1000)
    watchers.append(weakref.ref(kept))
    annotate.output_tensors("policy", {"action": obs * 2}, export_with="jit")
    kept = torch.ones(1)
    assert [watcher() for watcher in watchers] == [None, None]
    leapp.stop()
    assert kept.numel() == 1


def test_locals_that_the_program_keeps_stay_whole(tmp_path: Path) -> None:
    gain = 2.0
    mine = locals()
    leapp.start("loop", save_path=str(tmp_path))
    obs = annotate.input_tensors("policy", {"obs": torch.ones(3)})
    annotate.output_tensors("policy", {"action": obs * gain}, export_with="jit")
    leapp.stop()
    assert mine["gain"] == gain
    assert mine["tmp_path"] == tmp_path


def test_other_threads_may_add_attributes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    shared = Robot()
    running = threading.Event()
    done = threading.Event()

    def add() -> None:
        for i in itertools.count():
            setattr(shared, f"a{i % 5000}", torch.zeros(1))
            if i % 5000 == 4999:
                vars(shared).clear()
                running.set()
            if done.is_set():
                return

    thread = threading.Thread(target=add)
    leapp.start("loop", save_path=str(tmp_path))
    thread.start()
    running.wait()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for i in range(50):
            obs = annotate.input_tensors(f"n{i}", {"obs": torch.ones(3)})
            annotate.output_tensors(f"n{i}", {"action": obs * 2}, export_with="jit")
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()
    leapp.stop()
    assert said == []


def test_a_program_that_cannot_be_looked_at_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    monkeypatch.setattr(plain_values, "variables", lambda frame: 1 / 0)
    assert run(Robot().number, tmp_path) == []
    assert {str(each.exc_value) for each in said} == {"division by zero"}
    assert said[0].err_msg == "looking for Python values that change"


def test_a_crowd_elsewhere_does_not_hide_the_nodes_own_object(tmp_path: Path) -> None:
    crowd = [[types.SimpleNamespace(number=i) for i in range(1000)] for _ in range(5)]
    held = Held()
    leapp.start("loop", save_path=str(tmp_path))
    held.policies[0].step(torch.ones(3))
    (warning,) = finish(tmp_path)
    assert "Annotated.offset (was 0.0, is 0.25)" in warning
    assert len(crowd) == 5
