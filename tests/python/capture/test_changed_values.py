# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes that a node's only call changed: a warning with their names and the line. Otherwise a line in the log."""

from __future__ import annotations

import collections
import enum
import inspect
import itertools
import sys
import threading
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
from leapp import annotate

HERE = Path(__file__).name


def finish(folder: Path) -> list[str]:
    """The warnings about changed values, at the end of a session `loop`."""
    leapp.stop()
    leapp.compile_graph(visualize=False, strict=False)
    return changed(folder / "loop")


def changed(folder: Path) -> list[str]:
    return [line for line in harness.warnings_in(harness.read_log(folder)) if "was called once" in line]


def run(step: Callable[[torch.Tensor], torch.Tensor], folder: Path, passes: int = 1, **options: Any) -> list[str]:
    leapp.start("loop", save_path=str(folder), **options)
    for i in range(passes):
        step(torch.full((3,), float(i)))
    return finish(folder)


class Mode(enum.Enum):
    STAND = 1
    WALK = 2


class Robot:
    """Each method is a step that changes something, at the line marked; `act` makes a node of it."""

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
        self.module = torch.nn.Sequential(torch.nn.Sequential(Module()))

    def act(self, name: str, obs: torch.Tensor) -> None:
        obs = annotate.input_tensors("policy", {"obs": obs})
        annotate.output_tensors("policy", {"action": getattr(self, name)(obs)}, export_with="jit")

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
        return obs + torch.from_numpy(self.array.copy()).to(obs.device)

    def numpy_scalar(self, obs: torch.Tensor) -> torch.Tensor:
        self.scalar = self.scalar * 2  # here
        return obs * float(self.scalar)

    def inner_module(self, obs: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.module(obs)
        return result

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
    "inner_module": "Module.calls (was 0, is 1)",
    "new_attribute": "Robot.late",
}


@pytest.mark.parametrize("name", ROWS)
def test_what_changes_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    robot = Robot()
    (warning,) = run(lambda obs: robot.act(name, obs), tmp_path)
    assert f", and {ROWS[name]}" in warning
    assert "changed since the call began" in warning
    assert "Run at least 2 passes" in warning
    function = Module.forward if name == "inner_module" else getattr(Robot, name)
    assert f"{HERE}:{harness.line_of(function, '# here')}: node" in warning


@pytest.mark.parametrize("name", ROWS)
def test_two_passes_say_more(name: str, tmp_path: Path) -> None:
    robot = Robot()
    assert run(lambda obs: robot.act(name, obs), tmp_path, passes=2) == []
    assert "captured once" not in harness.read_log(tmp_path / "loop")


def node(obs: torch.Tensor, factor: float) -> None:
    obs = annotate.input_tensors("policy", {"obs": obs})
    annotate.output_tensors("policy", {"action": obs * factor}, export_with="jit")


def test_once_per_session_the_log_says_what_one_call_cannot_show(tmp_path: Path) -> None:
    leapp.start("loop", save_path=str(tmp_path))
    node(torch.ones(3), 2.0)
    obs = annotate.input_tensors("other", {"obs": torch.ones(3)})
    annotate.output_tensors("other", {"action": obs + 1}, export_with="jit")
    assert finish(tmp_path) == []
    (line,) = [line for line in harness.read_log(tmp_path / "loop").splitlines() if "captured once" in line]
    assert "'policy', 'other': state and branches that only a second call shows cannot be seen" in line


def test_variables_and_other_objects_are_not_looked_at(tmp_path: Path) -> None:
    options = {"verbose": True, "kind": 1}
    environment = Environment()
    leapp.start("loop", save_path=str(tmp_path))
    obs = annotate.input_tensors("policy", {"obs": environment.step()})
    options.pop("verbose")
    gain = len(options)
    environment.step()
    annotate.output_tensors("policy", {"action": obs * gain}, export_with="jit")
    assert finish(tmp_path) == []


class Environment:
    def __init__(self) -> None:
        self.clock = 0.0

    def step(self) -> torch.Tensor:
        self.clock += 0.02
        return torch.ones(3)


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
    robot = Robot()
    assert run(lambda obs: robot.act("number", obs), tmp_path, leaks="constant") == []


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


