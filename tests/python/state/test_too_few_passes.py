# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""State that too few passes do not show: the bundle is right, or there is a warning with the line. Never neither."""

from __future__ import annotations

import collections
from pathlib import Path

import bundle_runner
import harness
import leapp
import pytest
import state_policies
import torch
from leapp import annotate
from state_policies import (
    ChangingList,
    DelayLine,
    Deque,
    FirstFrameFill,
    FloatCounter,
    HiddenNoneAtFirst,
    LastAction,
    Policy,
)


class LongDeque(Deque):
    def __init__(self) -> None:
        super().__init__()
        self.history = collections.deque([torch.zeros(1, 6) for _ in range(8)], maxlen=8)


class InputsInADeque(LongDeque):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.history.append(obs)
        return torch.cat(list(self.history), 1)


class ActionsInADeque(Policy):
    """What is kept is an output."""

    def __init__(self) -> None:
        super().__init__()
        self.history = collections.deque([torch.zeros(1, 6)] * 4, maxlen=4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        action = obs + torch.stack([*self.history, obs]).sum(0)
        self.history.append(action)
        return action


# From the second pass on these are reported as a difference between calls.
PYTHON_VALUES = [FirstFrameFill, FloatCounter, ChangingList]
KINDS = [*state_policies.POLICIES, LongDeque, InputsInADeque, ActionsInADeque, *PYTHON_VALUES]


def differs(folder: Path, kind: type[Policy]) -> bool:
    try:
        state_policies.assert_equal_loop(bundle_runner.Bundle(folder), kind)
    except AssertionError:
        return True
    return False


def too_few(folder: Path) -> list[str]:
    signs = ("leaves a tensor in", "was called once")
    return [line for line in harness.warnings_in(harness.read_log(folder)) if any(sign in line for sign in signs)]


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_right_or_warned_about(kind: type[Policy], passes: int, tmp_path: Path) -> None:
    if kind in PYTHON_VALUES and passes > 1:
        with pytest.raises(leapp.ValidationError, match="call 1 differs from call 0"):
            state_policies.export(kind, tmp_path, passes=passes)
        return
    folder = state_policies.export(kind, tmp_path, passes=passes)
    found = too_few(folder)
    if differs(folder, kind):
        (warning,) = found
        assert f"Run at least {passes + 1} passes" in warning
        assert Path(__file__).name in warning or Path(state_policies.__file__).name in warning
    elif passes > 1:
        assert found == []


@pytest.mark.parametrize("kind", state_policies.POLICIES, ids=lambda kind: kind.__name__)
def test_enough_passes_need_no_warning(kind: type[Policy], tmp_path: Path) -> None:
    assert too_few(state_policies.export(kind, tmp_path, passes=6)) == []


def test_the_warning_names_the_holder_and_both_lines(tmp_path: Path) -> None:
    (delay,) = too_few(state_policies.export(DelayLine, tmp_path / "a", passes=2))
    read = harness.line_of(DelayLine.forward, "self.two\n")
    made = harness.line_of(DelayLine.forward, "obs * 3")
    for word in ("'two'", f"state_policies.py:{made}: node", f"read at {state_policies.__file__}:{read}"):
        assert word in delay
    (hidden,) = too_few(state_policies.export(HiddenNoneAtFirst, tmp_path / "b", passes=1))
    assert "'hidden_state'" in hidden
    (last,) = too_few(state_policies.export(LastAction, tmp_path / "c", passes=1))
    assert "'last'" in last


def test_asked_for_constants_are_no_news(tmp_path: Path) -> None:
    assert too_few(state_policies.export(DelayLine, tmp_path, passes=1, leaks="constant")) == []


class Plain:
    """Nothing of this is state, and all of it is still there when the session ends."""

    def __init__(self) -> None:
        self.pose = torch.arange(3.0)
        self.table: torch.Tensor | None = None
        self.seen: list[torch.Tensor] = []

    def step(self, obs: torch.Tensor) -> torch.Tensor:
        obs = annotate.input_tensors("policy", {"obs": obs})
        if self.table is None:
            self.table = torch.arange(3.0) * 2
        self.features = obs * self.table
        action = torch.cat([self.features + self.pose, obs])[:3] * torch.ones(3)
        return annotate.output_tensors("policy", {"action": action}, export_with="jit")


def test_what_is_kept_and_not_read_again_is_no_state(tmp_path: Path) -> None:
    policy, actions = Plain(), []
    leapp.start("loop", save_path=str(tmp_path))
    for i in range(2):
        actions.append(policy.step(torch.full((3,), float(i))))
        intermediate = actions[-1] * 2
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert len(actions) == 2
    assert intermediate.shape == (3,)
    assert too_few(tmp_path / "loop") == []


def test_one_pass_of_a_script_needs_no_warning(tmp_path: Path) -> None:
    weight = torch.ones(3)
    leapp.start("loop", save_path=str(tmp_path))
    obs = annotate.input_tensors("policy", {"obs": torch.ones(3)})
    hidden = obs * weight
    action = annotate.output_tensors("policy", {"action": hidden + torch.zeros(3)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert torch.equal(action, hidden)
    assert too_few(tmp_path / "loop") == []


def test_state_handed_from_call_to_call_in_variables(tmp_path: Path) -> None:
    def step(obs: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        obs = annotate.input_tensors("policy", {"obs": obs})
        hidden = obs + hidden
        return annotate.output_tensors("policy", {"action": hidden * 2}, export_with="jit"), hidden

    leapp.start("loop", save_path=str(tmp_path))
    hidden = torch.zeros(3)
    _, hidden = step(torch.ones(3), hidden)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    (warning,) = too_few(tmp_path / "loop")
    assert "'hidden'" in warning