class Touchy(torch.nn.Module):
    """Would notice if its code ran."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 1
        self.inner = Comparing()

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        object.__setattr__(self, "number", 2)
        return obs * 2

    def __getattribute__(self, name: str) -> Any:
        if name in ("number", "inner"):
            raise AssertionError(f"asked for {name}")
        return super().__getattribute__(name)


class Comparing:
    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    __hash__ = object.__hash__


def test_nothing_of_the_program_runs(tmp_path: Path) -> None:
    touchy = Touchy()
    leapp.start("loop", save_path=str(tmp_path))
    obs = annotate.input_tensors("policy", {"obs": torch.ones(3)})
    annotate.output_tensors("policy", {"action": touchy(obs)}, export_with="jit")
    (warning,) = finish(tmp_path)
    assert "Touchy.number (was 1, is 2)" in warning


def test_attributes_are_not_kept(tmp_path: Path) -> None:
    class Keeper:
        def act(self) -> None:
            self.kept = [torch.ones(1000)]
            obs = annotate.input_tensors("policy", {"obs": torch.ones(3)})
            annotate.output_tensors("policy", {"action": obs * 2}, export_with="jit")

    keeper = Keeper()
    leapp.start("loop", save_path=str(tmp_path))
    keeper.act()
    watchers = [weakref.ref(keeper.kept[0]), weakref.ref(keeper)]
    del keeper
    assert [watcher() for watcher in watchers] == [None, None]
    leapp.stop()


def test_the_call_of_modules_is_torchs_own_again(tmp_path: Path) -> None:
    before = torch.nn.Module.__call__
    leapp.start("loop", save_path=str(tmp_path))
    assert torch.nn.Module.__call__ is not before
    leapp.start("loop", save_path=str(tmp_path))
    leapp.stop()
    assert torch.nn.Module.__call__ is before


def test_who_replaced_the_call_of_modules_meanwhile_keeps_it(tmp_path: Path) -> None:
    before = torch.nn.Module.__call__
    leapp.start("loop", save_path=str(tmp_path))
    ours = torch.nn.Module.__call__

    def theirs(module: torch.nn.Module, *args: Any) -> Any:
        return ours(module, *args)

    try:
        torch.nn.Module.__call__ = theirs
        leapp.stop()
        assert torch.nn.Module.__call__ is theirs
        assert torch.equal(torch.nn.Identity()(torch.ones(2)), torch.ones(2))
    finally:
        torch.nn.Module.__call__ = before


class Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, *, by: float = 2.0) -> torch.Tensor:
        if by == 0:
            raise ZeroDivisionError("by")
        return x * by


def test_modules_are_called_as_ever_meanwhile(tmp_path: Path) -> None:
    """What stands in the place of Module.__call__ is written in C."""
    scaled, x = Scaled(), torch.ones(2)
    signature = inspect.signature(torch.nn.Module.__call__)
    leapp.start("loop", save_path=str(tmp_path))
    annotate.input_tensors("policy", {"obs": x})
    try:
        assert torch.equal(scaled(x, by=3.0), x * 3)
        assert torch.equal(scaled(x=x), x * 2)
        assert torch.equal(torch.nn.Module.__call__(scaled, x, by=4.0), x * 4)
        assert torch.equal(scaled.__call__(x), x * 2)
        assert next(map(scaled, [x])).tolist() == [2, 2]
        assert inspect.signature(torch.nn.Module.__call__) == signature
        with pytest.raises(ZeroDivisionError, match="by"):
            scaled(x, by=0)
        with pytest.raises(TypeError):
            torch.nn.Module.__call__()
    finally:
        leapp.stop()


class Counter:
    __slots__ = ("__weakref__", "steps", "unset")

    def __init__(self) -> None:
        self.steps = 0

    def act(self, obs: torch.Tensor) -> None:
        obs = annotate.input_tensors("policy", {"obs": obs})
        self.steps += 1  # here
        annotate.output_tensors("policy", {"action": obs * self.steps}, export_with="jit")


class CounterWithMore(Counter):
    """Has a dict, and its attributes in slots from its base."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "robot"


@pytest.mark.parametrize("kind", [Counter, CounterWithMore])
def test_attributes_in_slots(kind: type[Counter], tmp_path: Path) -> None:
    (warning,) = run(kind().act, tmp_path)
    assert f", and {kind.__name__}.steps (was 0, is 1)" in warning
    assert f"{HERE}:{harness.line_of(Counter.act, '# here')}: node" in warning


def test_an_object_that_nothing_can_refer_to_weakly(tmp_path: Path) -> None:
    class Tight:
        __slots__ = ("steps",)

        def __init__(self) -> None:
            self.steps = 0

        def act(self, obs: torch.Tensor) -> None:
            obs = annotate.input_tensors("policy", {"obs": obs})
            self.steps += 1
            annotate.output_tensors("policy", {"action": obs * self.steps}, export_with="jit")

    assert run(Tight().act, tmp_path) == []


def test_attributes_that_come_go_and_change_places(tmp_path: Path) -> None:
    class Moving:
        def __init__(self) -> None:
            self.first, self.second, self.third = 1, 2, 3

        def act(self, obs: torch.Tensor) -> None:
            obs = annotate.input_tensors("policy", {"obs": obs})
            del self.first, self.second
            self.added = "text"
            self.second = 2
            self.third = 4
            annotate.output_tensors("policy", {"action": obs * self.third}, export_with="jit")

    (warning,) = run(Moving().act, tmp_path)
    assert "Moving.third (was 3, is 4), Moving.added changed since" in warning


def test_other_threads_may_add_attributes_meanwhile(tmp_path: Path) -> None:
    class Shared:
        def act(self, node: str) -> None:
            obs = annotate.input_tensors(node, {"obs": torch.ones(3)})
            annotate.output_tensors(node, {"action": obs * 2}, export_with="jit")

    shared = Shared()
    running, done = threading.Event(), threading.Event()

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
            shared.act(f"n{i}")
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()
    leapp.stop()
